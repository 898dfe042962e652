package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// namespaces is a set of names.
type namespaces map[string]struct{}

func (n namespaces) has(name string) bool { _, ok := n[name]; return ok }
func (n namespaces) sorted() []string     { return slices.Sorted(maps.Keys(n)) }

// targets are the namespaces that should have a copy: those that match and are
// not on their way out, without the one in which the source itself lives.
func (r *Reconciler) targets(ctx context.Context, mirror *v1alpha1.Mirror) (namespaces, error) {
	selector, err := metav1.LabelSelectorAsSelector(&mirror.Spec.NamespaceSelector)
	if err != nil {
		return nil, &problem{reason: reasonInvalidSelector, err: fmt.Errorf("spec.namespaceSelector: %w", err)}
	}
	if selector.Empty() {
		return nil, &problem{reason: reasonInvalidSelector,
			err: fmt.Errorf("spec.namespaceSelector is empty; to mean every namespace, require the key %s with the operator Exists", corev1.LabelMetadataName)}
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := r.List(ctx, list, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	found := namespaces{}
	for i := range list.Items {
		ns := &list.Items[i]
		if ns.DeletionTimestamp.IsZero() && ns.Name != mirror.Spec.Source.Namespace {
			found[ns.Name] = struct{}{}
		}
	}
	return found, nil
}

// wanted tells whether a copy that exists is one that the spec asks for.
func wanted(mirror *v1alpha1.Mirror, c client.Object, targets namespaces) bool {
	return kindOf(c) == mirror.Spec.Source.Kind &&
		c.GetName() == mirror.Spec.Source.Name &&
		targets.has(c.GetNamespace())
}
