package assembly_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	. "github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

const patience = 60 * time.Second

// oneOfUpstream are assemblies with one layer, or one group of layers, that is not ours: each seam holds.
var oneOfUpstream = map[string]Layers{
	"all ours":                                    {},
	"controller-runtime's manager":                {NewManager: manager.New},
	"controller-runtime's cache":                  {NewCache: cache.New},
	"client-go's informer":                        {Informer: ClientGoInformer},
	"our in-order queue":                          {Queue: OurInOrder},
	"our atomic in-order queue":                   {Queue: OurAtomicInOrder},
	"client-go's DeltaFIFO":                       {Queue: ClientGoDeltaFIFO},
	"client-go's RealFIFO":                        {Queue: ClientGoRealFIFO},
	"client-go's atomic RealFIFO":                 {Queue: ClientGoAtomicRealFIFO},
	"client-go's reflector":                       {NewReflector: informer.NewClientGoReflector},
	"client-go's indexer":                         {NewIndexer: parts.ClientGoIndexer},
	"naive HandleDeltas and processor":            {HandleDeltas: informer.NaiveHandleDeltas, NewProcessor: informer.NewNaiveProcessor},
	"controller-runtime's Kind":                   {NewKind: source.TypedKind[client.Object, reconcile.Request]},
	"our priority queue":                          {Workqueue: OurPriorityQueue},
	"client-go's workqueue":                       {Workqueue: ClientGoWorkqueue},
	"controller-runtime's priority queue":         {Workqueue: ControllerRuntimePriorityQueue},
	"controller-runtime's controller":             {NewController: controller.NewTyped[reconcile.Request]},
	"all that controller-runtime can give itself": {NewManager: manager.New, NewCache: cache.New, Informer: ClientGoInformer, NewKind: source.TypedKind[client.Object, reconcile.Request], Workqueue: ControllerRuntimePriorityQueue, NewController: controller.NewTyped[reconcile.Request]},
}

func TestOperator(t *testing.T) {
	cfg := controlplane.Config(t)
	for name, layers := range oneOfUpstream {
		t.Run(name, func(t *testing.T) { liveOf(t, cfg, layers) })
	}
}

// liveOf runs an operator that copies each ConfigMap into a Secret through create, update, drift and delete.
func liveOf(t *testing.T, cfg *rest.Config, layers Layers) {
	ns := controlplane.Namespace(t, cfg)
	mgr, err := NewManager(cfg, inNamespace(ns), layers)
	require.NoError(t, err)
	c := mgr.GetClient()
	require.NoError(t, ControllerManagedBy(mgr, layers).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(
		reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var cm corev1.ConfigMap
			if err := c.Get(ctx, req.NamespacedName, &cm); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name}}
			_, err := controllerutil.CreateOrUpdate(ctx, c, secret, func() error {
				secret.StringData = cm.Data
				return controllerutil.SetControllerReference(&cm, secret, mgr.GetScheme())
			})
			return reconcile.Result{}, err
		})))
	run(t, mgr)

	direct, err := client.New(cfg, client.Options{})
	require.NoError(t, err)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "cm"}, Data: map[string]string{"k": "1"}}
	require.NoError(t, direct.Create(t.Context(), cm))
	copied := func(want, reason string) {
		t.Helper()
		require.Eventually(t, func() bool {
			var secret corev1.Secret
			return direct.Get(t.Context(), client.ObjectKeyFromObject(cm), &secret) == nil && string(secret.Data["k"]) == want
		}, patience, 10*time.Millisecond, reason)
	}
	copied("1", "created")
	cm.Data["k"] = "2"
	require.NoError(t, direct.Update(t.Context(), cm))
	copied("2", "changed")
	require.NoError(t, direct.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "cm"}}))
	copied("2", "the copy was deleted by hand")
}

func inNamespace(ns string) manager.Options {
	return manager.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	}
}

// run runs a manager until the test ends.
func run(t *testing.T, mgr manager.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		mgr.GetHTTPClient().CloseIdleConnections()
	})
	select {
	case <-mgr.Elected():
	case err := <-done:
		t.Fatal(fmt.Errorf("manager ended: %w", err))
	}
}
