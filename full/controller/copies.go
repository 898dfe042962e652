package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// readSource reads the source from the API server.
func (r *Reconciler) readSource(ctx context.Context, mirror *v1alpha1.Mirror) (content, error) {
	ref := mirror.Spec.Source
	obj := newObject(ref.Kind)
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, obj)
	if apierrors.IsNotFound(err) {
		return content{}, &problem{reason: reasonSourceMissing,
			err: fmt.Errorf("%s %s/%s does not exist; create it, or correct spec.source", ref.Kind, ref.Namespace, ref.Name)}
	}
	if err != nil {
		return content{}, fmt.Errorf("reading the source: %w", err)
	}
	if owner := metav1.GetControllerOf(obj); owner != nil && isMirror(owner) {
		return content{}, &problem{reason: reasonSourceIsCopy,
			err: fmt.Errorf("%s %s/%s is itself a copy that Mirror %s keeps; name the original, %s",
				ref.Kind, ref.Namespace, ref.Name, owner.Name, obj.GetAnnotations()[AnnotationSource])}
	}
	return contentOf(obj), nil
}

// copiesOf lists the copies of a Mirror, of both kinds, since the kind of its source
// may have changed: whole, from the cache of copies, and as metadata those that
// lost the label by which that cache selects.
func (r *Reconciler) copiesOf(ctx context.Context, mirror *v1alpha1.Mirror) ([]client.Object, error) {
	var secrets corev1.SecretList
	var configMaps corev1.ConfigMapList
	byOwner := client.MatchingFields{ownerIndex: string(mirror.UID)}
	if err := errors.Join(r.List(ctx, &secrets, byOwner), r.List(ctx, &configMaps, byOwner)); err != nil {
		return nil, fmt.Errorf("listing the copies of Mirror %s: %w", mirror.Name, err)
	}
	var all []client.Object
	for i := range secrets.Items {
		all = append(all, &secrets.Items[i])
	}
	for i := range configMaps.Items {
		all = append(all, &configMaps.Items[i])
	}
	strays, err := ownedBy(ctx, mirror, r.Objects, client.MatchingFields{strayIndex: string(mirror.UID)})
	return append(all, strays...), err
}

// lastCopiesOf lists, as metadata, the copies of a Mirror that goes. No cache has
// seen a copy that was written just now, so the API server is asked for what has
// the label; what lost its label is in the second cache.
func (r *Reconciler) lastCopiesOf(ctx context.Context, mirror *v1alpha1.Mirror) ([]client.Object, error) {
	cached, err := ownedBy(ctx, mirror, r.Objects, client.MatchingFields{ownerIndex: string(mirror.UID)})
	if err != nil {
		return nil, err
	}
	labelled, err := ownedBy(ctx, mirror, r.Live, client.MatchingLabels{LabelCopy: string(mirror.UID)})
	if err != nil {
		return nil, err
	}
	byUID := map[types.UID]client.Object{}
	for _, c := range append(cached, labelled...) { // the API server knows better
		byUID[c.GetUID()] = c
	}
	return slices.Collect(maps.Values(byUID)), nil
}

// ownedBy lists, as metadata, the Secrets and ConfigMaps that a Mirror owns, out of
// those that by selects.
func ownedBy(ctx context.Context, mirror *v1alpha1.Mirror, from client.Reader, by client.ListOption) ([]client.Object, error) {
	var owned []client.Object
	for _, kind := range kinds {
		list := newMetadataList(kind)
		if err := from.List(ctx, list, by); err != nil {
			return nil, fmt.Errorf("listing the copies of Mirror %s: %w", mirror.Name, err)
		}
		for i := range list.Items {
			if metav1.IsControlledBy(&list.Items[i], mirror) {
				owned = append(owned, &list.Items[i])
			}
		}
	}
	return owned, nil
}

// syncCopy makes the copy in one namespace right, with no write if it is so. have
// is the copy as the cache has it, nil if it has none.
func (r *Reconciler) syncCopy(ctx context.Context, mirror *v1alpha1.Mirror, source content, namespace string, have client.Object) error {
	if have != nil && source.upToDate(have, mirror) {
		return nil
	}
	key := client.ObjectKey{Namespace: namespace, Name: mirror.Spec.Source.Name}
	standing := have
	if have == nil {
		var err error
		if standing, err = r.claim(ctx, mirror, key); err != nil {
			return err
		}
		// A copy of ours that has its label will be in the cache of copies any
		// moment. Without the label it never will.
		if standing != nil && metav1.IsControlledBy(standing, mirror) && isCopy(standing) {
			return errStale
		}
	}
	return r.write(ctx, mirror, source, key, standing)
}

// release does with a copy that is no longer wanted what the deletion policy says.
// The copy is as it was read: if it has changed since, maybe into another
// Mirror's, the API server refuses, and the next pass looks again.
func (r *Reconciler) release(ctx context.Context, mirror *v1alpha1.Mirror, c client.Object) error {
	if mirror.Spec.DeletionPolicy != v1alpha1.Retain {
		return staleIfConflict(client.IgnoreNotFound(r.Delete(ctx, c, unchanged(c))))
	}
	before := c.DeepCopyObject().(client.Object)
	labels := c.GetLabels()
	delete(labels, LabelCopy)
	c.SetLabels(labels)
	var others []metav1.OwnerReference
	for _, o := range c.GetOwnerReferences() {
		if o.UID != mirror.UID {
			others = append(others, o)
		}
	}
	c.SetOwnerReferences(others)
	return staleIfConflict(client.IgnoreNotFound(r.Patch(ctx, c,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldManager))))
}

// unchanged lets a deletion pass only while the object is as it was read.
func unchanged(obj client.Object) client.Preconditions {
	return client.Preconditions{UID: ptr.To(obj.GetUID()), ResourceVersion: ptr.To(obj.GetResourceVersion())}
}
