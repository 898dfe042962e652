package controller

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	// The metadata watches of controller-runtime's cache leave a goroutine behind when they are stopped
	// while an event is on its way; ours do not (chapter 1, gvk_fixup_watcher.go).
	controlplane.Main(m, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}

// runtimes are what the operator runs on; every test runs on each.
var runtimes = map[string]assembly.Layers{
	"chapters":           {},
	"controller-runtime": assembly.ControllerRuntime,
}

// world is one test's view of a cluster in which the operator runs. Names carry a
// suffix of the test's own, so that tests share the cluster and do not meet.
type world struct {
	*testing.T
	client.Client
	suffix string
	cfg    *rest.Config
	ctx    context.Context
}

// onEachRuntime runs a test with the operator started on each runtime.
func onEachRuntime(t *testing.T, test func(w *world)) {
	for name, layers := range runtimes {
		t.Run(name, func(t *testing.T) {
			cfg := controlplane.Config(t)
			_, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{"../config/crd"}})
			require.NoError(t, err)
			scheme, err := NewScheme()
			require.NoError(t, err)
			c, err := client.New(cfg, client.Options{Scheme: scheme})
			require.NoError(t, err)
			w := &world{T: t, Client: c, cfg: cfg, ctx: t.Context(),
				suffix: fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano()%1e9)}

			mgr, err := assembly.NewManager(cfg, manager.Options{
				Scheme: scheme, Cache: CacheOptions(),
				Metrics:    metricsserver.Options{BindAddress: "0"},
				Controller: config.Controller{SkipNameValidation: ptr.To(true)},
			}, layers)
			require.NoError(t, err)
			r := &Reconciler{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("mirror-operator")}
			require.NoError(t, r.SetupWithManager(mgr, layers))

			ctx, stop := context.WithCancel(context.Background())
			stopped := make(chan error, 1)
			go func() { stopped <- mgr.Start(ctx) }()
			t.Cleanup(func() {
				w.ctx = context.Background()
				var mirrors v1alpha1.MirrorList
				if err := c.List(w.ctx, &mirrors); err == nil {
					for i := range mirrors.Items {
						_ = c.Delete(w.ctx, &mirrors.Items[i])
					}
					w.eventually("every Mirror is gone", func() error {
						if err := c.List(w.ctx, &mirrors); err != nil || len(mirrors.Items) == 0 {
							return err
						}
						return fmt.Errorf("%d left, the first %s", len(mirrors.Items), mirrors.Items[0].Name)
					})
				}
				stop()
				require.NoError(t, <-stopped)
			})
			test(w)
		})
	}
}

// eventually waits until check finds nothing wrong, and reports what it last found.
func (w *world) eventually(reason string, check func() error) {
	w.Helper()
	var last error
	for deadline := time.Now().Add(20 * time.Second); ; {
		if last = check(); last == nil {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("not within 20 s: %s: %v", reason, last)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (w *world) name(base string) string { return base + "-" + w.suffix }

// namespace makes a namespace with the labels and returns its name.
func (w *world) namespace(base string, labels map[string]string) string {
	w.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name(base), Labels: labels}}
	require.NoError(w, w.Create(w.ctx, ns))
	return ns.Name
}

// team are the labels that this test's Mirror selects.
func (w *world) team() map[string]string { return map[string]string{"team": w.suffix} }

// source makes the Secret that is mirrored, in a namespace of its own.
func (w *world) source(data map[string]string) *corev1.Secret {
	w.Helper()
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace("platform", nil), Name: w.name("pull")},
		StringData: data,
	}
	require.NoError(w, w.Create(w.ctx, s))
	return s
}

// mirror makes a Mirror of source for this test's team.
func (w *world) mirror(source client.Object, edit ...func(*v1alpha1.Mirror)) *v1alpha1.Mirror {
	w.Helper()
	m := &v1alpha1.Mirror{
		ObjectMeta: metav1.ObjectMeta{Name: w.name("mirror")},
		Spec: v1alpha1.MirrorSpec{
			Source:            v1alpha1.SourceReference{Kind: kindOf(source), Namespace: source.GetNamespace(), Name: source.GetName()},
			NamespaceSelector: metav1.LabelSelector{MatchLabels: w.team()},
		},
	}
	for _, e := range edit {
		e(m)
	}
	require.NoError(w, w.Create(w.ctx, m))
	return m
}

// secret reads the copy in a namespace, waiting until it holds the data.
func (w *world) secret(namespace, name string, data map[string]string) *corev1.Secret {
	w.Helper()
	s := &corev1.Secret{}
	w.eventually("a copy with the source's data in "+namespace, func() error {
		if err := w.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
			return err
		}
		got := map[string]string{}
		for k, v := range s.Data {
			got[k] = string(v)
		}
		if fmt.Sprint(got) != fmt.Sprint(data) {
			return fmt.Errorf("has %v, want %v", got, data)
		}
		return nil
	})
	return s
}

// gone waits until an object does not exist.
func (w *world) gone(obj client.Object, reason string) {
	w.Helper()
	key := client.ObjectKeyFromObject(obj)
	w.eventually(fmt.Sprintf("%s: %s is gone", reason, key), func() error {
		err := w.Get(w.ctx, key, obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it still exists (%v)", err)
	})
}

// condition waits until the Mirror's condition has the status and reason, for its
// current generation.
func (w *world) condition(m *v1alpha1.Mirror, kind string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	w.Helper()
	var c *metav1.Condition
	w.eventually(fmt.Sprintf("%s=%s (%s)", kind, status, reason), func() error {
		if err := w.Get(w.ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err
		}
		c = meta.FindStatusCondition(m.Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason || c.ObservedGeneration != m.Generation {
			return fmt.Errorf("generation %d, condition %+v", m.Generation, c)
		}
		return nil
	})
	return c
}
