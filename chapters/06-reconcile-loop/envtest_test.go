package reconcileloop_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgo "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/controller"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/priorityqueue"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) { controlplane.Main(m) }

type (
	limiter = clientgo.TypedRateLimiter[reconcile.Request]
	queue   = clientgo.TypedRateLimitingInterface[reconcile.Request]
)

// TestReconcileLoopOnAServer runs each controller on each queue under
// controller-runtime's manager, with its cache and its Kind, on a real API server.
func TestReconcileLoopOnAServer(t *testing.T) {
	controllers := map[string]func(string, manager.Manager, crcontroller.Options) (crcontroller.Controller, error){
		"upstream": crcontroller.New,
		"chapters": controller.New,
	}
	queues := map[string]func(string, limiter) queue{
		"default": nil,
		"workqueue": func(name string, l limiter) queue {
			return workqueue.NewRateLimiting(l, workqueue.Config{Name: name})
		},
		"priority queue": func(name string, _ limiter) queue {
			return priorityqueue.New[reconcile.Request](name)
		},
	}
	for controllerName, newController := range controllers {
		for queueName, newQueue := range queues {
			t.Run(controllerName+" controller with "+queueName, func(t *testing.T) {
				cfg := controlplane.Config(t)
				ns := controlplane.Namespace(t, cfg)
				mgr, err := manager.New(cfg, manager.Options{
					Metrics: metricsserver.Options{BindAddress: "0"},
					Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
				})
				require.NoError(t, err)
				r := &copier{mgr: mgr, seen: map[string]int{}}
				c, err := newController(controllerName+" "+queueName, mgr, crcontroller.Options{
					Reconciler: r, NewQueue: newQueue, MaxConcurrentReconciles: 2, SkipNameValidation: new(true),
				})
				require.NoError(t, err)
				require.NoError(t, c.Watch(source.Kind(mgr.GetCache(), &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})))

				// One is there before the start, the others come later.
				require.NoError(t, mgr.GetClient().Create(t.Context(), configMap(ns, 0)))
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- mgr.Start(ctx) }()
				require.Eventually(t, func() bool { return r.calls("map-0") > 0 }, 30*time.Second, 10*time.Millisecond, "what is there is reconciled")
				for i := 1; i < 10; i++ {
					require.NoError(t, mgr.GetClient().Create(t.Context(), configMap(ns, i)))
				}
				for i := range 10 {
					name := fmt.Sprintf("map-%d", i)
					require.Eventually(t, func() bool {
						var cm corev1.ConfigMap
						err := mgr.GetAPIReader().Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, &cm)
						return err == nil && cm.Data["reconciled"] == "yes"
					}, 30*time.Second, 20*time.Millisecond, "%s fails once, is tried again, and is written", name)
				}
				cancel()
				require.NoError(t, <-ended)
			})
		}
	}
}

func configMap(ns string, i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("map-%d", i)}}
}

// copier writes into each ConfigMap that it was there, at the second try.
type copier struct {
	mgr manager.Manager

	mu   sync.Mutex // guards seen
	seen map[string]int
}

func (c *copier) calls(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[name]
}

func (c *copier) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c.mu.Lock()
	c.seen[req.Name]++
	call := c.seen[req.Name]
	c.mu.Unlock()
	if call == 1 {
		return reconcile.Result{}, errors.New("the first time fails")
	}
	var cm corev1.ConfigMap
	if err := c.mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, err
	}
	if cm.Data["reconciled"] == "yes" {
		return reconcile.Result{}, nil
	}
	cm.Data = map[string]string{"reconciled": "yes"}
	return reconcile.Result{}, c.mgr.GetClient().Update(ctx, &cm)
}
