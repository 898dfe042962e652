package source_test

import (
	"context"
	"sync"
	"testing"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fakeCache answers GetInformer with get, or with its informer.
type fakeCache struct {
	cache.Cache
	get      func(ctx context.Context, call int) error
	unsynced bool
	informer fakeInformer

	mu    sync.Mutex
	calls int
	asked []client.Object
}

func (c *fakeCache) GetInformer(ctx context.Context, obj client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	c.mu.Lock()
	c.calls++
	call := c.calls
	c.asked = append(c.asked, obj)
	c.mu.Unlock()
	if c.get != nil {
		if err := c.get(ctx, call); err != nil {
			return nil, err
		}
	}
	return &c.informer, nil
}

func (c *fakeCache) WaitForCacheSync(context.Context) bool { return !c.unsynced }

// lookups counts the calls of GetInformer.
func (c *fakeCache) lookups() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// fakeInformer keeps the handlers that are on it. Its registrations are synced
// unless synced is given.
type fakeInformer struct {
	cache.Informer
	addErr error
	synced chan struct{}

	mu       sync.Mutex
	handlers []toolscache.ResourceEventHandler
	options  []toolscache.HandlerOptions
	removed  int
}

type fakeRegistration struct{ done chan struct{} }

func (r *fakeRegistration) HasSyncedChecker() toolscache.DoneChecker { return r }
func (r *fakeRegistration) Name() string                             { return "fake" }
func (r *fakeRegistration) Done() <-chan struct{}                    { return r.done }
func (r *fakeRegistration) HasSynced() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (i *fakeInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.addErr != nil {
		return nil, i.addErr
	}
	i.handlers = append(i.handlers, h)
	i.options = append(i.options, o)
	done := i.synced
	if done == nil {
		done = make(chan struct{})
		close(done)
	}
	return &fakeRegistration{done: done}, nil
}

func (i *fakeInformer) RemoveEventHandler(toolscache.ResourceEventHandlerRegistration) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.removed++
	return nil
}

// handler returns the handler that was added last; nil if there is none.
func (i *fakeInformer) handler() toolscache.ResourceEventHandler {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.handlers) == 0 {
		return nil
	}
	return i.handlers[len(i.handlers)-1]
}

// count says how many handlers were added and how many removed.
func (i *fakeInformer) count() (added, removed int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.handlers), i.removed
}

// newQueue makes a queue that is shut down with the test.
func newQueue[request comparable](t *testing.T) workqueue.TypedRateLimitingInterface[request] {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[request]())
	t.Cleanup(q.ShutDown)
	return q
}
