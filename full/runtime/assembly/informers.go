package assembly

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/cluster"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

// Informer is a choice for the shared informer.
type Informer struct {
	// New takes the five parts that were chosen and returns what makes informers of them.
	New func(informer.Options) parts.NewInformerFunc
	// OwnQueue: it brings its own queue, which keeps the order of the watch.
	OwnQueue bool
}

// The informers. Client-go's is one piece: its queue is RealFIFO, in atomic mode.
var (
	OurInformer      = Informer{New: parts.Informer}
	ClientGoInformer = Informer{OwnQueue: true, New: func(informer.Options) parts.NewInformerFunc {
		return func(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			return toolscache.NewSharedIndexInformer(lw, example, resync, indexers)
		}
	}}
)

// NewInformer returns what makes informers of the chosen layers; it fits cache.Options.NewInformer.
func NewInformer(l Layers) parts.NewInformerFunc {
	l = l.WithDefaults()
	return l.Informer.New(informer.Options{
		NewQueue:     l.Queue.New,
		NewReflector: l.NewReflector,
		NewIndexer:   l.NewIndexer,
		HandleDeltas: l.HandleDeltas,
		NewProcessor: l.NewProcessor,
	})
}

// NewCache returns what makes caches of the chosen layers; it fits manager.Options.NewCache. Where the
// queue keeps the order of the watch the cache is marked, so that a cluster allows read-your-writes; a
// NewInformer of the options wins, and nothing is known of its queue.
func NewCache(l Layers) cache.NewCacheFunc {
	l = l.WithDefaults()
	return func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		newCache := l.NewCache
		if o.NewInformer == nil {
			o.NewInformer = NewInformer(l)
			if l.Queue.InOrder || l.Informer.OwnQueue {
				newCache = cluster.InOrder(newCache)
			}
		}
		return newCache(config, o)
	}
}
