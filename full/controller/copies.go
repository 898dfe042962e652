package controller

import (
	"context"
	"encoding/json"
	"fmt"

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

// syncCopy makes the copy in one namespace right, with no write if it is so.
func (r *Reconciler) syncCopy(ctx context.Context, mirror *v1alpha1.Mirror, source content, namespace string, copies []client.Object) error {
	key := client.ObjectKey{Namespace: namespace, Name: mirror.Spec.Source.Name}
	for _, c := range copies {
		if kindOf(c) == mirror.Spec.Source.Kind && client.ObjectKeyFromObject(c) == key {
			if source.upToDate(c, mirror) {
				return nil
			}
			break
		}
	}
	standing, err := r.claim(ctx, mirror, key)
	if err != nil {
		return err
	}
	return r.write(ctx, mirror, source, key, standing)
}

// write makes the copy at key, where claim found standing, or nothing if nil.
func (r *Reconciler) write(ctx context.Context, mirror *v1alpha1.Mirror, source content, key client.ObjectKey, standing *metav1.PartialObjectMetadata) error {
	err := r.put(ctx, mirror, source, key)
	if apierrors.IsInvalid(err) && standing != nil {
		// Immutable data and the type of a Secret can't be changed, only made anew.
		err = r.Delete(ctx, standing, client.Preconditions{UID: ptr.To(standing.UID)})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("making the immutable copy anew: %w", err)
		}
		err = r.put(ctx, mirror, source, key)
	}
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil // nothing is owed to a namespace that is on its way out
	}
	return err
}

// put applies the copy, and then removes data that somebody else put there, which
// apply leaves alone.
func (r *Reconciler) put(ctx context.Context, mirror *v1alpha1.Mirror, source content, key client.ObjectKey) error {
	applied := source.applyConfiguration(mirror, key.Namespace)
	if err := r.Apply(ctx, applied, client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return err
	}
	foreign := source.foreignKeys(applied) // Apply has read the server's answer into it
	if len(foreign) == 0 {
		return nil
	}
	patch, err := json.Marshal(foreign)
	if err != nil {
		return err
	}
	obj := newMetadata(mirror.Spec.Source.Kind)
	obj.SetNamespace(key.Namespace)
	obj.SetName(key.Name)
	return r.Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager))
}

// release does with a copy that is no longer wanted what the deletion policy says.
// The copy is as the cache has it: preconditions keep the call from touching
// what has taken its place since.
func (r *Reconciler) release(ctx context.Context, mirror *v1alpha1.Mirror, c client.Object) error {
	if mirror.Spec.DeletionPolicy != v1alpha1.Retain {
		err := r.Delete(ctx, c, client.Preconditions{UID: ptr.To(c.GetUID())})
		if apierrors.IsConflict(err) {
			return nil // another object by now, and not ours
		}
		return client.IgnoreNotFound(err)
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
	return client.IgnoreNotFound(r.Patch(ctx, c,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldManager)))
}
