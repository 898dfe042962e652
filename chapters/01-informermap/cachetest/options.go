package cachetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func equals(key, value string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{key: value})
}

func stamp(value string) func(any) (any, error) {
	return func(obj any) (any, error) {
		obj.(client.Object).SetAnnotations(map[string]string{"stamp": value})
		return obj, nil
	}
}

var _ = scenario("selectors per object", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "1", "app", "web"), pod("a", "2", "app", "db"), node("n"), node("m"))
	c := b.start(t, func(o *cache.Options) {
		o.DefaultFieldSelector = fields.OneTermEqualSelector("metadata.name", "n")
		o.ByObject = map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Label: equals("app", "web"), Field: fields.Everything()},
		}
	})
	assert.Equal(t, []string{"a/1"}, listed(t, c), "what is not selected is not there")
	var nodes corev1.NodeList
	require.NoError(t, c.List(within(t, patience), &nodes))
	require.Len(t, nodes.Items, 1, "the default is for all kinds without an entry")
	assert.Equal(t, "n", nodes.Items[0].Name)

	m := podMetadata()
	require.NoError(t, c.Get(within(t, patience), client.ObjectKey{Namespace: "a", Name: "1"}, m))
	assert.Error(t, c.Get(within(t, patience), client.ObjectKey{Namespace: "a", Name: "2"}, m), "an entry is for all representations of the kind")
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	require.NoError(t, c.IndexField(within(t, patience), &corev1.Pod{}, "f", func(client.Object) []string { return []string{"v"} }))
	assert.Equal(t, []string{"a/1"}, listed(t, c, client.MatchingFields{"f": "v"}))
	require.NoError(t, c.RemoveInformer(within(t, patience), &corev1.Pod{}))
	eventually(t, "removed from the cache of its kind", informer.IsStopped)

	b.api.Put(pod("a", "1", "app", "other"), pod("a", "2", "app", "web"))
	eventually(t, "labels that change move objects in and out", func() bool {
		found := listed(t, c)
		return len(found) == 1 && found[0] == "a/2"
	})
})

var _ = scenario("transform", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"), pod("b", "x"), node("n"))
	c := b.start(t, func(o *cache.Options) {
		o.DefaultTransform = stamp("default")
		o.ByObject = map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Transform: stamp("object"), Namespaces: map[string]cache.Config{
				"a": {}, "b": {Transform: stamp("namespace")},
			}},
		}
	})
	for want, obj := range map[string]client.Object{
		"object": pod("a", "x"), "namespace": pod("b", "x"), "default": node("n"),
	} {
		require.NoError(t, c.Get(within(t, patience), client.ObjectKeyFromObject(obj), obj))
		assert.Equal(t, want, obj.GetAnnotations()["stamp"])
	}
})

var _ = scenario("transform into another type", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"))
	c := b.start(t, func(o *cache.Options) {
		o.DefaultTransform = func(obj any) (any, error) {
			if p, ok := obj.(*corev1.Pod); ok { // client-go transforms a list that comes as a watch twice.
				return &corev1.ConfigMap{ObjectMeta: p.ObjectMeta}, nil
			}
			return obj, nil
		}
	})
	err := c.Get(within(t, patience), client.ObjectKey{Namespace: "a", Name: "x"}, &corev1.Pod{})
	require.EqualError(t, err, "cache had type *v1.ConfigMap, but *v1.Pod was asked for")
	require.Error(t, c.List(within(t, patience), &corev1.PodList{}))
})

var _ = scenario("shared objects per object and per namespace", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x"), pod("b", "x"))
	c := b.start(t, func(o *cache.Options) {
		o.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {UnsafeDisableDeepCopy: ptr.To(false)}}
		o.ByObject = map[client.Object]cache.ByObject{&corev1.Pod{}: {UnsafeDisableDeepCopy: ptr.To(true)}}
	})
	for namespace, shared := range map[string]bool{"a": true, "b": false} {
		var first, second corev1.Pod
		require.NoError(t, c.Get(within(t, patience), client.ObjectKey{Namespace: namespace, Name: "x"}, &first))
		first.Labels = map[string]string{}
		require.NoError(t, c.Get(within(t, patience), client.ObjectKey{Namespace: namespace, Name: "x"}, &second))
		assert.Equal(t, shared, second.Kind == "", "a copy is told its kind, a shared object must not be written to")
	}
})

var _ = scenario("bookmarks", func(t *testing.T, b *bench) {
	c := b.start(t, asIs)
	require.Empty(t, listed(t, c))
	for _, url := range b.api.Requests() {
		if url.Query().Get("watch") == "true" {
			assert.Equal(t, "true", url.Query().Get("allowWatchBookmarks"), "asked for by default")
		}
	}
})

var _ = scenario("namespaces of a cluster-scoped kind", func(t *testing.T, b *bench) {
	_, err := b.make(func(o *cache.Options) {
		o.ByObject = map[client.Object]cache.ByObject{&corev1.Node{}: {Namespaces: map[string]cache.Config{"a": {}}}}
	})
	require.ErrorContains(t, err, "type *v1.Node is not namespaced, but its ByObject.Namespaces setting is not nil")
})
