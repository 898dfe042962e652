package informermap

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// onRealServer makes and starts a cache on the control plane.
func onRealServer(t *testing.T, newCache cache.NewCacheFunc, cfg *rest.Config, opts cache.Options) cache.Cache {
	t.Helper()
	c, err := newCache(cfg, opts)
	require.NoError(t, err)
	start(t, c)
	return c
}

func liveClient(t *testing.T, cfg *rest.Config) client.Client {
	t.Helper()
	live, err := client.New(cfg, client.Options{})
	require.NoError(t, err)
	return live
}

func configMap(namespace, name, app string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}},
		Data:       map[string]string{"app": app},
	}
}

func TestReadsOfRealObjects(t *testing.T) {
	cfg := controlplane.Config(t)
	a, b, other := controlplane.Namespace(t, cfg), controlplane.Namespace(t, cfg), controlplane.Namespace(t, cfg)
	live := liveClient(t, cfg)
	for _, m := range []*corev1.ConfigMap{configMap(a, "1", "web"), configMap(a, "2", "db"), configMap(b, "1", "web"), configMap(other, "1", "web")} {
		require.NoError(t, live.Create(t.Context(), m))
	}
	configMaps := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	for name, newCache := range both {
		t.Run(name, func(t *testing.T) {
			c := onRealServer(t, newCache, cfg, cache.Options{
				DefaultNamespaces: map[string]cache.Config{
					a: {}, b: {}, cache.AllNamespaces: {LabelSelector: label("nowhere")}},
			})
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(configMaps.GroupVersion().WithKind("ConfigMapList"))
			metadata := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}}
			app := func(obj client.Object) []string { return []string{obj.GetLabels()["app"]} }
			for representation, into := range map[string]client.ObjectList{"structured": &corev1.ConfigMapList{}, "unstructured": list, "metadata": metadata} {
				if name == "controller-runtime" && representation == "metadata" {
					continue // Its watches of metadata may leave a goroutine when they are stopped.
				}
				found := func(opts ...client.ListOption) int {
					require.NoError(t, c.List(within(t, patience), into, opts...))
					items, err := meta.ExtractList(into)
					require.NoError(t, err)
					for _, item := range items {
						assert.Equal(t, configMaps, item.GetObjectKind().GroupVersionKind(), representation)
					}
					return len(items)
				}
				assert.Equal(t, 3, found(), representation)
				assert.Equal(t, 2, found(client.InNamespace(a)), representation)
				assert.Equal(t, 0, found(client.InNamespace(other)), "%s: the rest has a selector that leaves all out", representation)
				assert.Equal(t, 2, found(client.MatchingLabels{"app": "web"}), representation)
				example := map[string]client.Object{"structured": &corev1.ConfigMap{}, "unstructured": &unstructured.Unstructured{}, "metadata": &metav1.PartialObjectMetadata{}}[representation]
				example.GetObjectKind().SetGroupVersionKind(configMaps)
				require.NoError(t, c.IndexField(within(t, patience), example, "app", app))
				assert.Equal(t, 1, found(client.InNamespace(a), client.MatchingFields{"app": "web"}), representation)
			}
		})
	}
}

func TestNoRightToListIsNamed(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	live := liveClient(t, cfg)
	require.NoError(t, live.Create(t.Context(), configMap(ns, "x", "web")))
	eve := rest.CopyConfig(cfg)
	eve.Impersonate = rest.ImpersonationConfig{UserName: "eve-" + ns, Groups: []string{"system:authenticated"}}

	c := onRealServer(t, New, eve, cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}})
	err := c.Get(within(t, time.Second), key(ns, "x"), &corev1.ConfigMap{})
	require.True(t, apierrors.IsTimeout(err), "%v", err)
	denied := fmt.Sprintf(`configmaps is forbidden: User "eve-%s" cannot list resource "configmaps" in API group "" in the namespace %q`, ns, ns)
	require.ErrorContains(t, err, denied)

	rules := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "read"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}}}
	require.NoError(t, live.Create(t.Context(), rules))
	require.NoError(t, live.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "read"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "read"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "eve-" + ns}},
	}))
	require.NoError(t, c.Get(within(t, 2*patience), key(ns, "x"), &corev1.ConfigMap{}), "rights in the one namespace are enough")
}

func TestCRDInstalledLater(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	gvk := schema.GroupVersionKind{Group: ns + ".example.com", Version: "v1", Kind: "Widget"}
	widget := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		u.SetNamespace(ns)
		u.SetName("x")
		return u
	}
	c := onRealServer(t, New, cfg, cache.Options{})
	err := c.Get(within(t, patience), key(ns, "x"), widget())
	require.True(t, meta.IsNoMatchError(err), "%v", err)
	require.ErrorContains(t, err, gvk.String())
	require.ErrorContains(t, err, "install it")

	_, err = envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + gvk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gvk.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: gvk.Kind, ListKind: "WidgetList", Plural: "widgets", Singular: "widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}}})
	require.NoError(t, err)
	require.NoError(t, liveClient(t, cfg).Create(t.Context(), widget()))
	got := widget()
	require.NoError(t, c.Get(within(t, patience), key(ns, "x"), got))
	assert.NotEmpty(t, got.GetUID())
}

func TestRealListWithoutBookmarks(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	for name, syncs := range map[string]bool{"controller-runtime": false, "informermap": true} {
		t.Run(name, func(t *testing.T) {
			c := onRealServer(t, both[name], cfg, cache.Options{DefaultEnableWatchBookmarks: ptr.To(false), DefaultNamespaces: map[string]cache.Config{ns: {}}})
			err := c.List(within(t, 2*time.Second), &corev1.ConfigMapList{})
			assert.Equal(t, syncs, err == nil, "%v", err)
		})
	}
}

func TestReadYourWrites(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	c := onRealServer(t, New, cfg, cache.Options{})
	consistent, err := client.New(cfg, client.Options{Cache: &client.CacheOptions{Reader: c, EnableReadYourWritesConsistency: ptr.To(true)}})
	require.NoError(t, err)
	for n := range 30 {
		m := configMap(ns, fmt.Sprint("x", n), "web")
		require.NoError(t, consistent.Create(within(t, patience), m))
		require.NoError(t, consistent.Get(within(t, patience), client.ObjectKeyFromObject(m), &corev1.ConfigMap{}))
		require.NoError(t, consistent.Delete(within(t, patience), m))
		require.True(t, apierrors.IsNotFound(consistent.Get(within(t, patience), client.ObjectKeyFromObject(m), &corev1.ConfigMap{})))
	}
}

func TestUnderAnUnmodifiedManager(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	mgr, err := manager.New(cfg, manager.Options{
		NewCache: New, // The one line that puts this chapter in.
		Cache:    cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}, DefaultTransform: cache.TransformStripManagedFields()},
		Metrics:  server.Options{BindAddress: "0"},
	})
	require.NoError(t, err)
	require.NoError(t, mgr.GetFieldIndexer().IndexField(t.Context(), &corev1.ConfigMap{}, "data.app", func(obj client.Object) []string {
		return []string{obj.(*corev1.ConfigMap).Data["app"]}
	}))

	// For each ConfigMap: a Secret of the same name that tells how many there are
	// with the same app, all read from the cache.
	reconciler := reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		m := &corev1.ConfigMap{}
		if err := mgr.GetClient().Get(ctx, req.NamespacedName, m); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if m.ManagedFields != nil {
			return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("the transform was left out"))
		}
		var same corev1.ConfigMapList
		if err := mgr.GetClient().List(ctx, &same, client.InNamespace(req.Namespace), client.MatchingFields{"data.app": m.Data["app"]}); err != nil {
			return reconcile.Result{}, err
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, m.GroupVersionKind())}}}
		secret.StringData = map[string]string{"same": fmt.Sprint(len(same.Items))}
		if err := mgr.GetClient().Create(ctx, secret); !apierrors.IsAlreadyExists(err) {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, mgr.GetClient().Update(ctx, secret)
	})
	require.NoError(t, builder.ControllerManagedBy(mgr).Named("twins").For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}, builder.OnlyMetadata).
		WithOptions(controller.Options{SkipNameValidation: ptr.To(true)}).Complete(reconciler))

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() { cancel(); require.NoError(t, <-ended) }()

	live := liveClient(t, cfg)
	same := func(name string) string {
		secret := &corev1.Secret{}
		if err := live.Get(t.Context(), key(ns, name), secret); err != nil {
			return err.Error()
		}
		return string(secret.Data["same"])
	}
	require.NoError(t, live.Create(t.Context(), configMap(ns, "x", "web")))
	require.Eventually(t, func() bool { return same("x") == "1" }, patience, 20*time.Millisecond, "the event has made its way to Reconcile")
	require.NoError(t, live.Create(t.Context(), configMap(ns, "y", "web")))
	require.Eventually(t, func() bool { return same("y") == "2" }, patience, 20*time.Millisecond, "the index knows both")
	require.NoError(t, live.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "x"}}))
	require.Eventually(t, func() bool { return same("x") == "2" }, patience, 20*time.Millisecond, "the deletion of what x owns came by the metadata informer, with its kind")
}

func TestHandlersSeeRealChanges(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	live := liveClient(t, cfg)
	c := onRealServer(t, New, cfg, cache.Options{})
	example := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
	informer, err := c.GetInformer(within(t, patience), example)
	require.NoError(t, err)
	events := make(chan string, 100)
	note := func(what string, obj any) {
		if m := obj.(*metav1.PartialObjectMetadata); m.Namespace == ns && m.Name == "x" {
			events <- what + " " + m.Kind
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { note("add", obj) }, UpdateFunc: func(_, obj any) { note("update", obj) }, DeleteFunc: func(obj any) { note("delete", obj) },
	})
	require.NoError(t, err)
	m := configMap(ns, "x", "web")
	require.NoError(t, live.Create(t.Context(), m))
	assert.Equal(t, "add ConfigMap", <-events)
	m.Data["app"] = "db"
	require.NoError(t, live.Update(t.Context(), m))
	assert.Equal(t, "update ConfigMap", <-events)
	require.NoError(t, live.Delete(t.Context(), m))
	assert.Equal(t, "delete ConfigMap", <-events)
}
