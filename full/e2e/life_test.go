// Package e2e runs the life of a Mirror on a control plane that has controllers,
// too: namespaces really go, and garbage is really collected. The operator is
// installed as the README says, has the rights of the generated roles and no others,
// and holds its lease. `make e2e` runs it.
package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/config/configtest"
	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func TestLifeOfAMirror(t *testing.T) {
	if os.Getenv("MIRROR_E2E") == "" {
		t.Skip("needs kube-controller-manager, which takes minutes to build: run make e2e")
	}
	cp, err := controlplane.Start(t.Context(), controlplane.Options{Progress: controlplane.Terminal(), ControllerManager: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cp.Stop()) })
	configtest.Install(t, cp.Config(), "../config")
	for name, layers := range map[string]assembly.Layers{"chapters": {}, "controller-runtime": assembly.ControllerRuntime} {
		t.Run(name, func(t *testing.T) { life(t, cp.Config(), layers) })
	}
}

// cluster is a test's view of the control plane.
type cluster struct {
	*testing.T
	client.Client
}

func life(t *testing.T, cfg *rest.Config, layers assembly.Layers) {
	scheme, err := controller.NewScheme()
	require.NoError(t, err)
	inner, err := client.New(cfg, client.Options{Scheme: scheme})
	require.NoError(t, err)
	c := &cluster{t, inner}
	stop := c.operate(cfg, layers)
	defer func() { stop() }()
	team := map[string]string{"team": "e2e"}

	c.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "platform"}})
	source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "pull"}, StringData: map[string]string{"user": "a"}}
	c.make(source)
	c.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: team}})
	m := newMirror(team)
	c.make(m)
	first := c.copy("one", "a")

	// A namespace goes, with the copy in it, and comes again under its name.
	c.remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "one"}})
	c.synced(m, 0)
	c.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: team}})
	again := c.copy("one", "a")
	assert.NotEqual(t, first.UID, again.UID)
	c.synced(m, 1)

	// While nobody operates, one goes and comes again, the source changes, and one comes.
	stop()
	c.remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "one"}})
	c.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: team}})
	c.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "two", Labels: team}})
	source.StringData = map[string]string{"user": "b"}
	require.NoError(t, c.Update(t.Context(), source))
	stop = c.operate(cfg, layers)
	c.copy("one", "b")
	c.copy("two", "b")
	c.synced(m, 2)

	// The namespace of the source goes: the copies stay, until it is there again.
	c.remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "platform"}})
	c.copy("one", "b")
	c.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "platform"}})
	c.make(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "pull"}, StringData: map[string]string{"user": "c"}})
	c.copy("one", "c")
	c.synced(m, 2)

	// The Mirror goes, and comes again at once: the copies are those of the new one.
	c.remove(m)
	m = newMirror(team)
	c.make(m)
	c.synced(m, 2)
	assert.True(t, metav1.IsControlledBy(c.copy("one", "c"), m))

	// The Mirror goes without the operator: its copies are garbage, and are collected.
	stop()
	orphan := c.copy("two", "c")
	require.NoError(t, c.Patch(t.Context(), m, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
	c.remove(m)
	c.gone(orphan)
	stop = c.operate(cfg, layers)

	// Retained copies are no garbage.
	m = newMirror(team)
	m.Spec.DeletionPolicy = v1alpha1.Retain
	c.make(m)
	c.synced(m, 2)
	kept := c.copy("one", "c")
	c.remove(m)
	// One that was made garbage on purpose shows when the collector has been here.
	marker := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "marker", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Mirror", Name: m.Name, UID: m.UID}}}}
	c.make(marker)
	c.gone(marker)
	assert.Equal(t, kept.UID, c.copy("one", "c").UID)

	for _, ns := range []string{"one", "two", "platform"} {
		c.remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	}
}

func newMirror(team map[string]string) *v1alpha1.Mirror {
	return &v1alpha1.Mirror{
		ObjectMeta: metav1.ObjectMeta{Name: "pull"},
		Spec: v1alpha1.MirrorSpec{
			Source:            v1alpha1.SourceReference{Kind: v1alpha1.Secret, Namespace: "platform", Name: "pull"},
			NamespaceSelector: metav1.LabelSelector{MatchLabels: team},
		},
	}
}

// operate starts the operator and returns what stops it.
func (c *cluster) operate(cfg *rest.Config, layers assembly.Layers) (stop func()) {
	c.Helper()
	cfg = configtest.AsOperator(cfg)
	configtest.Denied(cfg, func(message string) { c.Errorf("the generated roles do not allow it: %s", message) })
	mgr, err := assembly.NewManager(cfg, ctrl.Options{
		Scheme: c.Scheme(), Cache: controller.CacheOptions(),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Controller:              config.Controller{SkipNameValidation: ptr.To(true)},
		LeaderElection:          true,
		LeaderElectionID:        "mirror-operator.walkthrough.example.com",
		LeaderElectionNamespace: configtest.Namespace, LeaderElectionReleaseOnCancel: true,
	}, layers)
	require.NoError(c, err)
	r := &controller.Reconciler{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(controller.FieldManager)}
	require.NoError(c, r.SetupWithManager(mgr, layers))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stopped := false
	return func() {
		if !stopped {
			stopped = true
			cancel()
			assert.NoError(c, <-done)
		}
	}
}

// eventually waits until check finds nothing wrong.
func (c *cluster) eventually(reason string, check func() error) {
	c.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(100 * time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.Fatalf("not within two minutes: %s: %v", reason, err)
		}
	}
}

func (c *cluster) make(obj client.Object) {
	c.Helper()
	require.NoError(c, c.Create(c.Context(), obj))
}

// remove deletes an object and waits until it is really gone.
func (c *cluster) remove(obj client.Object) {
	c.Helper()
	require.NoError(c, c.Delete(c.Context(), obj))
	c.gone(obj)
}

func (c *cluster) gone(obj client.Object) {
	c.Helper()
	c.eventually(client.ObjectKeyFromObject(obj).String()+" goes", func() error {
		err := c.Get(c.Context(), client.ObjectKeyFromObject(obj), obj.DeepCopyObject().(client.Object))
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there (%v)", err)
	})
}

// copy waits for the copy in a namespace with the value that the source has.
func (c *cluster) copy(namespace, user string) *corev1.Secret {
	c.Helper()
	s := &corev1.Secret{}
	c.eventually("a copy in "+namespace, func() error {
		err := c.Get(c.Context(), client.ObjectKey{Namespace: namespace, Name: "pull"}, s)
		if err == nil && string(s.Data["user"]) != user {
			return fmt.Errorf("has user %s, want %s", s.Data["user"], user)
		}
		return err
	})
	return s
}

// synced waits until the Mirror is Ready with n copies.
func (c *cluster) synced(m *v1alpha1.Mirror, n int32) {
	c.Helper()
	c.eventually("the Mirror is ready", func() error {
		if err := c.Get(c.Context(), client.ObjectKeyFromObject(m), m); err != nil {
			return err
		}
		if m.Status.Desired != n || m.Status.Synced != n || !meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.Ready) {
			return fmt.Errorf("want %d copies, status is %+v", n, m.Status)
		}
		return nil
	})
}
