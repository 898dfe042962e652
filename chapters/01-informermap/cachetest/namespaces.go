package cachetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func twoNamespaces(o *cache.Options) {
	o.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}}
}

var _ = scenario("only some namespaces", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"), pod("b", "x"), pod("c", "x"))
	c := b.start(t, twoNamespaces)
	assert.Equal(t, []string{"a/x", "b/x"}, listed(t, c))
	assert.Equal(t, []string{"b/x"}, listed(t, c, client.InNamespace("b")))
	require.NoError(t, c.Get(within(t, patience), client.ObjectKey{Namespace: "a", Name: "x"}, &corev1.Pod{}))
	err := c.Get(within(t, patience), client.ObjectKey{Namespace: "c", Name: "x"}, &corev1.Pod{})
	require.ErrorContains(t, err, "unknown namespace for the cache")
	err = c.List(within(t, patience), &corev1.PodList{}, client.InNamespace("c"))
	require.ErrorContains(t, err, "unknown namespace for the cache")
})

var _ = scenario("all other namespaces", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x", "app", "web"), pod("a", "y"), pod("b", "x"), pod("c", "x"))
	c := b.start(t, func(o *cache.Options) {
		o.DefaultNamespaces = map[string]cache.Config{
			"a": {LabelSelector: equals("app", "web")}, "b": {}, cache.AllNamespaces: {},
		}
	})
	assert.Equal(t, []string{"a/x", "b/x", "c/x"}, listed(t, c), "nothing twice")
	assert.Equal(t, []string{"a/x"}, listed(t, c, client.InNamespace("a")))
	assert.Equal(t, []string{"c/x"}, listed(t, c, client.InNamespace("c")))
	require.NoError(t, c.Get(within(t, patience), client.ObjectKey{Namespace: "c", Name: "x"}, &corev1.Pod{}))
})

var _ = scenario("namespaces of one kind", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"), pod("b", "x"), &corev1.ConfigMap{ObjectMeta: pod("a", "m").ObjectMeta}, &corev1.ConfigMap{ObjectMeta: pod("b", "m").ObjectMeta})
	c := b.start(t, func(o *cache.Options) {
		o.DefaultNamespaces = map[string]cache.Config{"a": {}}
		o.ByObject = map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: map[string]cache.Config{}}}
	})
	assert.Equal(t, []string{"a/x", "b/x"}, listed(t, c), "an empty map means all namespaces, whatever the default is")
	var maps corev1.ConfigMapList
	require.NoError(t, c.List(within(t, patience), &maps))
	assert.Len(t, maps.Items, 1)
})

var _ = scenario("informer over namespaces", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"), pod("b", "x"))
	c := b.start(t, twoNamespaces)
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	assert.True(t, informer.HasSynced())
	select {
	case <-informer.HasSyncedChecker().Done():
	case <-within(t, patience).Done():
		require.Fail(t, "the informers have synced, their common checker has not")
	}
	assert.NotEmpty(t, informer.HasSyncedChecker().Name())

	calls := make(recorder, 10)
	handle, err := informer.AddEventHandler(calls.handler())
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"add a/x", "add b/x"}, []string{calls.next(t), calls.next(t)})
	select {
	case <-handle.HasSyncedChecker().Done():
	case <-within(t, patience).Done():
		require.Fail(t, "the handler has seen both lists, its checker does not know")
	}
	assert.True(t, handle.HasSynced())
	assert.NotEmpty(t, handle.HasSyncedChecker().Name())

	b.api.Put(pod("b", "y"))
	assert.Equal(t, "add b/y", calls.next(t))
	require.NoError(t, informer.RemoveEventHandler(handle))
	foreign, err := c.GetInformer(within(t, patience), &corev1.Node{})
	require.NoError(t, err)
	foreignHandle, err := foreign.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
	require.NoError(t, err)
	eventually(t, "the handler has synced", foreignHandle.HasSynced) // upstream leaks a goroutine otherwise
	assert.NoError(t, foreign.RemoveEventHandler(foreignHandle))

	assert.False(t, informer.IsStopped())
	require.NoError(t, c.RemoveInformer(within(t, patience), &corev1.Pod{}))
	eventually(t, "informers of all namespaces have stopped", informer.IsStopped)
	eventually(t, "watches of all namespaces have ended", func() bool { return b.api.Watches("pods") == 0 })
})

var _ = scenario("field index over namespaces", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x", "app", "web"), pod("b", "x", "app", "web"), pod("b", "y", "app", "db"))
	c := b.start(t, twoNamespaces)
	app := func(obj client.Object) []string { return []string{obj.GetLabels()["app"]} }
	require.NoError(t, c.IndexField(within(t, patience), &corev1.Pod{}, "app", app))
	require.NoError(t, c.IndexField(within(t, patience), &corev1.Node{}, "app", app))
	assert.Equal(t, []string{"a/x", "b/x"}, listed(t, c, client.MatchingFields{"app": "web"}))
	assert.Equal(t, []string{"b/y"}, listed(t, c, client.MatchingFields{"app": "db"}, client.InNamespace("b")))
	assert.Len(t, listed(t, c, client.MatchingFields{"app": "web"}, client.Limit(1)), 1)

	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	require.NoError(t, informer.AddIndexers(toolscache.Indexers{"other": toolscache.MetaNamespaceIndexFunc}))
	assert.Error(t, informer.AddIndexers(toolscache.Indexers{"other": toolscache.MetaNamespaceIndexFunc}))
})
