package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

var (
	// errStale: the API server refused a write, since what a cache had said is no
	// longer so. That is no failure to report: the pass is made again, shortly.
	errStale = errors.New("the object has changed meanwhile")
	// errLeaving: the namespace is on its way out, or gone; nothing is owed to it.
	errLeaving = errors.New("the namespace is being deleted")
)

func staleIfConflict(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return errStale
	}
	return err
}

// write makes the copy at key, where standing was seen, or nothing if that is nil.
//
// What can't be changed is deleted and made anew, which the API offers no way to do
// at once: between the two requests there is no copy. Should the second one be
// refused, or the operator be killed before it, the namespace goes without until
// the next try.
func (r *Reconciler) write(ctx context.Context, mirror *v1alpha1.Mirror, source content, key client.ObjectKey, standing client.Object) error {
	err := r.put(ctx, mirror, source, key, standing)
	if standing == nil || !needsAnew(err) {
		return err
	}
	if !standing.GetDeletionTimestamp().IsZero() {
		return errors.New("the object that has to be made anew is being deleted and waits for its finalizers")
	}
	// By UID alone: put may have changed it before it was refused.
	err = r.Delete(ctx, standing, client.Preconditions{UID: unchanged(standing).UID})
	if client.IgnoreNotFound(err) != nil {
		return staleIfConflict(err)
	}
	return r.put(ctx, mirror, source, key, nil)
}

// put applies the copy, and then removes data that somebody else put there, which
// apply leaves alone.
func (r *Reconciler) put(ctx context.Context, mirror *v1alpha1.Mirror, source content, key client.ObjectKey, standing client.Object) error {
	applied := source.applyConfiguration(mirror, key.Namespace, standing)
	err := r.Apply(ctx, applied, client.FieldOwner(FieldManager), client.ForceOwnership)
	switch {
	case standing == nil && causedBy(err, "metadata.deletionGracePeriodSeconds"):
		return errStale
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || namespaceNotFound(err):
		return errLeaving
	case err != nil:
		return staleIfConflict(err)
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

// needsAnew tells whether the object can't become the copy, but a new one can:
// immutable data, the type of a Secret, and a key that can't be in data and
// binaryData at once. An admission policy that refuses is none of these.
func needsAnew(err error) bool { return causedBy(err, "type", "immutable", "data", "binaryData") }

// causedBy tells whether the API server found an object invalid for the given
// fields only, or what is in them.
func causedBy(err error, fields ...string) bool {
	var refused apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &refused) || refused.Status().Details == nil {
		return false
	}
	causes := refused.Status().Details.Causes
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool {
		field, _, _ := strings.Cut(c.Field, "[")
		return !slices.Contains(fields, field)
	})
}

func namespaceNotFound(err error) bool {
	var refused apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &refused) &&
		refused.Status().Details != nil && refused.Status().Details.Kind == "namespaces"
}

// withhold keeps the data of a Secret out of a report: an admission policy may
// quote what it refuses, as it is or in base64.
func (c content) withhold(err error) error {
	var refused apierrors.APIStatus
	if c.secretType == "" || !errors.As(err, &refused) {
		return err
	}
	said := err.Error()
	for _, value := range c.binary {
		for _, form := range spellings(value) {
			if strings.Contains(said, form) {
				return fmt.Errorf("refused with a message that quotes the Secret, and is withheld for that (%s)", apierrors.ReasonForError(err))
			}
		}
	}
	return err
}
