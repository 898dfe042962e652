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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = scenario("B01", func(t *testing.T, b *bench) { // controller-runtime#3194
	b.api.Put(pod("a", "x"), pod("b", "x"))
	c := b.start(t, twoNamespaces)
	unstructuredList := &unstructured.UnstructuredList{}
	unstructuredList.SetGroupVersionKind(podKind.GroupVersion().WithKind("PodList"))
	for name, list := range map[string]client.ObjectList{"structured": &corev1.PodList{}, "unstructured": unstructuredList} {
		for range 2 {
			require.NoError(t, c.List(within(t, patience), list), name)
		}
		switch list := list.(type) {
		case *corev1.PodList:
			assert.Len(t, list.Items, 2, "a list used twice holds what the last List found")
		case *unstructured.UnstructuredList:
			assert.Len(t, list.Items, 2, "a list used twice holds what the last List found")
			assert.Equal(t, "PodList", list.GetKind())
		}
	}
})

var _ = scenario("B02", func(t *testing.T, b *bench) { // controller-runtime#934, #1377, #1378
	b.api.Put(node("n"))
	c := b.start(t, twoNamespaces)
	require.NoError(t, c.Get(within(t, patience), client.ObjectKey{Name: "n"}, &corev1.Node{}))
	require.NoError(t, c.Get(within(t, patience), client.ObjectKey{Namespace: "a", Name: "n"}, &corev1.Node{}))
	var nodes corev1.NodeList
	require.NoError(t, c.List(within(t, patience), &nodes))
	assert.Len(t, nodes.Items, 1, "once, not once per namespace")
	assert.Equal(t, 1, b.api.Watches("nodes"))
	require.NoError(t, c.List(within(t, patience), &nodes, client.MatchingLabels{"none": "such"}))
	assert.Empty(t, nodes.Items, "options count for cluster-scoped kinds, too")
	informer, err := c.GetInformerForKind(within(t, patience), corev1.SchemeGroupVersion.WithKind("Node"))
	require.NoError(t, err)
	require.NoError(t, c.RemoveInformer(within(t, patience), &corev1.Node{}))
	eventually(t, "the informer of a cluster-scoped kind can be removed", informer.IsStopped)
})

var _ = scenario("B03", func(t *testing.T, b *bench) { // controller-runtime#284
	b.api.Put(pod("a", "x"))
	c := b.start(t, asIs)
	var pods corev1.PodList
	require.NoError(t, c.List(within(t, patience), &pods))
	assert.Equal(t, podKind, pods.Items[0].GroupVersionKind())
	require.NoError(t, c.List(within(t, patience), &pods, client.UnsafeDisableDeepCopy))
	assert.Empty(t, pods.Items[0].Kind, "an object that is shared is not written to")
})

var _ = scenario("B05", func(t *testing.T, b *bench) { // controller-runtime#1422, #3044
	for _, namespace := range []string{"a", "b"} {
		for _, name := range []string{"1", "2", "3", "4", "5"} {
			b.api.Put(pod(namespace, name, "even", map[bool]string{true: "yes", false: "no"}[name == "2" || name == "4"]))
		}
	}
	for name, edit := range map[string]func(*cache.Options){"plain": asIs, "two namespaces": twoNamespaces} {
		c := b.start(t, edit)
		var pods corev1.PodList
		require.NoError(t, c.List(within(t, patience), &pods, client.Limit(3), client.MatchingLabels{"even": "yes"}), name)
		assert.Len(t, pods.Items, 3, "%s: the limit counts what the label left", name)
		for _, p := range pods.Items {
			assert.Equal(t, "yes", p.Labels["even"])
		}
		require.NotEmpty(t, pods.Continue)
		err := c.List(within(t, patience), &pods, client.Limit(3), client.Continue(pods.Continue))
		require.ErrorContains(t, err, "continue list option is not supported by the cache", name)
	}
})

var _ = scenario("B06", func(t *testing.T, b *bench) { // controller-runtime#612, kubebuilder#547
	b.api.Put(pod("a", "1", "app", "web", "tier", "x"), pod("a", "2", "app", "web", "tier", "y"), pod("b", "1", "app", "web", "tier", "x"))
	c := b.start(t, asIs)
	err := c.List(within(t, patience), &corev1.PodList{}, client.MatchingFields{"app": "web"})
	require.ErrorContains(t, err, "Index with name field:app does not exist")

	for _, field := range []string{"app", "tier"} {
		index := func(obj client.Object) []string { return []string{obj.GetLabels()[field], "any"} }
		require.NoError(t, c.IndexField(within(t, patience), &corev1.Pod{}, field, index))
		require.ErrorContains(t, c.IndexField(within(t, patience), &corev1.Pod{}, field, index), "conflict")
	}
	assert.Len(t, listed(t, c, client.MatchingFields{"app": "web"}), 3)
	assert.Equal(t, []string{"a/1", "a/2"}, listed(t, c, client.MatchingFields{"app": "web"}, client.InNamespace("a")))
	assert.Equal(t, []string{"a/1", "b/1"}, listed(t, c, client.MatchingFields{"app": "web", "tier": "x"}), "the intersection")
	assert.Equal(t, []string{"a/1"}, listed(t, c, client.MatchingFields{"app": "web", "tier": "x"}, client.InNamespace("a")))
	assert.Empty(t, listed(t, c, client.MatchingFields{"app": "web", "tier": "z"}))
	assert.Len(t, listed(t, c, client.MatchingFields{"app": "any"}), 3, "a field may have several values")

	err = c.List(within(t, patience), &corev1.PodList{}, client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("app", "web")})
	require.ErrorContains(t, err, "non-exact field matches are not supported by the cache")
	err = c.List(within(t, patience), &corev1.PodList{}, client.MatchingFields{"app": "web", "none": "x"})
	require.ErrorContains(t, err, "field:none does not exist")
})

var _ = scenario("B08", func(t *testing.T, b *bench) { // controller-runtime#3422
	b.api.Fail("pods", errForbidden)
	c := b.start(t, asIs)
	require.NoError(t, c.IndexField(within(t, patience), &corev1.Pod{}, "app", func(obj client.Object) []string {
		return []string{obj.GetLabels()["app"]}
	}), "an index does not wait for what is to be indexed")
	b.api.Put(pod("a", "x", "app", "web"))
	b.api.Fail("pods", nil)
	assert.Equal(t, []string{"a/x"}, listed(t, c, client.MatchingFields{"app": "web"}))
})

var _ = scenario("B09", func(t *testing.T, b *bench) { // controller-runtime#3424
	release := b.api.Hold("pods")
	defer release()
	b.api.Put(pod("a", "x"))
	c, err := b.make(func(o *cache.Options) { o.ReaderFailOnMissingInformer = true })
	require.NoError(t, err)
	key := client.ObjectKey{Namespace: "a", Name: "x"}

	_, err = c.GetInformer(within(t, patience), &corev1.Pod{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	var notStarted *cache.ErrCacheNotStarted
	require.ErrorAs(t, c.Get(within(t, patience), key, &corev1.Pod{}), &notStarted)

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	defer func() { cancel(); require.NoError(t, <-ended) }()
	var notCached *cache.ErrResourceNotCached
	require.ErrorAs(t, c.Get(within(t, patience), client.ObjectKey{Name: "n"}, &corev1.Node{}), &notCached)
	assert.Equal(t, "Node", notCached.GVK.Kind)
	require.ErrorAs(t, c.List(within(t, patience), &corev1.NodeList{}), &notCached)

	eventually(t, "the cache is started", func() bool {
		return !errors.As(c.Get(within(t, 10*time.Millisecond), key, &corev1.Pod{}), &notStarted)
	})
	err = c.Get(within(t, 50*time.Millisecond), key, &corev1.Pod{})
	require.True(t, apierrors.IsTimeout(err), "never NotFound before the list is here: %v", err)
	release()
	require.NoError(t, c.Get(within(t, patience), key, &corev1.Pod{}))
})

var _ = scenario("B11", func(t *testing.T, b *bench) { // controller-runtime#935
	b.api.Put(pod("a", "x"))
	c := b.start(t, asIs)
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	calls := make(recorder, 10)
	_, err = informer.AddEventHandler(calls.handler())
	require.NoError(t, err)
	calls.next(t)

	require.NoError(t, c.RemoveInformer(within(t, patience), &corev1.Pod{}))
	eventually(t, "the informer has stopped", informer.IsStopped)
	eventually(t, "its watch is closed", func() bool { return b.api.Watches("pods") == 0 })
	require.NoError(t, c.RemoveInformer(within(t, patience), &corev1.Pod{}), "removing twice is fine")

	b.api.Put(pod("a", "y"))
	assert.Equal(t, []string{"a/x", "a/y"}, listed(t, c), "the next read makes a new one")
	again, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	assert.NotSame(t, informer, again)
	assert.False(t, again.IsStopped())
	assert.Empty(t, calls, "handlers of the old one are not called")
})

var _ = scenario("B13", func(t *testing.T, b *bench) { // controller-runtime#2391
	b.api.Put(pod("a", "x", "app", "web"))
	c := b.start(t, asIs)
	key := client.ObjectKey{Namespace: "a", Name: "x"}
	read := func(opts ...client.GetOption) *corev1.Pod {
		p := &corev1.Pod{}
		require.NoError(t, c.Get(within(t, patience), key, p, opts...))
		return p
	}
	read().Labels["app"] = "changed"
	assert.Equal(t, "web", read().Labels["app"], "a reader gets a copy")
	var pods corev1.PodList
	require.NoError(t, c.List(within(t, patience), &pods))
	pods.Items[0].Labels["app"] = "changed"
	assert.Equal(t, "web", read().Labels["app"], "so does one that lists")

	handled := make(chan *corev1.Pod, 1)
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	_, err = informer.AddEventHandler(handlerFor(handled))
	require.NoError(t, err)
	inHandler := <-handled

	m := &metav1.PartialObjectMetadata{TypeMeta: podMetadata().TypeMeta}
	require.NoError(t, c.Get(within(t, patience), key, m))
	m.Labels["app"] = "changed"
	read(client.UnsafeDisableDeepCopy).Labels["app"] = "changed"
	assert.Equal(t, "changed", read().Labels["app"], "without a copy the reader holds the labels of the store")
	assert.Equal(t, "changed", inHandler.Labels["app"], "and so does a handler, which therefore must copy")
	other := &metav1.PartialObjectMetadata{TypeMeta: podMetadata().TypeMeta}
	require.NoError(t, c.Get(within(t, patience), key, other))
	assert.Equal(t, "web", other.Labels["app"], "representations share nothing")
})
