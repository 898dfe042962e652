package main

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// oneInformer is a cache, and the informer in it, that hands out the handler it gets.
type oneInformer struct {
	cache.Cache
	cache.Informer
	handler chan toolscache.ResourceEventHandler
}

func (c *oneInformer) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return c, nil
}

func (c *oneInformer) WaitForCacheSync(context.Context) bool { return true }

func (c *oneInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	c.handler <- h
	return synced{}, nil
}

func (c *oneInformer) RemoveEventHandler(toolscache.ResourceEventHandlerRegistration) error {
	return nil
}

// synced is the registration of a handler that has nothing to wait for.
type synced struct{}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (synced) HasSynced() bool                          { return true }
func (synced) HasSyncedChecker() toolscache.DoneChecker { return synced{} }
func (synced) Name() string                             { return "synced" }
func (synced) Done() <-chan struct{}                    { return closed }

// tally is a queue that counts what is added.
type tally struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	added int
}

func (q *tally) Add(reconcile.Request) { q.added++ }

// BenchmarkKind: an update from the informer, through a predicate and the handler that
// enqueues the object, to the queue.
func BenchmarkKind(b *testing.B) {
	pods := versions(objects)
	each(b, two, func(b *testing.B, impl string) {
		ctx, cancel := context.WithCancel(context.Background())
		c, q := &oneInformer{handler: make(chan toolscache.ResourceEventHandler, 1)}, &tally{}
		src := layers[impl].WithDefaults().NewKind(c, client.Object(&corev1.Pod{}), &handler.EnqueueRequestForObject{}, predicate.ResourceVersionChangedPredicate{})
		var running sync.WaitGroup
		running.Go(func() { require.NoError(b, src.Start(ctx, q)) })
		h := <-c.handler
		require.NoError(b, src.WaitForSync(ctx))
		b.ResetTimer()
		for i := range b.N {
			version, pod := i/objects%2, i%objects
			h.OnUpdate(pods[version][pod], pods[1-version][pod])
		}
		b.StopTimer()
		require.Equal(b, b.N, q.added)
		cancel()
		running.Wait()
	})
}
