package parts

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/04-reflector-deltafifo/reflector"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/handledeltas"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
)

// Reflector is chapter 4's.
func Reflector(lw cache.ListerWatcher, expected runtime.Object, store cache.ReflectorStore, o informer.ReflectorOptions) informer.Reflector {
	return reflector.New(lw, expected, store, reflector.Options{
		TypeDescription:   o.TypeDescription,
		ResyncPeriod:      o.ResyncPeriod,
		ShouldResync:      o.ShouldResync,
		Transform:         o.Transform,
		WatchErrorHandler: o.WatchErrorHandler,
	})
}

// Indexer is chapter 5's.
func Indexer(key cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
	return indexer.New(key, indexers)
}

// ClientGoIndexer is client-go's.
func ClientGoIndexer(key cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
	return cache.NewIndexer(key, indexers)
}

// Processor is chapter 5's.
func Processor(resync time.Duration) informer.Processor {
	return processor.New(resync)
}

// NewInformerFunc is the seam of cache.Options.NewInformer.
type NewInformerFunc = func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer

// Informer makes chapter 3's informer of the parts in o; a part that is nil is ours, on the article's
// DeltaFIFO.
func Informer(o informer.Options) NewInformerFunc {
	if o.NewQueue == nil {
		o.NewQueue = DeltaFIFO
	}
	if o.NewReflector == nil {
		o.NewReflector = Reflector
	}
	if o.NewIndexer == nil {
		o.NewIndexer = Indexer
	}
	if o.HandleDeltas == nil {
		o.HandleDeltas = handledeltas.HandleDeltas
	}
	newProcessor := o.NewProcessor
	if newProcessor == nil {
		newProcessor = Processor
	}
	return func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
		o := o
		o.ResyncPeriod, o.Indexers = resync, indexers
		o.NewProcessor = func(resync time.Duration) informer.Processor {
			// Off unless the environment switches it on, as in client-go.
			return processor.NewMutationDetector(newProcessor(resync), fmt.Sprintf("%T", example))
		}
		return informer.NewSharedIndexInformerWithOptions(lw, example, o)
	}
}
