package builder_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// not refuses the objects of a name.
func not(name string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() != name })
}

// TestUnderControllerRuntime: For, Owns, Watches and a raw source bring their
// requests to Reconcile, under a manager that knows nothing of us.
func TestUnderControllerRuntime(t *testing.T) {
	controllers := map[string]func(*builder.Builder) *builder.Builder{
		"our default":                     func(b *builder.Builder) *builder.Builder { return b },
		"controller-runtime's controller": func(b *builder.Builder) *builder.Builder { return b.WithNewController(controller.New) },
		"controller-runtime's builder":    func(b *builder.Builder) *builder.Builder { return b.WithBuild(builder.ControllerRuntime) },
	}
	for name, choose := range controllers {
		t.Run(name, func(t *testing.T) {
			cfg := controlplane.Config(t)
			ns := controlplane.Namespace(t, cfg)
			mgr, err := manager.New(cfg, manager.Options{
				Metrics:    metricsserver.Options{BindAddress: "0"},
				Controller: config.Controller{SkipNameValidation: new(true)},
				Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
			})
			require.NoError(t, err)

			got := make(chan string, 100)
			ticks := make(chan event.GenericEvent)
			named := func(name string) handler.MapFunc {
				return func(_ context.Context, o client.Object) []reconcile.Request {
					if _, ok := o.(*metav1.PartialObjectMetadata); ok {
						name += "-by-metadata"
					}
					return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name + "-" + o.GetName()}}}
				}
			}
			require.NoError(t, choose(builder.ControllerManagedBy(mgr)).
				WithEventFilter(not("filtered")).
				For(&appsv1.Deployment{}, builder.WithPredicates(not("refused"))).
				Owns(&corev1.ConfigMap{}, builder.MatchEveryOwner).
				Watches(&corev1.ServiceAccount{}, handler.EnqueueRequestsFromMapFunc(named("mapped")), builder.OnlyMetadata).
				WatchesRawSource(source.Channel(ticks, handler.EnqueueRequestsFromMapFunc(named("tick")))).
				Complete(reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
					got <- req.String()
					return reconcile.Result{}, nil
				})))
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- mgr.Start(ctx) }()
			defer func() {
				cancel()
				require.NoError(t, <-ended)
			}()
			expect := func(want string) {
				t.Helper()
				select {
				case req := <-got:
					require.Equal(t, want, req)
				case <-time.After(20 * time.Second):
					t.Fatalf("no request %s within 20 s", want)
				}
			}
			meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }
			cl, err := client.New(cfg, client.Options{})
			require.NoError(t, err)

			for _, name := range []string{"filtered", "refused", "d"} {
				require.NoError(t, cl.Create(t.Context(), &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{
					Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
					Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
						Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
				}}))
			}
			expect(ns + "/d")

			child := &corev1.ConfigMap{ObjectMeta: meta("child")}
			child.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "owner", UID: "u"}}
			require.NoError(t, cl.Create(t.Context(), child))
			expect(ns + "/owner")

			require.NoError(t, cl.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta("sa")}))
			expect("/mapped-by-metadata-sa")

			ticks <- event.GenericEvent{Object: child}
			expect("/tick-child")
		})
	}
}
