package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// copiesOf lists the copies of a Mirror, of both kinds: the kind of its source may
// have changed.
func (r *Reconciler) copiesOf(ctx context.Context, mirror *v1alpha1.Mirror) ([]client.Object, error) {
	var secrets corev1.SecretList
	var configMaps corev1.ConfigMapList
	byOwner := client.MatchingFields{ownerIndex: string(mirror.UID)}
	if err := r.List(ctx, &secrets, byOwner); err != nil {
		return nil, fmt.Errorf("listing the copies of Mirror %s: %w", mirror.Name, err)
	}
	if err := r.List(ctx, &configMaps, byOwner); err != nil {
		return nil, fmt.Errorf("listing the copies of Mirror %s: %w", mirror.Name, err)
	}
	var all []client.Object
	for i := range secrets.Items {
		all = append(all, &secrets.Items[i])
	}
	for i := range configMaps.Items {
		all = append(all, &configMaps.Items[i])
	}
	return all, nil
}

// liveCopiesOf asks the API server for the copies of a Mirror. The cache would do
// but for the last look: a copy that it has not seen yet would be left behind.
func (r *Reconciler) liveCopiesOf(ctx context.Context, mirror *v1alpha1.Mirror) ([]client.Object, error) {
	var all []client.Object
	for _, kind := range []v1alpha1.SourceKind{v1alpha1.Secret, v1alpha1.ConfigMap} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(string(kind) + "List"))
		if err := r.Live.List(ctx, list, client.MatchingLabels{LabelCopy: string(mirror.UID)}); err != nil {
			return nil, fmt.Errorf("listing the copies of Mirror %s: %w", mirror.Name, err)
		}
		for i := range list.Items {
			if metav1.IsControlledBy(&list.Items[i], mirror) {
				all = append(all, &list.Items[i])
			}
		}
	}
	return all, nil
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
