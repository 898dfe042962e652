package parts

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/04-reflector-deltafifo/deltafifo"
)

// DeltaFIFO is the article's queue, in our own build.
func DeltaFIFO(known cache.KeyListerGetter) cache.Queue {
	return deltafifo.New(deltafifo.Options{KnownObjects: known, EmitDeltaTypeReplaced: true})
}

// InOrder is our queue that keeps the order of the watch.
func InOrder(known cache.KeyListerGetter) cache.Queue {
	return deltafifo.NewInOrder(deltafifo.InOrderOptions{KnownObjects: known})
}

// AtomicInOrder is InOrder in the mode in which upstream runs: a relist is one delta.
func AtomicInOrder(cache.KeyListerGetter) cache.Queue {
	return deltafifo.NewInOrder(deltafifo.InOrderOptions{Atomic: true, EmitDeltaTypeBookmark: true})
}

// ClientGoDeltaFIFO is client-go's queue before v0.36.
func ClientGoDeltaFIFO(known cache.KeyListerGetter) cache.Queue {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true})
}

// ClientGoRealFIFO is client-go's queue that keeps the order of the watch.
func ClientGoRealFIFO(known cache.KeyListerGetter) cache.Queue {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
}

// ClientGoAtomicRealFIFO is the queue of client-go's informers today.
func ClientGoAtomicRealFIFO(cache.KeyListerGetter) cache.Queue {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		AtomicEvents:          true,
		UnlockWhileProcessing: true,
		EmitDeltaTypeBookmark: true,
	})
}
