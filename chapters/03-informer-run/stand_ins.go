package informer

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// The parts that an informer has when nothing better was chosen, by name, for
// whoever mixes them with others.

// NewClientGoReflector makes the default reflector: client-go's, behind this
// package's seam.
func NewClientGoReflector(lw cache.ListerWatcher, expectedType runtime.Object, store cache.ReflectorStore, o ReflectorOptions) Reflector {
	return newClientGoReflector(lw, expectedType, store, o)
}

// NaiveHandleDeltas is the default HandleDeltas: one delta after the other.
func NaiveHandleDeltas(h cache.ResourceEventHandler, s cache.Store, deltas []cache.Delta, isInInitialList bool) error {
	return naiveHandleDeltas(h, s, deltas, isInInitialList)
}

// NewNaiveProcessor makes the default processor: it calls the handlers in place,
// so that a slow one stops the queue.
func NewNaiveProcessor(resync time.Duration) Processor {
	return newNaiveProcessor(resync)
}
