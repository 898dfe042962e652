package informer

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Reflector keeps a store equal to what the API server has. It stands for what
// the informer needs of client-go's *cache.Reflector.
type Reflector interface {
	// RunWithContext lists and watches until ctx is done and returns only when
	// nothing of it touches the store any more.
	RunWithContext(ctx context.Context)
	// LastSyncResourceVersion may be called at any time, also before the run.
	LastSyncResourceVersion() string
}

// ReflectorOptions is what the informer tells its reflector.
type ReflectorOptions struct {
	// TypeDescription names what is watched in logs; empty: the reflector finds a name.
	TypeDescription string
	// ResyncPeriod is how often to ask ShouldResync; zero: never.
	ResyncPeriod time.Duration
	// ShouldResync says whether the store's Resync is due. The reflector only
	// ticks: who wants a resync and when is known to the Processor.
	ShouldResync func() bool
	// Transform is applied by the reflector, exactly once to each object, before
	// the object reaches the store. May be nil.
	Transform cache.TransformFunc
	// WatchErrorHandler is called when list or watch fails. May be nil.
	WatchErrorHandler cache.WatchErrorHandlerWithContext
}

// Processor brings events to the registered handlers. It stands for client-go's
// sharedProcessor, and it is itself the handler that HandleDeltas reports to.
//
// The informer calls OnAdd, OnUpdate, OnDelete, Flush, Synced and Add under one
// lock (blockDeltas), so these never run at the same time. Remove,
// ResyncCheckPeriod, ShouldResync and every method of a registration may come
// from any goroutine at any time.
type Processor interface {
	cache.ResourceEventHandler

	// Flush hands every listener what was reported since the last Flush.
	Flush()
	// Synced puts the mark "initial list delivered" behind what each listener
	// still has to deliver. A registration is synced when its mark was reached.
	Synced()
	// Add registers a handler that shall first get initial as OnAdd calls. isSynced
	// says that initial is the whole of a synced store, so that the mark follows
	// it at once; else Synced will come. name is what the registration's
	// HasSyncedChecker shall be called.
	Add(h cache.ResourceEventHandler, o cache.HandlerOptions, name string, initial []any, isSynced bool) cache.ResourceEventHandlerRegistration
	// Remove ends a registration. One that is not there (any more) is no error,
	// one that is of another type is. It does not wait for a handler that runs:
	// the registration's ShutdownChan() <-chan struct{}, which
	// cache.ShutDownEventHandler asks for, is closed when the last call returned.
	Remove(cache.ResourceEventHandlerRegistration) error
	// ResyncCheckPeriod is how often ShouldResync has to be asked; zero: never.
	// The informer reads it once, when it starts its reflector.
	ResyncCheckPeriod() time.Duration
	// ShouldResync reports whether a handler's resync is due now, and remembers
	// which handlers the updates without a change that follow are meant for.
	ShouldResync() bool
	// Run delivers until ctx is done and returns when no handler is running; what
	// is undelivered then is dropped, and every registration has ended. What was
	// reported before Run began is not lost. The informer calls Run once.
	Run(ctx context.Context)
}

// HandleDeltasFunc applies deltas to the store and reports each change to the
// handler, in order. It stands for client-go's processDeltas.
type HandleDeltasFunc func(h cache.ResourceEventHandler, s cache.Store, deltas []cache.Delta, isInInitialList bool) error

// Options says what an informer is built of. The zero value is an informer over
// client-go's queue, reflector and indexer.
type Options struct {
	// ResyncPeriod is the resync period of handlers that name none; zero: no resyncs at all.
	ResyncPeriod time.Duration
	// Indexers are the indexes the store starts with.
	Indexers cache.Indexers
	// ObjectDescription names the watched type in logs and errors; empty: the Go type.
	ObjectDescription string

	// The five parts. A nil one is client-go's, where client-go exports it, or a
	// naive one of this package.

	// NewQueue makes the queue between reflector and store. known is the store.
	NewQueue func(known cache.KeyListerGetter) cache.Queue
	// NewReflector makes the reflector that fills the queue.
	NewReflector func(lw cache.ListerWatcher, expectedType runtime.Object, store cache.ReflectorStore, o ReflectorOptions) Reflector
	// NewIndexer makes the store that listers read.
	NewIndexer func(cache.KeyFunc, cache.Indexers) cache.Indexer
	// HandleDeltas carries deltas from the queue to store and processor.
	HandleDeltas HandleDeltasFunc
	// NewProcessor makes the processor; resync is ResyncPeriod.
	NewProcessor func(resync time.Duration) Processor
}
