// Package reflector keeps a store equal to what the API server has: it lists,
// then watches, and lists again when the watch can't go on. The manual is in the
// chapter's package documentation.
package reflector

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/util/naming"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/klog/v2"
)

// Options configures a Reflector; the zero value is ready for use.
type Options struct {
	// Name is for logs and metrics; by default the place that called New.
	Name string
	// TypeDescription names what is listed in logs and errors; by default the
	// type of the expected object, or its kind if it is unstructured.
	TypeDescription string
	// ResyncPeriod is how often to ask ShouldResync; zero means never.
	ResyncPeriod time.Duration
	// ShouldResync says whether the store's Resync is due; nil means always.
	ShouldResync func() bool
	// Transform changes each object before it reaches the store, exactly once.
	// It may change the object in place. It never sees a tombstone.
	Transform cache.TransformFunc
	// WatchErrorHandler is called with the error that ended list and watch, before
	// the pause. Its *cache.Reflector is a stand-in that knows Name and
	// TypeDescription and nothing else. Nil logs as client-go does.
	WatchErrorHandler cache.WatchErrorHandlerWithContext
	// PageSize is the limit of each list request. Zero leaves it to the rules of
	// list.go, which keep to the API server's watch cache.
	PageSize int64
	// MinWatchTimeout is how long a watch lasts at least, the most is twice as
	// much. Less than five minutes counts as five minutes.
	MinWatchTimeout time.Duration
	// Backoff replaces the pauses of 0.8 s to 30 s, doubled and jittered.
	Backoff *wait.Backoff
	// MaxInternalErrorRetryDuration is how long a watch that fails with internal
	// errors is opened again at once before the reflector lists.
	MaxInternalErrorRetryDuration time.Duration
	// MetricsProvider gets the numbers that client-go once reported; nil switches them off.
	MetricsProvider cache.MetricsProvider
}

const defaultMinWatchTimeout = 5 * time.Minute

// Reflector fills a store from a lister-watcher.
//
// After a list the store has been given a whole state by Replace, and after that
// every event since, in order. The store is written to by the goroutine of
// RunWithContext; only Resync comes from a second one. LastSyncResourceVersion
// is the version up to which the store was told everything.
//
// It stands for client-go's cache.Reflector.
type Reflector struct {
	// Set by New and never changed.
	name            string
	typeDescription string
	expected        expected
	lw              cache.ListerWatcherWithContext
	store           cache.ReflectorStore
	bookmarks       cache.ReflectorBookmarkStore // store, if it wants bookmarks
	versions        cache.ResourceVersionUpdater // store, if it wants versions
	options         Options
	standIn         *cache.Reflector
	streamLists     bool
	minTimeout      time.Duration
	metrics         metrics

	// Used by the goroutine of RunWithContext alone.
	pauses *pauses
	paged  bool // the first list came in pages: there is no watch cache

	// Guards itself.
	version version
}

// New returns a reflector of lw's objects into store. expectedType is an example
// of them, or nil; for unstructured objects it carries the kind.
func New(lw cache.ListerWatcher, expectedType any, store cache.ReflectorStore, o Options) *Reflector {
	if isNil(lw) {
		panic("reflector.New: the ListerWatcher is nil: give one that lists and watches the objects")
	}
	if isNil(store) {
		panic("reflector.New: the store is nil: give the queue or store to fill")
	}
	if o.Name == "" {
		o.Name = naming.GetNameFromCallsite("chapters/04-reflector-deltafifo/reflector/", "chapters/03-informer-run/", "client-go/tools/cache/")
	}
	if o.TypeDescription == "" {
		o.TypeDescription = describe(expectedType)
	}
	if o.WatchErrorHandler == nil {
		o.WatchErrorHandler = cache.DefaultWatchErrorHandler
	}
	r := &Reflector{
		name:            o.Name,
		typeDescription: o.TypeDescription,
		expected:        newExpected(expectedType),
		lw:              cache.ToListerWatcherWithContext(lw),
		store:           store,
		options:         o,
		standIn: cache.NewReflectorWithOptions(lw, expectedType, store,
			cache.ReflectorOptions{Name: o.Name, TypeDescription: o.TypeDescription}),
		streamLists: clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient) &&
			!watchlist.DoesClientNotSupportWatchListSemantics(lw),
		minTimeout: max(o.MinWatchTimeout, defaultMinWatchTimeout),
		metrics:    newMetrics(o.Name, o.MetricsProvider),
		pauses:     newPauses(o.Backoff),
	}
	r.bookmarks, _ = store.(cache.ReflectorBookmarkStore)
	r.versions, _ = store.(cache.ResourceVersionUpdater)
	return r
}

func isNil(v any) bool {
	rv := reflect.ValueOf(v)
	return v == nil || rv.Kind() == reflect.Pointer && rv.IsNil()
}

// Name is the reflector's name in logs.
func (r *Reflector) Name() string { return r.name }

// TypeDescription names what is listed.
func (r *Reflector) TypeDescription() string { return r.typeDescription }

// LastSyncResourceVersion returns the version up to which the store was told
// everything, or "" before the first list. Safe at any time.
func (r *Reflector) LastSyncResourceVersion() string { return r.version.synced() }

// RunWithContext lists and watches until ctx ends. When it returns, it doesn't
// touch the store any more; a request whose lister ignores its context may still
// be under way, and its answer is dropped.
func (r *Reflector) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	logger := klog.FromContext(ctx)
	logger.V(3).Info("Starting reflector", "type", r.typeDescription, "resyncPeriod", r.options.ResyncPeriod, "reflector", r.name)
	defer logger.V(3).Info("Stopping reflector", "type", r.typeDescription, "reflector", r.name)
	for ctx.Err() == nil {
		if err := r.listAndWatch(ctx); err != nil {
			r.options.WatchErrorHandler(ctx, r.standIn, err)
		}
		r.pause(ctx)
	}
}

// listAndWatch gives the store a whole state and then each event, until the
// watch can't go on. Its error is one that no watch has reported yet.
func (r *Reflector) listAndWatch(ctx context.Context) error {
	var w *openWatch
	if r.streamLists {
		var err error
		if w, err = r.listAsWatch(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			klog.FromContext(ctx).V(4).Info("No streamed list, falling back to a plain one",
				"reflector", r.name, "type", r.typeDescription, "err", err)
		}
	}
	if w == nil {
		if err := r.list(ctx); err != nil {
			return err
		}
	}
	klog.FromContext(ctx).V(2).Info("Caches populated", "type", r.typeDescription, "reflector", r.name)
	return r.watchWithResync(ctx, w)
}

// pause waits before the next attempt, longer each time.
func (r *Reflector) pause(ctx context.Context) {
	timer := time.NewTimer(r.pauses.next())
	defer timer.Stop()
	_, _ = await(ctx, "the pause before "+r.typeDescription+" is requested again", timer.C)
}
