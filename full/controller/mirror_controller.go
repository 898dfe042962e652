package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
)

// Reconciler brings the copies of one Mirror in line with its source.
//
// It holds no state between calls: whatever it knows it reads from the caches, so
// that it may be stopped at any point and started again.
type Reconciler struct {
	// Client reads Mirrors, copies and namespaces from the manager's cache and
	// writes to the API server.
	client.Client
	// Live reads from the API server: the source's data, and the labelled copies of a
	// Mirror that goes.
	Live client.Reader
	// Objects reads the identity of every Secret and ConfigMap from the second
	// cache; SetupWithManager sets it.
	Objects client.Reader
	// Recorder takes an event when the Ready condition changes.
	Recorder events.EventRecorder
}

// +kubebuilder:rbac:groups=walkthrough.example.com,resources=mirrors,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=walkthrough.example.com,resources=mirrors/status,verbs=patch
// +kubebuilder:rbac:groups=walkthrough.example.com,resources=mirrors/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// Leader election: the lease, and events about it, which are of the old kind.
// +kubebuilder:rbac:groups="",namespace=mirror-system,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=mirror-system,resources=leases,verbs=get;create;update

// Reconcile makes one pass over one Mirror.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	mirror := &v1alpha1.Mirror{}
	if err := r.Get(ctx, req.NamespacedName, mirror); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !mirror.DeletionTimestamp.IsZero() {
		// Nothing may follow: once the last finalizer is off, the object is gone.
		return soonIfStale(r.finalize(ctx, mirror))
	}
	err := r.setFinalizer(ctx, mirror, controllerutil.AddFinalizer)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, nil // gone meanwhile
	}
	if err != nil {
		return soonIfStale(fmt.Errorf("adding the finalizer to Mirror %s: %w", mirror.Name, err))
	}
	out := r.sync(ctx, mirror)
	err = errStale // a pass that was half wrong has nothing to report
	if !out.stale {
		err = r.writeStatus(ctx, mirror, out)
	}
	return soonIfStale(errors.Join(out.err(), err))
}

// staleDelay is what a cache gets to catch up.
const staleDelay = 100 * time.Millisecond

// soonIfStale ends a pass. What failed is tried again after a delay that grows;
// what was only decided on an old state soon, and without an error in the log.
func soonIfStale(err error) (ctrl.Result, error) {
	if errors.Is(err, errStale) {
		return ctrl.Result{RequeueAfter: staleDelay}, nil
	}
	return ctrl.Result{}, err
}

// sync writes and deletes copies until they are as the spec wants them. An error
// in one namespace does not keep the others waiting.
func (r *Reconciler) sync(ctx context.Context, mirror *v1alpha1.Mirror) *outcome {
	out := &outcome{}
	targets, err := r.targets(ctx, mirror)
	if err != nil {
		return out.failed(err)
	}
	out.desired = len(targets.serve)

	copies, err := r.copiesOf(ctx, mirror)
	if err != nil {
		return out.failed(err)
	}
	have := map[string]client.Object{} // by namespace
	for _, c := range copies {
		switch {
		case targets.wanted(mirror, c):
			have[c.GetNamespace()] = c
		case !targets.spared(mirror, c):
			out.add(c.GetNamespace(), r.release(ctx, mirror, c))
		}
	}

	source, err := r.readSource(ctx, mirror)
	if err != nil {
		return out.failed(err)
	}
	for _, namespace := range targets.sorted() {
		if err := ctx.Err(); err != nil {
			return out.failed(err)
		}
		err := r.syncCopy(ctx, mirror, source, namespace, have[namespace])
		if err == nil {
			out.synced++
		}
		out.add(namespace, source.withhold(err))
	}
	return out
}

// finalize deletes or releases all copies and lets the Mirror go.
func (r *Reconciler) finalize(ctx context.Context, mirror *v1alpha1.Mirror) error {
	if !controllerutil.ContainsFinalizer(mirror, Finalizer) {
		return nil
	}
	copies, err := r.lastCopiesOf(ctx, mirror)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range copies {
		errs = append(errs, r.release(ctx, mirror, c))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cleaning up after Mirror %s: %w", mirror.Name, err)
	}
	return client.IgnoreNotFound(r.setFinalizer(ctx, mirror, controllerutil.RemoveFinalizer))
}

// setFinalizer patches the list of finalizers where change changed it. The lock
// on the resourceVersion keeps it from undoing what another controller did to the
// list, which a merge patch replaces whole.
func (r *Reconciler) setFinalizer(ctx context.Context, mirror *v1alpha1.Mirror, change func(client.Object, string) bool) error {
	before := mirror.DeepCopy()
	if !change(mirror, Finalizer) {
		return nil
	}
	return staleIfConflict(r.Patch(ctx, mirror, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}),
		client.FieldOwner(FieldManager)))
}
