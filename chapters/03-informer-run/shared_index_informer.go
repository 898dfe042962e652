package informer

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

var _ cache.SharedIndexInformer = &sharedIndexInformer{}

// sharedIndexInformer keeps a local, indexed copy of what a ListerWatcher shows
// and tells any number of handlers what changed in it. It stands for client-go's
// sharedIndexInformer.
//
// Invariants:
//   - An event is in the indexer before a handler hears of it.
//   - A handler gets each object that was there when it joined as an OnAdd with
//     isInInitialList, then every later event, none twice and none left out.
//   - A registration is synced only after the informer is.
//   - The processor outlives the controller.
//
// Locks, in this order: blockDeltas, then mu. mu is never held while foreign
// code runs, so that a handler may call any method that takes only mu.
type sharedIndexInformer struct {
	// Set once by the constructor.

	listerWatcher cache.ListerWatcher
	objectType    runtime.Object
	options       Options // with every part filled in
	name          string
	indexer       cache.Indexer
	processor     Processor
	synced        chan struct{} // closed under blockDeltas

	// blockDeltas is held while deltas are applied and reported, and while a
	// handler joins: nothing can happen between its initial list and its first event.
	blockDeltas sync.Mutex

	// mu guards what follows.
	mu                sync.Mutex
	started, stopped  bool
	reflector         Reflector // nil before the start
	transform         cache.TransformFunc
	watchErrorHandler cache.WatchErrorHandlerWithContext
}

// NewSharedIndexInformer makes an informer of client-go's parts, where client-go
// exports them. Its signature is client-go's.
func NewSharedIndexInformer(lw cache.ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, exampleObject, Options{
		ResyncPeriod: defaultEventHandlerResyncPeriod,
		Indexers:     indexers,
	})
}

// NewSharedIndexInformerWithOptions makes an informer of the given parts.
// Objects of another type than exampleObject's are not let in; a nil
// exampleObject lets all in.
func NewSharedIndexInformerWithOptions(lw cache.ListerWatcher, exampleObject runtime.Object, options Options) cache.SharedIndexInformer {
	options = options.withDefaults()
	indexers := cache.Indexers{} // our own: AddIndexers writes to it, and the caller may use theirs twice
	maps.Copy(indexers, options.Indexers)
	return &sharedIndexInformer{
		listerWatcher: lw,
		objectType:    exampleObject,
		options:       options,
		name:          describe(exampleObject, options.ObjectDescription),
		indexer:       options.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers),
		processor:     options.NewProcessor(options.ResyncPeriod),
		synced:        make(chan struct{}),
	}
}

// Run is RunWithContext for callers that have a channel.
func (s *sharedIndexInformer) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext runs the informer until ctx is done and returns when no handler
// runs any more. An informer runs once: a second call warns and returns.
//
// A panic in store or HandleDeltas reaches the caller at once, whatever the
// other goroutines are doing: no deferred call here waits for them.
func (s *sharedIndexInformer) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	logger := klog.FromContext(ctx)
	if s.listerWatcher == nil {
		panic(s.name + ": the ListerWatcher is nil; give the constructor one that lists and watches this type")
	}

	controller := s.start()
	if controller == nil {
		logger.Info("Warning: this informer has been started already and runs only once; ignoring the second Run", "informer", s.name)
		return
	}

	// The processor does not hear of the end of ctx: it is stopped strictly after
	// the controller, so that whatever is still reported finds somebody who takes it.
	processorCtx, stopProcessor := context.WithCancel(context.WithoutCancel(ctx))
	stop := func() { s.stop(); stopProcessor() }
	defer stop()

	var wg sync.WaitGroup
	wg.Go(func() { s.processor.Run(processorCtx) })
	wg.Go(func() { s.awaitSync(processorCtx, controller.config.queue) })
	controller.RunWithContext(ctx)

	stop()
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	await(context.WithoutCancel(ctx), s.name+": event handlers to return", ended)
}

// start tests and sets started in one go: of two calls at the same time one
// wins. It holds blockDeltas because a handler that is being added may still
// change the resync check period. It returns nil if there was a start before.
func (s *sharedIndexInformer) start() *controller {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	s.mu.Lock()
	again, transform, watchErrorHandler := s.started, s.transform, s.watchErrorHandler
	s.started = true
	s.mu.Unlock()
	if again {
		return nil
	}
	c := newController(config{
		name:          s.name,
		queue:         s.options.NewQueue(s.indexer),
		listerWatcher: s.listerWatcher,
		objectType:    s.objectType,
		process:       s.handleDeltas,
		newReflector:  s.options.NewReflector,
		reflector: ReflectorOptions{
			TypeDescription:   s.options.ObjectDescription,
			ResyncPeriod:      s.processor.ResyncCheckPeriod(),
			ShouldResync:      s.processor.ShouldResync,
			Transform:         transform,
			WatchErrorHandler: watchErrorHandler,
		},
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reflector = c.reflector
	return c
}

// stop lets nobody in any more. It takes blockDeltas so that a handler that is
// just joining has joined before the processor ends.
func (s *sharedIndexInformer) stop() {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

// handleDeltas is what the controller does with what it pops.
func (s *sharedIndexInformer) handleDeltas(deltas []cache.Delta, isInInitialList bool) error {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	err := s.options.HandleDeltas(s.processor, s.indexer, deltas, isInInitialList)
	s.processor.Flush() // also after an error: what was reported is in the store
	return err
}

// awaitSync turns the queue's "first list was popped" into the informer's and
// the handlers' "synced".
func (s *sharedIndexInformer) awaitSync(ctx context.Context, queue cache.Queue) {
	if !await(ctx, s.name+": the first list", queue.HasSyncedChecker().Done()) {
		return
	}
	// client-go's DeltaFIFO is done when it takes the last object out, while this
	// object is still being processed under its lock. HasSynced takes that lock.
	queue.HasSynced()
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	close(s.synced)
	s.processor.Synced()
}
