package manager_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/manager"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

const patience = 60 * time.Second

// inNamespace are options for a manager that sees one namespace of the test's control plane.
func inNamespace(ns string, change ...func(*manager.Options)) manager.Options {
	o := manager.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// An operator on controller-runtime's builder: it copies the data of each ConfigMap into a Secret.
func TestOperatorOfUpstreamsBuilder(t *testing.T) {
	cfg := controlplane.Config(t)
	onBoth(t, func(t *testing.T, n newManager) {
		ns := controlplane.Namespace(t, cfg)
		mgr, err := n(cfg, inNamespace(ns))
		require.NoError(t, err)
		addCopier(t, mgr)
		start(t, mgr)
		t.Cleanup(mgr.GetHTTPClient().CloseIdleConnections)

		direct, err := client.New(cfg, client.Options{})
		require.NoError(t, err)
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "cm"}, Data: map[string]string{"k": "1"}}
		require.NoError(t, direct.Create(t.Context(), cm))
		eventuallyCopied(t, direct, cm, "1", "created")
		cm.Data["k"] = "2"
		require.NoError(t, direct.Update(t.Context(), cm))
		eventuallyCopied(t, direct, cm, "2", "changed")
		require.NoError(t, direct.Delete(t.Context(), &corev1.Secret{ObjectMeta: cm.ObjectMeta}))
		eventuallyCopied(t, direct, cm, "2", "the copy was deleted by hand")
	})
}

func addCopier(t *testing.T, mgr manager.Manager) {
	t.Helper()
	c := mgr.GetClient()
	require.NoError(t, builder.ControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(
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
}

func eventuallyCopied(t *testing.T, c client.Client, cm *corev1.ConfigMap, want, reason string) {
	t.Helper()
	require.Eventually(t, func() bool {
		var secret corev1.Secret
		return c.Get(t.Context(), client.ObjectKeyFromObject(cm), &secret) == nil && string(secret.Data["k"]) == want
	}, patience, 10*time.Millisecond, reason)
}

// Two replicas on a real lease: one leads, the other takes over when it stops.
func TestLeaderElection(t *testing.T) {
	cfg := controlplane.Config(t)
	onBoth(t, func(t *testing.T, n newManager) {
		ns := controlplane.Namespace(t, cfg)
		replica := func() manager.Manager {
			mgr, err := n(cfg, inNamespace(ns, func(o *manager.Options) {
				o.LeaderElection, o.LeaderElectionReleaseOnCancel = true, true
				o.LeaderElectionID, o.LeaderElectionNamespace = "lease", ns
				o.LeaderElectionLabels = map[string]string{"app": "test"}
				o.RetryPeriod = ptr.To(200 * time.Millisecond)
			}))
			require.NoError(t, err)
			t.Cleanup(mgr.GetHTTPClient().CloseIdleConnections)
			return mgr
		}
		direct, err := client.New(cfg, client.Options{})
		require.NoError(t, err)
		holder := func() string {
			var lease coordinationv1.Lease
			require.NoError(t, direct.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "lease"}, &lease))
			assert.Equal(t, "test", lease.Labels["app"])
			return ptr.Deref(lease.Spec.HolderIdentity, "")
		}

		first, second := replica(), replica()
		one := start(t, first)
		<-first.Elected()
		leader := holder()
		assert.NotEmpty(t, leader)
		two := start(t, second)
		select {
		case <-second.Elected():
			t.Fatal("two leaders")
		case <-time.After(time.Second): // not a wait for something: the second one has five tries
		}

		require.NoError(t, one.stop())
		<-second.Elected()
		assert.NotEqual(t, leader, holder())
		require.NoError(t, two.stop())
		assert.Empty(t, holder(), "given back")
	})
}

// The lease may live on another API server than the work. (Upstream's manager never stops the recorder
// of that server; goleak would fail for it.)
func TestLeaderElectionConfig(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	mgr := make1(t, ours.New, offline(func(o *manager.Options) {
		o.LeaderElection, o.LeaderElectionConfig = true, cfg
		o.LeaderElectionID, o.LeaderElectionNamespace = "lease", ns
	}))
	start(t, mgr)
	select {
	case <-mgr.Elected():
	case <-time.After(patience):
		t.Fatal("no lease")
	}
}
