package source_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	upstream "sigs.k8s.io/controller-runtime/pkg/source"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// startCache runs controller-runtime's cache for one namespace until the test ends.
func startCache(t *testing.T, cfg *rest.Config, ns string) cache.Cache {
	t.Helper()
	c, err := cache.New(cfg, cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return c
}

func newClient(t *testing.T, cfg *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(cfg, client.Options{Scheme: scheme.Scheme})
	require.NoError(t, err)
	return c
}

// next takes one request from the queue.
func next(t *testing.T, q handlerQueue) string {
	t.Helper()
	got := make(chan reconcile.Request, 1)
	go func() {
		req, _ := q.Get()
		q.Done(req)
		got <- req
	}()
	select {
	case req := <-got:
		return req.String()
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was enqueued within 10 s")
		return ""
	}
}

func configMap(ns, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
}

// TestEventsBecomeRequests: the way of the article, from a real API server over
// controller-runtime's cache and our Kind into a workqueue.
func TestEventsBecomeRequests(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	cl := newClient(t, cfg)
	require.NoError(t, cl.Create(t.Context(), configMap(ns, "before")))

	q := newQueue[reconcile.Request](t)
	w := source.Watches[reconcile.Request]{Name: "test"}
	require.NoError(t, w.Watch(source.Kind(startCache(t, cfg, ns), &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})))
	require.NoError(t, w.Start(t.Context(), q))
	require.Equal(t, 1, q.Len(), "after the sync the initial list is in the queue")
	require.Equal(t, ns+"/before", next(t, q))

	cm := configMap(ns, "a")
	require.NoError(t, cl.Create(t.Context(), cm))
	require.Equal(t, ns+"/a", next(t, q), "create")
	cm.Data = map[string]string{"k": "v"}
	require.NoError(t, cl.Update(t.Context(), cm))
	require.Equal(t, ns+"/a", next(t, q), "update")
	require.NoError(t, cl.Delete(t.Context(), cm))
	require.Equal(t, ns+"/a", next(t, q), "delete")
}

// TestHandlerLeavesARealInformer: the cache lives on, the controller has stopped.
func TestHandlerLeavesARealInformer(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	cl := newClient(t, cfg)
	c := startCache(t, cfg, ns)

	var stoppedSaw atomic.Int32
	stopped := source.TypedKind(c, &corev1.ConfigMap{}, handler.TypedFuncs[*corev1.ConfigMap, string]{
		CreateFunc: func(context.Context, event.TypedCreateEvent[*corev1.ConfigMap], queue) { stoppedSaw.Add(1) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, stopped.Start(ctx, newQueue[string](t)))
	require.NoError(t, stopped.WaitForSync(t.Context()))

	q := newQueue[reconcile.Request](t)
	running := source.Kind(c, &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})
	require.NoError(t, running.Start(t.Context(), q))
	require.NoError(t, running.WaitForSync(t.Context()))

	require.NoError(t, cl.Create(t.Context(), configMap(ns, "a")))
	next(t, q)
	require.Eventually(t, func() bool { return stoppedSaw.Load() == 1 }, 10*time.Second, 5*time.Millisecond, "both handlers see the first object")
	cancel()
	// The handler leaves behind the caller's back, so give it several objects to leave before.
	require.Eventually(t, func() bool {
		before := stoppedSaw.Load()
		require.NoError(t, cl.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "more-"}}))
		next(t, q)
		return stoppedSaw.Load() == before
	}, 10*time.Second, 5*time.Millisecond, "a handler of a stopped controller is still called")
}

// TestMetadataObjectsKeepTheirKind: the API server answers a metadata list with
// objects of the kind PartialObjectMetadata; handlers must get the real kind.
func TestMetadataObjectsKeepTheirKind(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	cl := newClient(t, cfg)
	require.NoError(t, cl.Create(t.Context(), configMap(ns, "listed")))

	kinds := make(chan string, 10)
	sources, err := source.DoWatch(source.Inputs[string]{
		Cache: startCache(t, cfg, ns), Scheme: scheme.Scheme, Mapper: cl.RESTMapper(),
		Watches: []source.WatchesInput[string]{{
			ForInput: source.ForInput{Object: &corev1.ConfigMap{}, OnlyMetadata: true},
			Handler: handler.TypedFuncs[client.Object, string]{CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) {
				m := e.Object.(*metav1.PartialObjectMetadata)
				kinds <- m.Name + " " + m.GroupVersionKind().String()
			}},
		}},
	})
	require.NoError(t, err)
	w := source.Watches[string]{}
	require.NoError(t, w.Watch(sources[0]))
	require.NoError(t, w.Start(t.Context(), newQueue[string](t)))
	require.Equal(t, "listed /v1, Kind=ConfigMap", <-kinds)
	require.NoError(t, cl.Create(t.Context(), configMap(ns, "watched")))
	require.Equal(t, "watched /v1, Kind=ConfigMap", <-kinds)
}

// TestOwnedObjectsBringTheirOwner runs DoWatch whole.
func TestOwnedObjectsBringTheirOwner(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	cl := newClient(t, cfg)
	sources, err := source.DoWatch(source.Inputs[reconcile.Request]{
		Cache: startCache(t, cfg, ns), Scheme: scheme.Scheme, Mapper: cl.RESTMapper(),
		For:  source.ForInput{Object: &appsv1.Deployment{}},
		Owns: []source.OwnsInput{{ForInput: source.ForInput{Object: &corev1.ConfigMap{}, OnlyMetadata: true}}},
	})
	require.NoError(t, err)
	q := newQueue[reconcile.Request](t)
	w := source.Watches[reconcile.Request]{}
	for _, src := range sources {
		require.NoError(t, w.Watch(src))
	}
	require.NoError(t, w.Start(t.Context(), q))

	child := configMap(ns, "child")
	child.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "owner", UID: "u", Controller: ptr.To(true)}}
	require.NoError(t, cl.Create(t.Context(), child))
	require.Equal(t, ns+"/owner", next(t, q))
	require.NoError(t, cl.Create(t.Context(), configMap(ns, "orphan")))
	child.Labels = map[string]string{"k": "v"}
	require.NoError(t, cl.Update(t.Context(), child))
	require.Equal(t, ns+"/owner", next(t, q), "an object without an owner enqueues nothing")
}

// TestCRDInstalledLater: a cache that could not know a kind knows it when its CRD
// is there. The pause of 10 s between two lookups has its test in virtual time
// (B16), so here the first source gives up and a second one looks again.
func TestCRDInstalledLater(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	cl := newClient(t, cfg)
	c := startCache(t, cfg, ns)
	gvk := schema.GroupVersionKind{Group: ns + ".example.com", Version: "v1", Kind: "Widget"}
	widget := func(name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		u.SetNamespace(ns)
		u.SetName(name)
		return u
	}
	newSource := func() upstream.SyncingSource {
		return source.Kind(c, widget(""), &handler.TypedEnqueueRequestForObject[*unstructured.Unstructured]{})
	}
	q := newQueue[reconcile.Request](t)
	early := source.Watches[reconcile.Request]{Name: "test", SyncTimeout: 500 * time.Millisecond}
	require.NoError(t, early.Watch(newSource()))
	err := early.Start(t.Context(), q)
	require.ErrorContains(t, err, "timed out waiting for cache to be synced for kind source: *unstructured.Unstructured["+gvk.Group+"/v1 Widget]")
	require.ErrorContains(t, err, "no matches for "+gvk.Group+"/v1", "the timeout says what was missing")
	require.NotZero(t, logged.with("install the CRD", "Widget", gvk.Group))

	_, err = envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + gvk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gvk.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: gvk.Kind, ListKind: "WidgetList", Plural: "widgets", Singular: "widget"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: gvk.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}}})
	require.NoError(t, err)
	require.NoError(t, cl.Create(t.Context(), widget("a")))
	require.NoError(t, early.Watch(newSource()), "Watches starts a late source at once")
	require.Equal(t, ns+"/a", next(t, q))
}
