package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// conflict says that another object stands where a copy should.
type conflict struct{ why string }

func (c *conflict) Error() string { return c.why }

// claim decides whether the copy at key may be written, and returns what stands
// there, nil if nothing does. It errs with a *conflict if that is not ours.
//
// The second cache answers, and may lag. That does no harm, because the write that
// follows is good for exactly the state that was seen here, and for no other.
func (r *Reconciler) claim(ctx context.Context, mirror *v1alpha1.Mirror, key client.ObjectKey) (client.Object, error) {
	standing := newMetadata(mirror.Spec.Source.Kind)
	err := r.Objects.Get(ctx, key, standing)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking at what stands there: %w", err)
	}
	return standing, r.mayWrite(ctx, mirror, standing)
}

// mayWrite is nil if the Mirror may write over what stands in a place.
func (r *Reconciler) mayWrite(ctx context.Context, mirror *v1alpha1.Mirror, standing client.Object) error {
	owner := metav1.GetControllerOf(standing)
	switch {
	case owner != nil && owner.UID == mirror.UID:
		return nil
	case owner != nil && isMirror(owner):
		return r.claimFromMirror(ctx, mirror, owner)
	case mirror.Spec.ConflictPolicy != v1alpha1.Overwrite:
		return &conflict{why: "an object that is not a copy has this name"}
	case owner != nil:
		return &conflict{why: fmt.Sprintf("the object belongs to %s %s", owner.Kind, owner.Name)}
	}
	return nil
}

// claimFromMirror settles two Mirrors that want the same place: the older wins,
// and of two equally old the first by name. What a Mirror that is gone left behind
// is free.
func (r *Reconciler) claimFromMirror(ctx context.Context, mirror *v1alpha1.Mirror, owner *metav1.OwnerReference) error {
	other := &v1alpha1.Mirror{}
	err := r.Get(ctx, client.ObjectKey{Name: owner.Name}, other)
	if apierrors.IsNotFound(err) || err == nil && other.UID != owner.UID {
		return nil
	}
	if err != nil {
		return err
	}
	mine, theirs := mirror.CreationTimestamp, other.CreationTimestamp
	if mine.Before(&theirs) || mine.Equal(&theirs) && mirror.Name < other.Name {
		return nil
	}
	return &conflict{why: "it is a copy that the older Mirror " + other.Name + " keeps"}
}

func isMirror(owner *metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupVersion.Group && owner.Kind == "Mirror"
}
