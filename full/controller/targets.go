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

// targets says what a Mirror owes to the namespaces that match.
type targets struct {
	serve   map[string]struct{} // these get a copy
	leaving map[string]struct{} // these are on their way out: nothing is written or deleted there
}

// targets sorts the namespaces that match; the one in which the source itself lives
// is none of them.
func (r *Reconciler) targets(ctx context.Context, mirror *v1alpha1.Mirror) (targets, error) {
	selector, err := metav1.LabelSelectorAsSelector(&mirror.Spec.NamespaceSelector)
	if err != nil {
		return targets{}, &problem{reason: reasonInvalidSelector, err: fmt.Errorf("spec.namespaceSelector: %w", err)}
	}
	if selector.Empty() {
		return targets{}, &problem{reason: reasonInvalidSelector,
			err: fmt.Errorf("spec.namespaceSelector is empty; to mean every namespace, require the key %s with the operator Exists", corev1.LabelMetadataName)}
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := r.List(ctx, list, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return targets{}, fmt.Errorf("listing namespaces: %w", err)
	}
	t := targets{serve: map[string]struct{}{}, leaving: map[string]struct{}{}}
	for i := range list.Items {
		switch ns := &list.Items[i]; {
		case !ns.DeletionTimestamp.IsZero():
			t.leaving[ns.Name] = struct{}{}
		case ns.Name != mirror.Spec.Source.Namespace:
			t.serve[ns.Name] = struct{}{}
		}
	}
	return t, nil
}

// wanted tells whether a copy that exists is one that the spec asks for.
func (t targets) wanted(mirror *v1alpha1.Mirror, c client.Object) bool {
	_, served := t.serve[c.GetNamespace()]
	return served && kindOf(c) == mirror.Spec.Source.Kind && c.GetName() == mirror.Spec.Source.Name
}

// spared tells whether a copy that is not wanted is left alone all the same: in a
// namespace that is on its way out, and where the spec names it as its source,
// which is to be reported and not to be deleted.
func (t targets) spared(mirror *v1alpha1.Mirror, c client.Object) bool {
	_, leaving := t.leaving[c.GetNamespace()]
	return leaving || mirror.Spec.Source == v1alpha1.SourceReference{Kind: kindOf(c), Namespace: c.GetNamespace(), Name: c.GetName()}
}

func (t targets) sorted() []string { return slices.Sorted(maps.Keys(t.serve)) }
