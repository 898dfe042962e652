package cachetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

func unstructuredPod() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(podKind)
	return u
}

func podMetadata() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(podKind)
	return m
}

var _ = scenario("three representations", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x", "app", "web"))
	c := b.start(t, asIs)
	key := client.ObjectKey{Namespace: "a", Name: "x"}

	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(podKind.GroupVersion().WithKind("PodList"))
	metadataList := &metav1.PartialObjectMetadataList{}
	metadataList.SetGroupVersionKind(podKind.GroupVersion().WithKind("PodList"))

	for name, into := range map[string]struct {
		obj  client.Object
		list client.ObjectList
	}{
		"structured":   {&corev1.Pod{}, &corev1.PodList{}},
		"unstructured": {unstructuredPod(), list},
		"metadata":     {podMetadata(), metadataList},
	} {
		require.NoError(t, c.Get(within(t, patience), key, into.obj), name)
		assert.Equal(t, "web", into.obj.GetLabels()["app"], name)
		assert.Equal(t, podKind, into.obj.GetObjectKind().GroupVersionKind(), name)
		require.NoError(t, c.List(within(t, patience), into.list), name)
		items, err := meta.ExtractList(into.list)
		require.NoError(t, err)
		require.Len(t, items, 1, name)
		assert.Equal(t, podKind, items[0].GetObjectKind().GroupVersionKind(), name)
	}
	eventually(t, "each representation has a watch of its own", func() bool { return b.api.Watches("pods") == 3 })

	b.api.Put(pod("a", "x", "app", "db"))
	eventually(t, "metadata that came by a watch keeps its kind", func() bool {
		m := podMetadata()
		m.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		return c.Get(within(t, patience), key, m, client.UnsafeDisableDeepCopy) == nil &&
			m.Labels["app"] == "db" && m.GroupVersionKind() == podKind
	})
})

var _ = scenario("not found names kind and object", func(t *testing.T, b *bench) {
	c := b.start(t, asIs)
	err := c.Get(within(t, patience), client.ObjectKey{Namespace: "a", Name: "x"}, &corev1.Pod{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	assert.EqualError(t, err, `Pod "x" not found`)
})

var _ = scenario("list by namespace, label and limit", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "1", "app", "web"), pod("a", "2", "app", "db"), pod("b", "1", "app", "web"))
	c := b.start(t, asIs)
	assert.Equal(t, []string{"a/1", "a/2", "b/1"}, listed(t, c))
	assert.Equal(t, []string{"a/1", "a/2"}, listed(t, c, client.InNamespace("a")))
	assert.Equal(t, []string{"a/1", "b/1"}, listed(t, c, client.MatchingLabels{"app": "web"}))
	assert.Equal(t, []string{"a/1"}, listed(t, c, client.InNamespace("a"), client.MatchingLabels{"app": "web"}))
	assert.Len(t, listed(t, c, client.Limit(2)), 2)
	assert.Empty(t, listed(t, c, client.InNamespace("none")))
})

var _ = scenario("reads follow changes", func(t *testing.T, b *bench) {
	c := b.start(t, asIs)
	assert.Empty(t, listed(t, c))
	b.api.Put(pod("a", "x", "app", "web"))
	eventually(t, "a new pod", func() bool { return len(listed(t, c)) == 1 })
	b.api.Put(pod("a", "x", "app", "db"))
	eventually(t, "a changed pod", func() bool { return len(listed(t, c, client.MatchingLabels{"app": "db"})) == 1 })
	b.api.Delete(pod("a", "x"))
	eventually(t, "no pod", func() bool { return len(listed(t, c)) == 0 })
})

var _ = scenario("shared objects by option", func(t *testing.T, b *bench) {
	b.api.Put(pod("a", "x", "app", "web"))
	c := b.start(t, func(o *cache.Options) { o.DefaultUnsafeDisableDeepCopy = ptr.To(true) })
	var first, second corev1.Pod
	var list corev1.PodList
	key := client.ObjectKey{Namespace: "a", Name: "x"}
	require.NoError(t, c.Get(within(t, patience), key, &first))
	first.Labels["app"] = "changed"
	require.NoError(t, c.Get(within(t, patience), key, &second))
	require.NoError(t, c.List(within(t, patience), &list))
	assert.Equal(t, "changed", second.Labels["app"], "Get shares what it points at")
	assert.Equal(t, "changed", list.Items[0].Labels["app"], "List, too")
})

var _ = scenario("before start", func(t *testing.T, b *bench) {
	c, err := b.make(asIs)
	require.NoError(t, err)
	var notStarted *cache.ErrCacheNotStarted
	require.ErrorAs(t, c.Get(within(t, patience), client.ObjectKey{Name: "x"}, &corev1.Node{}), &notStarted)
	require.ErrorAs(t, c.List(within(t, patience), &corev1.PodList{}), &notStarted)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	assert.False(t, c.WaitForCacheSync(gone))
})

var _ = scenario("kind that the scheme does not know", func(t *testing.T, b *bench) {
	c := b.start(t, func(o *cache.Options) { o.Scheme = runtime.NewScheme() })
	for name, err := range map[string]error{
		"Get":        c.Get(within(t, patience), client.ObjectKey{Name: "x"}, &corev1.Node{}),
		"List":       c.List(within(t, patience), &corev1.NodeList{}),
		"IndexField": c.IndexField(within(t, patience), &corev1.Node{}, "f", func(client.Object) []string { return nil }),
	} {
		assert.True(t, runtime.IsNotRegisteredError(err), "%s: %v", name, err)
	}
	_, err := c.GetInformerForKind(within(t, patience), podKind)
	assert.True(t, runtime.IsNotRegisteredError(err), "GetInformerForKind: %v", err)
})

var _ = scenario("kind that is installed later", func(t *testing.T, b *bench) {
	widget := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	c := b.start(t, asIs)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(widget)
	_, err := c.GetInformer(within(t, patience), u)
	require.True(t, meta.IsNoMatchError(err), "%v", err)
	require.ErrorContains(t, err, "Widget")

	b.api.Install(widget, meta.RESTScopeNamespace)
	w := u.DeepCopy()
	w.SetNamespace("a")
	w.SetName("x")
	b.api.Put(w)
	require.NoError(t, c.Get(within(t, patience), client.ObjectKey{Namespace: "a", Name: "x"}, u))
	assert.Equal(t, widget, u.GroupVersionKind())
})
