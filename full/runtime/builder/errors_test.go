package builder_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	upstream "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
)

// unregistered is a type that no scheme knows.
type unregistered struct{ corev1.Pod }

func (u *unregistered) DeepCopyObject() runtime.Object { return u }

func TestBuildErrors(t *testing.T) {
	mgr := newManager(t, nil)
	withReconciler := controller.Options{Reconciler: noop}
	cases := map[string]struct {
		reason   string
		ours     func() error
		upstream func() error
		want     string
	}{
		"NoReconciler": {"nothing to run",
			func() error { return builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).Complete(nil) },
			func() error { return upstream.ControllerManagedBy(mgr).For(&corev1.Pod{}).Complete(nil) },
			"must provide a non-nil Reconciler"},
		"NoManager": {"nothing to run it",
			func() error { return builder.ControllerManagedBy(nil).For(&corev1.Pod{}).Complete(noop) },
			func() error { return upstream.ControllerManagedBy(nil).For(&corev1.Pod{}).Complete(noop) },
			"must provide a non-nil Manager"},
		"ForTwice": {"a request has one meaning",
			func() error {
				return builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).For(&corev1.Node{}).Complete(noop)
			},
			func() error {
				return upstream.ControllerManagedBy(mgr).For(&corev1.Pod{}).For(&corev1.Node{}).Complete(noop)
			},
			"For(...) should only be called once, could not assign multiple objects for reconciliation"},
		"NoName": {"metrics need one",
			func() error { return builder.ControllerManagedBy(mgr).Complete(noop) },
			func() error { return upstream.ControllerManagedBy(mgr).Complete(noop) },
			"one of For() or Named() must be called"},
		"OwnsWithoutFor": {"there is no owner",
			func() error { return builder.ControllerManagedBy(mgr).Named("n").Owns(&corev1.Pod{}).Complete(noop) },
			func() error { return upstream.ControllerManagedBy(mgr).Named("n").Owns(&corev1.Pod{}).Complete(noop) },
			"Owns() can only be used together with For()"},
		"NoWatches": {"it would never run",
			func() error { return builder.ControllerManagedBy(mgr).Named("n").Complete(noop) },
			func() error { return upstream.ControllerManagedBy(mgr).Named("n").Complete(noop) },
			"there are no watches configured"},
		"TwoReconcilers": {"which one?",
			func() error {
				return builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).WithOptions(withReconciler).Complete(noop)
			},
			func() error {
				return upstream.ControllerManagedBy(mgr).For(&corev1.Pod{}).WithOptions(withReconciler).Complete(noop)
			},
			"reconciler was set via WithOptions() and via Build() or Complete()"},
		"UnregisteredFor": {"the kind is unknown",
			func() error { return builder.ControllerManagedBy(mgr).For(&unregistered{}).Complete(noop) },
			func() error { return upstream.ControllerManagedBy(mgr).For(&unregistered{}).Complete(noop) },
			"no kind is registered for the type builder_test.unregistered in scheme"},
		"UnregisteredMetadata": {"the kind is unknown",
			func() error {
				return builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).Owns(&unregistered{}, builder.OnlyMetadata).Complete(noop)
			},
			func() error {
				return upstream.ControllerManagedBy(mgr).For(&corev1.Pod{}).Owns(&unregistered{}, upstream.OnlyMetadata).Complete(noop)
			},
			"unable to determine GVK of *builder_test.unregistered for a metadata-only watch"},
		"ForWithOtherRequest": {"For enqueues reconcile.Requests",
			func() error {
				return builder.TypedControllerManagedBy[string](mgr).For(&corev1.Pod{}).Complete(stringReconciler)
			},
			func() error {
				return upstream.TypedControllerManagedBy[string](mgr).For(&corev1.Pod{}).Complete(stringReconciler)
			},
			"For() can only be used with reconcile.Request, got string"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, tc.ours(), tc.want, tc.reason)
			require.ErrorContains(t, tc.upstream(), tc.want, "upstream says the same")
		})
	}
}

var stringReconciler = reconcile.TypedFunc[string](func(context.Context, string) (reconcile.Result, error) { return reconcile.Result{}, nil })

// TestBuildErrorsOfOurs: what upstream finds out when the controller starts, or
// when the first event comes.
func TestBuildErrorsOfOurs(t *testing.T) {
	mgr := newManager(t, nil)
	cases := map[string]struct {
		build *builder.Builder
		want  string
	}{
		"NilFor":           {builder.ControllerManagedBy(mgr).For((*corev1.Pod)(nil)), "For() needs a non-nil object"},
		"NilOwns":          {builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).Owns(nil), "Owns() needs a non-nil object"},
		"NilWatches":       {builder.ControllerManagedBy(mgr).Named("n").Watches(nil, nil), "Watches() needs a non-nil object"},
		"NilHandler":       {builder.ControllerManagedBy(mgr).Named("n").Watches(&corev1.Pod{}, nil), "non-nil handler"},
		"NilRaw":           {builder.ControllerManagedBy(mgr).Named("n").WatchesRawSource(nil), "WatchesRawSource() needs a non-nil source"},
		"NilEventFilter":   {builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).WithEventFilter(nil), "non-nil predicates"},
		"NilNewController": {builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).WithNewController(nil), "WithNewController"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, tc.build.Complete(noop), tc.want) })
	}
}

func TestBuildPassesErrorsOn(t *testing.T) {
	mgr := newManager(t, nil)
	boom := errors.New("boom")
	err := builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).WithNewController(
		func(string, manager.Manager, controller.Options) (controller.Controller, error) { return nil, boom }).Complete(noop)
	require.ErrorIs(t, err, boom, "what the controller says")

	err = builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).WithNewController(
		func(string, manager.Manager, controller.Options) (controller.Controller, error) {
			return refusing{err: boom}, nil
		}).Complete(noop)
	require.ErrorIs(t, err, boom, "what its Watch says")
}

// TestFailedBuildLeavesNothing: upstream makes the controller first, so that a
// second attempt fails on the name and the first controller runs without watches.
func TestFailedBuildLeavesNothing(t *testing.T) {
	made := 0
	mgr := newManager(t, nil)
	b := builder.ControllerManagedBy(mgr).For(&appsv1.Deployment{}).Owns(nil).WithNewController(
		func(string, manager.Manager, controller.Options) (controller.Controller, error) {
			made++
			return nil, errors.New("not reached")
		})
	require.ErrorContains(t, b.Complete(noop), "Owns() needs a non-nil object")
	assert.Zero(t, made, "the controller must be made last: making it adds it to the manager")
}

type refusing struct {
	controller.Controller
	err error
}

func (r refusing) Watch(source.Source) error { return r.err }
