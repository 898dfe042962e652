package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// lookupEvery is the pause between two lookups of an informer. Most often the
// reason is a CRD that somebody is about to install.
const lookupEvery = 10 * time.Second

var kindLog = log.Log.WithName("source").WithName("Kind")

// kind is a source of the events of one kind of object, read from a cache. It
// stands for controller-runtime's internal source.Kind; Kind and TypedKind make it.
//
// Start may be called more than once (one source given to two controllers); each
// start adds a handler of its own, and WaitForSync speaks of the latest one.
type kind[object client.Object, request comparable] struct {
	cache      cache.Cache
	obj        object // only its type and, for metadata and unstructured objects, its kind matter
	handler    handler.TypedEventHandler[object, request]
	predicates []predicate.TypedPredicate[object]

	mu     sync.Mutex // guards latest
	latest *start
}

// start is one run of a kind's way from lookup to sync.
type start struct {
	cancel context.CancelFunc // ends lookup and handler
	done   chan struct{}      // closed when err is set
	err    error              // nil: synced, or cancelled by whoever gave the context

	mu        sync.Mutex // guards lookupErr, which a timeout reads while the lookup goes on
	lookupErr error
}

// Kind makes a source of the events of obj's kind from the given cache. It has
// the signature of controller-runtime's source.Kind.
func Kind[object client.Object](
	cache cache.Cache,
	obj object,
	handler handler.TypedEventHandler[object, reconcile.Request],
	predicates ...predicate.TypedPredicate[object],
) source.SyncingSource {
	return TypedKind(cache, obj, handler, predicates...)
}

// TypedKind is Kind for any type of request. It has the signature of
// controller-runtime's source.TypedKind.
func TypedKind[object client.Object, request comparable](
	cache cache.Cache,
	obj object,
	handler handler.TypedEventHandler[object, request],
	predicates ...predicate.TypedPredicate[object],
) source.TypedSyncingSource[request] {
	return &kind[object, request]{cache: cache, obj: obj, handler: handler, predicates: slices.Clone(predicates)}
}

// Start looks up the informer and adds the handler behind the caller's back,
// because a lookup may block for as long as the cache can't sync. ctx is the
// life of the handler: when it ends, the handler is taken off the informer.
func (k *kind[object, request]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[request]) error {
	if err := k.validate(); err != nil {
		return err
	}
	s := &start{done: make(chan struct{})}
	parent := ctx
	ctx, s.cancel = context.WithCancel(parent)
	k.mu.Lock()
	k.latest = s
	k.mu.Unlock()

	go func() {
		defer close(s.done)
		err := k.run(ctx, queue, s)
		if errors.Is(parent.Err(), context.Canceled) {
			err = nil
		}
		s.err = err
	}()
	return nil
}

func (k *kind[object, request]) validate() error {
	switch {
	case isNil(k.obj):
		return errors.New("must create Kind with a non-nil object: pass an empty one, such as &corev1.Pod{}")
	case isNil(k.cache):
		return errors.New("must create Kind with a non-nil cache: pass the manager's GetCache()")
	case isNil(k.handler):
		return errors.New("must create Kind with a non-nil handler: pass one that enqueues requests, such as &handler.EnqueueRequestForObject{}")
	case slices.ContainsFunc(k.predicates, func(p predicate.TypedPredicate[object]) bool { return isNil(p) }):
		return errors.New("must create Kind with non-nil predicates: leave out the one that is nil")
	case isDynamic(k.obj) && k.obj.GetObjectKind().GroupVersionKind().Empty():
		return fmt.Errorf("must create Kind with an object that has a kind: call SetGroupVersionKind on the %T", k.obj)
	default:
		return nil
	}
}

// run is the way of one start, up to the moment when the handler has seen the
// initial list.
func (k *kind[object, request]) run(ctx context.Context, queue workqueue.TypedRateLimitingInterface[request], s *start) error {
	informer, err := k.lookUp(ctx, s)
	if err != nil {
		return err
	}
	bridge := &eventHandler[object, request]{ctx: ctx, queue: queue, handler: k.handler, predicates: k.predicates}
	registration, err := informer.AddEventHandlerWithOptions(bridge, toolscache.HandlerOptions{Logger: &kindLog})
	if err != nil {
		return fmt.Errorf("failed to add the handler to the informer: %w", err)
	}
	context.AfterFunc(ctx, func() {
		if err := informer.RemoveEventHandler(registration); err != nil {
			kindLog.Error(err, "Could not take the handler off the informer", "source", k.String())
		}
	})
	if !k.cache.WaitForCacheSync(ctx) {
		return errors.New("cache did not sync")
	}
	// A cache that has synced says nothing about this handler: workers that
	// start now would meet a queue that is still being filled.
	select {
	case <-registration.HasSyncedChecker().Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("handler did not sync: %w", ctx.Err())
	}
}

// lookUp asks the cache for the informer until it has one or ctx ends.
func (k *kind[object, request]) lookUp(ctx context.Context, s *start) (informer cache.Informer, err error) {
	var lastErr error
	err = wait.PollUntilContextCancel(ctx, lookupEvery, true, func(ctx context.Context) (bool, error) {
		informer, lastErr = k.cache.GetInformer(ctx, k.obj)
		s.setLookupErr(lastErr)
		if lastErr != nil {
			k.logLookupError(lastErr)
		}
		return lastErr == nil, nil
	})
	if err != nil && lastErr != nil {
		err = fmt.Errorf("failed to get informer from cache: %w", lastErr)
	}
	return informer, err
}

func (k *kind[object, request]) logLookupError(err error) {
	switch {
	// Not only NoKindMatchError: a group of which no CRD is there yet is a NoResourceMatchError.
	case meta.IsNoMatchError(err):
		kindLog.Error(err, "No such kind on the API server. If it comes from a CRD, install the CRD; trying again",
			"source", k.String(), "every", lookupEvery)
	case runtime.IsNotRegisteredError(err):
		kindLog.Error(err, "The type is not in the scheme. Add it with the AddToScheme of its package; trying again",
			"source", k.String(), "every", lookupEvery)
	default:
		kindLog.Error(err, "Could not get the informer from the cache; trying again",
			"source", k.String(), "every", lookupEvery)
	}
}

// WaitForSync returns when the handler has seen the initial list, when the start
// failed, or when ctx ends; in the last case the source is stopped. It returns
// nil for a context that was cancelled, and may be called any number of times.
func (k *kind[object, request]) WaitForSync(ctx context.Context) error {
	k.mu.Lock()
	s := k.latest
	k.mu.Unlock()
	if s == nil {
		return fmt.Errorf("%s was not started: call Start before WaitForSync", k)
	}
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
	}
	// Both at once: what is known about the start is worth more, and a source
	// that runs must not be stopped.
	if isClosed(s.done) {
		return s.err
	}
	s.cancel()
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	err := fmt.Errorf("timed out waiting for cache to be synced for %s", k)
	if cause := s.getLookupErr(); cause != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// String names the type, and the kind too where the type alone does not tell it.
func (k *kind[object, request]) String() string {
	if isNil(k.obj) {
		return "kind source: unknown type"
	}
	if isDynamic(k.obj) {
		apiVersion, name := k.obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
		return fmt.Sprintf("kind source: %T[%s %s]", k.obj, apiVersion, name)
	}
	return fmt.Sprintf("kind source: %T", k.obj)
}

func (s *start) setLookupErr(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookupErr = err
}

func (s *start) getLookupErr() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookupErr
}

// isDynamic says whether obj's Go type leaves its kind open.
func isDynamic(obj any) bool {
	switch obj.(type) {
	case *unstructured.Unstructured, *metav1.PartialObjectMetadata:
		return true
	default:
		return false
	}
}
