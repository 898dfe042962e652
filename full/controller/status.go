package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// Reasons of the conditions.
const (
	reasonSynced          = "Synced"
	reasonFound           = "Found"
	reasonSourceMissing   = "SourceMissing"
	reasonSourceIsCopy    = "SourceIsCopy"
	reasonInvalidSelector = "InvalidSelector"
	reasonConflicts       = "Conflicts"
	reasonNoConflicts     = "NoConflicts"
	reasonFailed          = "Failed"
)

// problem is a fault of the spec or of its source: it is reported, and not tried
// again until a watch says that something has changed.
type problem struct {
	reason string
	err    error
}

func (p *problem) Error() string { return p.err.Error() }

// outcome is what one pass found and did.
type outcome struct {
	desired, synced int
	conflicts       []string // namespaces
	failures        []error  // each names its namespace
	problem         *problem
	stale           bool // something was decided on an old state
}

// failed ends a pass early.
func (o *outcome) failed(err error) *outcome {
	if !errors.As(err, &o.problem) {
		o.failures = append(o.failures, err)
	}
	return o
}

// add takes in what happened in one namespace.
func (o *outcome) add(namespace string, err error) {
	var c *conflict
	switch {
	case err == nil:
	case errors.Is(err, errStale):
		o.stale = true
	case errors.Is(err, errLeaving):
		o.desired--
	case errors.As(err, &c):
		o.conflicts = append(o.conflicts, namespace)
	default:
		o.failures = append(o.failures, fmt.Errorf("namespace %s: %w", namespace, err))
	}
}

// err is what the workqueue has to try again.
func (o *outcome) err() error { return errors.Join(o.failures...) }

// conditions says the outcome in the words of the API.
func (o *outcome) conditions() []metav1.Condition {
	source := metav1.Condition{Type: v1alpha1.SourceAvailable, Status: metav1.ConditionTrue, Reason: reasonFound, Message: "the source exists"}
	conflicted := metav1.Condition{Type: v1alpha1.Conflicted, Status: metav1.ConditionFalse, Reason: reasonNoConflicts, Message: "no other object stands in the way"}
	ready := metav1.Condition{Type: v1alpha1.Ready, Status: metav1.ConditionTrue, Reason: reasonSynced,
		Message: fmt.Sprintf("%d of %d copies are right", o.synced, o.desired)}

	if len(o.conflicts) > 0 {
		conflicted.Status, conflicted.Reason = metav1.ConditionTrue, reasonConflicts
		conflicted.Message = fmt.Sprintf("in %d namespaces another object has the name of the copy: %s", len(o.conflicts), shorten(o.conflicts, 3))
		ready.Status, ready.Reason = metav1.ConditionFalse, reasonConflicts
	}
	if len(o.failures) > 0 {
		messages := make([]string, len(o.failures))
		for i, err := range o.failures {
			messages[i] = cut(err.Error(), maxNote)
		}
		ready.Status, ready.Reason = metav1.ConditionFalse, reasonFailed
		ready.Message += "; " + shorten(messages, 3)
	}
	if o.problem != nil {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, o.problem.reason, o.problem.Error()
		if o.problem.reason != reasonInvalidSelector {
			source.Status, source.Reason, source.Message = metav1.ConditionFalse, o.problem.reason, o.problem.Error()
		}
	}
	return []metav1.Condition{source, conflicted, ready}
}

// shorten joins the first few and counts the rest.
func shorten(all []string, n int) string {
	if len(all) <= n {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:n], ", "), len(all)-n)
}

// writeStatus applies the status if it changed, and reports a changed Ready
// condition as an event. A status that was compared with an old one is refused, or
// the event would be repeated and a newer status be lost.
func (r *Reconciler) writeStatus(ctx context.Context, mirror *v1alpha1.Mirror, o *outcome) error {
	status := mirror.Status.DeepCopy()
	status.ObservedGeneration = mirror.Generation
	status.Desired, status.Synced = int32(o.desired), int32(o.synced)
	status.Conflicts = slices.Sorted(slices.Values(o.conflicts))
	if len(status.Conflicts) > v1alpha1.MaxConflicts {
		status.Conflicts = status.Conflicts[:v1alpha1.MaxConflicts]
	}
	for _, c := range o.conditions() {
		c.ObservedGeneration = mirror.Generation
		meta.SetStatusCondition(&status.Conditions, c)
	}
	slices.SortFunc(status.Conditions, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	if equality.Semantic.DeepEqual(&mirror.Status, status) {
		return nil
	}

	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": fields}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Mirror"))
	u.SetName(mirror.Name)
	u.SetUID(mirror.UID)
	u.SetResourceVersion(mirror.ResourceVersion)
	err = r.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(FieldManager), client.ForceOwnership)
	if err != nil {
		return staleIfConflict(client.IgnoreNotFound(err))
	}
	r.announce(mirror, status)
	return nil
}

// announce makes an event where Ready changed.
func (r *Reconciler) announce(mirror *v1alpha1.Mirror, status *v1alpha1.MirrorStatus) {
	before := meta.FindStatusCondition(mirror.Status.Conditions, v1alpha1.Ready)
	now := meta.FindStatusCondition(status.Conditions, v1alpha1.Ready)
	if before != nil && before.Status == now.Status && before.Reason == now.Reason {
		return
	}
	kind := corev1.EventTypeNormal
	if now.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(mirror, nil, kind, now.Reason, "Sync", "%s", cut(now.Message, maxNote))
}

// maxNote is how many bytes the API server takes as the note of an event.
const maxNote = 1024

// cut shortens a text to at most n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-3], "") + "..."
}
