package assembly_test

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	crcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	. "github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
)

// counting returns the layers with a count of what reaches the reconciler.
func counting(l Layers, n *atomic.Int64) Layers {
	l = l.WithDefaults()
	counted := func(o crcontroller.Options) crcontroller.Options {
		r := o.Reconciler
		o.Reconciler = reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			n.Add(1)
			return r.Reconcile(ctx, req)
		})
		return o
	}
	newController, build := l.NewController, l.Build
	l.NewController = func(name string, m manager.Manager, o crcontroller.Options) (crcontroller.Controller, error) {
		return newController(name, m, counted(o))
	}
	if build != nil {
		l.Build = func(name string, m manager.Manager, said builder.Inputs[reconcile.Request], o crcontroller.Options) (crcontroller.Controller, error) {
			return build(name, m, said, counted(o))
		}
	}
	return l
}

// startMirrors starts the Mirror operator on the layers; what it returns stops it.
func startMirrors(t *testing.T, cfg *rest.Config, layers Layers) (stop func()) {
	t.Helper()
	scheme, err := controller.NewScheme()
	require.NoError(t, err)
	mgr, err := NewManager(cfg, manager.Options{
		Scheme: scheme, Cache: controller.CacheOptions(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	}, layers)
	require.NoError(t, err)
	r := &controller.Reconciler{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(controller.FieldManager)}
	require.NoError(t, r.SetupWithManager(mgr, layers))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
		mgr.GetHTTPClient().CloseIdleConnections()
	}
}

// stepLimit is for one step; a whole life takes a second or two. Short, so that many failures end before
// go test's own limit.
const stepLimit = 20 * time.Second

// mirrorLife is one Mirror's, and what it needs of the cluster. The server makes up the names.
type mirrorLife struct {
	*testing.T
	client.Client
	ctx        context.Context
	source     *corev1.Secret
	mirror     *v1alpha1.Mirror
	namespaces []*corev1.Namespace
}

// liveMirror runs a Mirror's whole life, and leaves nothing behind.
func liveMirror(t *testing.T, c client.Client) {
	l := &mirrorLife{T: t, Client: c, ctx: context.Background()}
	defer l.clear()
	platform, one, late := l.namespace(false), l.namespace(true), l.namespace(false)

	l.source = &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: platform.Name, Name: "pull"},
		Data:       map[string][]byte{"user": []byte("a")},
	}
	require.NoError(t, l.Create(l.ctx, l.source))
	l.mirror = &v1alpha1.Mirror{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "matrix-"},
		Spec: v1alpha1.MirrorSpec{
			Source:            v1alpha1.SourceReference{Kind: v1alpha1.Secret, Namespace: platform.Name, Name: "pull"},
			NamespaceSelector: metav1.LabelSelector{MatchLabels: l.team()},
		},
	}
	require.NoError(t, l.Create(l.ctx, l.mirror))
	made := l.copied(one, "a", "the Mirror is made")
	l.condition(v1alpha1.Ready, metav1.ConditionTrue, "all copies are there")

	made.Data["user"] = []byte("drifted")
	require.NoError(t, l.Update(l.ctx, made))
	l.copied(one, "a", "a copy was changed by hand")
	require.NoError(t, l.Delete(l.ctx, made))
	l.copied(one, "a", "a copy was deleted by hand")

	two := l.namespace(true)
	l.copied(two, "a", "a namespace is new")
	l.label(late)
	l.copied(late, "a", "a namespace got the label")

	l.source.Data["user"] = []byte("b")
	require.NoError(t, l.Update(l.ctx, l.source))
	for _, ns := range []*corev1.Namespace{one, two, late} {
		l.copied(ns, "b", "the source changed")
	}

	taken := l.namespace(false)
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: taken.Name, Name: "pull"}}
	require.NoError(t, l.Create(l.ctx, foreign))
	l.label(taken)
	l.condition(v1alpha1.Conflicted, metav1.ConditionTrue, "a foreign Secret stands where the copy should")
	require.NoError(t, l.Delete(l.ctx, foreign))
	l.copied(taken, "b", "the conflict was resolved by hand")
	l.condition(v1alpha1.Conflicted, metav1.ConditionFalse, "the conflict was resolved by hand")

	require.NoError(t, l.Delete(l.ctx, l.source))
	l.condition(v1alpha1.SourceAvailable, metav1.ConditionFalse, "the source is deleted")
	l.copied(one, "b", "copies outlive their source")
	l.source.ResourceVersion, l.source.UID = "", ""
	l.source.Data["user"] = []byte("c")
	require.NoError(t, l.Create(l.ctx, l.source))
	all := []*corev1.Namespace{one, two, late, taken}
	for _, ns := range all {
		l.copied(ns, "c", "the source is made again")
	}
	l.condition(v1alpha1.Ready, metav1.ConditionTrue, "the source is made again")
	require.EqualValues(t, len(all), l.mirror.Status.Synced)

	require.NoError(t, l.Delete(l.ctx, l.mirror))
	l.gone(l.mirror, "the finalizer is taken off")
	for _, ns := range all {
		l.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "pull"}}, "a copy goes with its Mirror")
	}
	require.NoError(t, l.Get(l.ctx, client.ObjectKeyFromObject(l.source), l.source), "the source stays")
}

// team are the labels that this life's Mirror selects: the first namespace names them.
func (l *mirrorLife) team() map[string]string { return map[string]string{"team": l.namespaces[0].Name} }

func (l *mirrorLife) namespace(ofTeam bool) *corev1.Namespace {
	l.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "matrix-"}}
	if ofTeam {
		ns.Labels = l.team()
	}
	require.NoError(l, l.Create(l.ctx, ns))
	l.namespaces = append(l.namespaces, ns)
	return ns
}

func (l *mirrorLife) label(ns *corev1.Namespace) {
	l.Helper()
	maps.Copy(ns.Labels, l.team()) // the server has put the name there
	require.NoError(l, l.Update(l.ctx, ns))
}

// eventually waits until check finds nothing wrong, and reports what it last found.
func (l *mirrorLife) eventually(reason string, check func() error) {
	l.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(stepLimit); ; {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			require.NoError(l, err, "not within %s: %s", stepLimit, reason)
		}
	}
}

// copied waits until the copy in a namespace holds the user.
func (l *mirrorLife) copied(ns *corev1.Namespace, user, reason string) *corev1.Secret {
	l.Helper()
	s := &corev1.Secret{}
	l.eventually(reason, func() error {
		if err := l.Get(l.ctx, client.ObjectKey{Namespace: ns.Name, Name: "pull"}, s); err != nil {
			return err
		}
		if got := string(s.Data["user"]); got != user || !metav1.IsControlledBy(s, l.mirror) {
			return fmt.Errorf("the copy in %s holds %q of %v, want %q", ns.Name, got, s.OwnerReferences, user)
		}
		return nil
	})
	return s
}

func (l *mirrorLife) condition(kind string, status metav1.ConditionStatus, reason string) {
	l.Helper()
	l.eventually(reason, func() error {
		if err := l.Get(l.ctx, client.ObjectKeyFromObject(l.mirror), l.mirror); err != nil {
			return err
		}
		if c := meta.FindStatusCondition(l.mirror.Status.Conditions, kind); c == nil || c.Status != status {
			return fmt.Errorf("want %s=%s: %+v", kind, status, l.mirror.Status)
		}
		return nil
	})
}

func (l *mirrorLife) gone(obj client.Object, reason string) {
	l.Helper()
	l.eventually(reason, func() error {
		err := l.Get(l.ctx, client.ObjectKeyFromObject(obj), obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("%T %s still exists (%v)", obj, client.ObjectKeyFromObject(obj), err)
	})
}

// clear removes what is left, by force: the next operator starts on a clean cluster though this one
// failed, and nobody but us removes namespaces here.
func (l *mirrorLife) clear() {
	if l.mirror != nil && l.Get(l.ctx, client.ObjectKeyFromObject(l.mirror), l.mirror) == nil {
		_ = l.Delete(l.ctx, l.mirror)
		_ = l.Patch(l.ctx, l.mirror, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	}
	for _, ns := range l.namespaces {
		_ = l.DeleteAllOf(l.ctx, &corev1.Secret{}, client.InNamespace(ns.Name))
		_ = l.Delete(l.ctx, ns)
		ns.Spec.Finalizers, ns.ResourceVersion = nil, ""
		_ = l.SubResource("finalize").Update(l.ctx, ns)
	}
}
