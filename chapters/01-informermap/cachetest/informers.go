package cachetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var errForbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New(`User "eve" cannot list resource "pods"`))

var _ = scenario("informer made before start and one made after", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"), node("n"))
	c, err := b.make(asIs)
	require.NoError(t, err)
	pods, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err, "a cache that is not started does not wait")
	assert.False(t, pods.HasSynced())
	run(t, c)
	assert.True(t, pods.HasSynced(), "WaitForCacheSync has waited for it")

	nodes, err := c.GetInformerForKind(within(t, patience), corev1.SchemeGroupVersion.WithKind("Node"))
	require.NoError(t, err)
	assert.True(t, nodes.HasSynced(), "a started cache waits")
	assert.True(t, toolscache.IsDone(nodes.HasSyncedChecker()))
	again, err := c.GetInformer(within(t, patience), &corev1.Node{})
	require.NoError(t, err)
	assert.Same(t, nodes, again, "one informer for all who ask")
})

var _ = scenario("handlers", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"))
	c := b.start(t, asIs)
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	calls := make(recorder, 10)
	handle, err := informer.AddEventHandler(calls.handler())
	require.NoError(t, err)
	assert.Equal(t, "add a/x", calls.next(t))
	eventually(t, "the handler has seen the initial list", handle.HasSynced)

	b.api.Put(pod("a", "x"), pod("a", "y"))
	assert.Equal(t, "update a/x", calls.next(t))
	assert.Equal(t, "add a/y", calls.next(t))
	b.api.Delete(pod("a", "x"))
	assert.Equal(t, "delete a/x", calls.next(t))

	require.NoError(t, informer.RemoveEventHandler(handle))
	others := make(recorder, 10)
	_, err = informer.AddEventHandlerWithResyncPeriod(others.handler(), time.Hour)
	require.NoError(t, err)
	b.api.Put(pod("a", "z"))
	for seen := ""; seen != "add a/z"; seen = others.next(t) {
	}
	assert.Empty(t, calls, "a handler that was removed is not called")
})

var _ = scenario("informer without waiting", func(t *testing.T, b *bench) {
	release := b.api.Hold("pods")
	defer release()
	c := b.start(t, asIs)
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	assert.False(t, informer.HasSynced())
	_, err = c.GetInformer(within(t, 50*time.Millisecond), &corev1.Pod{}, cache.BlockUntilSynced(true))
	assert.True(t, apierrors.IsTimeout(err), "%v", err)
	release()
	require.True(t, c.WaitForCacheSync(within(t, patience)))
	assert.True(t, informer.HasSynced())
})

var _ = scenario("no right to list", func(t *testing.T, b *bench) {
	b.api.Fail("pods", errForbidden)
	failures := make(chan error, 100)
	c := b.start(t, func(o *cache.Options) {
		o.DefaultWatchErrorHandler = func(_ context.Context, r *toolscache.Reflector, err error) {
			assert.NotNil(t, r)
			select {
			case failures <- err:
			default:
			}
		}
	})
	err := c.List(within(t, 200*time.Millisecond), &corev1.PodList{})
	require.True(t, apierrors.IsTimeout(err), "%v", err)
	select {
	case err := <-failures:
		assert.True(t, apierrors.IsForbidden(err), "the watch error handler gets what happened: %v", err)
	case <-time.After(patience):
		require.Fail(t, "the watch error handler was not called")
	}
	assert.False(t, c.WaitForCacheSync(within(t, 50*time.Millisecond)))
	b.api.Fail("pods", nil)
	require.NoError(t, c.List(within(t, patience), &corev1.PodList{}), "rights that are granted later help")
})

var _ = scenario("second start", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"))
	for name, edit := range map[string]func(*cache.Options){
		"plain":      asIs,
		"namespaces": func(o *cache.Options) { o.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}} },
		"by object":  func(o *cache.Options) { o.ByObject = map[client.Object]cache.ByObject{&corev1.Node{}: {}} },
	} {
		c := b.start(t, edit)
		require.ErrorContains(t, c.Start(within(t, patience)), "already started", name)
		assert.Equal(t, []string{"a/x"}, listed(t, c), "%s: the first goes on", name)
	}
})

var _ = scenario("start returns when all informers have stopped", func(t *testing.T, b *bench) {
	c, err := b.make(asIs)
	require.NoError(t, err)
	stop := run(t, c)
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	unstructured, err := c.GetInformer(within(t, patience), unstructuredPod())
	require.NoError(t, err)
	metadata, err := c.GetInformer(within(t, patience), podMetadata())
	require.NoError(t, err)
	stop()
	for _, i := range []cache.Informer{informer, unstructured, metadata} {
		assert.True(t, i.IsStopped())
	}
	eventually(t, "no watch is left", func() bool { return b.api.Watches("pods") == 0 })
})

var _ = scenario("resync per object", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"), node("n"))
	c := b.start(t, func(o *cache.Options) {
		o.ByObject = map[client.Object]cache.ByObject{&corev1.Pod{}: {SyncPeriod: ptr.To(time.Second)}}
	})
	calls := map[string]recorder{"pods": make(recorder, 100), "nodes": make(recorder, 100)}
	for resource, obj := range map[string]client.Object{"pods": &corev1.Pod{}, "nodes": &corev1.Node{}} {
		informer, err := c.GetInformer(within(t, patience), obj)
		require.NoError(t, err)
		_, err = informer.AddEventHandler(calls[resource].handler())
		require.NoError(t, err)
	}
	assert.Equal(t, "add a/x", calls["pods"].next(t))
	assert.Equal(t, "update a/x", calls["pods"].next(t), "nothing has changed: this is the resync")
	assert.Equal(t, "add /n", calls["nodes"].next(t))
	assert.Empty(t, calls["nodes"], "the default is ten hours")
})
