package assembly

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	informermap "github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap"
	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/handledeltas"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
	ourmanager "github.com/informer-walkthrough/informer-walkthrough/full/runtime/manager"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

// Layers says who takes each seat between the API server and Reconcile. The zero value of a field is
// ours; queues are then the article's: DeltaFIFO, and the workqueue without priorities.
type Layers struct {
	// NewManager: manager.New, ours or controller-runtime's.
	NewManager func(*rest.Config, manager.Options) (manager.Manager, error)
	// NewCache: informermap.New, or controller-runtime's cache.New.
	NewCache cache.NewCacheFunc
	// Informer: OurInformer or ClientGoInformer. Client-go's is built of its own five parts and looks at
	// none of the next five fields.
	Informer Informer

	// Queue between reflector and store: one of the variables of this package.
	Queue Queue
	// NewReflector: parts.Reflector, or informer.NewClientGoReflector.
	NewReflector func(toolscache.ListerWatcher, runtime.Object, toolscache.ReflectorStore, informer.ReflectorOptions) informer.Reflector
	// NewIndexer: parts.Indexer, or parts.ClientGoIndexer.
	NewIndexer func(toolscache.KeyFunc, toolscache.Indexers) toolscache.Indexer
	// HandleDeltas: handledeltas.HandleDeltas, or informer.NaiveHandleDeltas.
	HandleDeltas informer.HandleDeltasFunc
	// NewProcessor: parts.Processor, or informer.NewNaiveProcessor.
	NewProcessor func(resync time.Duration) informer.Processor

	// NewKind makes the source of a kind: TypedKind of chapter 2 or of controller-runtime.
	NewKind builder.NewKind[reconcile.Request]
	// Workqueue between the sources and the workers: one of the variables of this package.
	Workqueue Workqueue
	// NewController: NewTyped of chapter 6 or of controller-runtime.
	NewController builder.NewController[reconcile.Request]
	// Build: nil for our builder, which asks NewKind and NewController, or builder.ControllerRuntime for
	// controller-runtime's, which does not.
	Build builder.BuildFunc[reconcile.Request]
}

// WithDefaults fills in ours wherever nothing was chosen, so that a constructor can be wrapped.
func (l Layers) WithDefaults() Layers {
	if l.NewManager == nil {
		l.NewManager = ourmanager.New
	}
	if l.NewCache == nil {
		l.NewCache = informermap.New
	}
	if l.Informer.New == nil {
		l.Informer = OurInformer
	}
	if l.Queue.New == nil {
		l.Queue = OurDeltaFIFO
	}
	if l.NewReflector == nil {
		l.NewReflector = parts.Reflector
	}
	if l.NewIndexer == nil {
		l.NewIndexer = parts.Indexer
	}
	if l.HandleDeltas == nil {
		l.HandleDeltas = handledeltas.HandleDeltas
	}
	if l.NewProcessor == nil {
		l.NewProcessor = parts.Processor
	}
	if l.NewKind == nil {
		l.NewKind = source.TypedKind
	}
	if l.Workqueue.New == nil {
		l.Workqueue = OurWorkqueue
	}
	if l.NewController == nil {
		l.NewController = controller.NewTyped
	}
	return l
}
