package informermap

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// namespaceField is the one field that every namespaced kind can be selected by.
const namespaceField = "metadata.namespace"

// Selector says which objects of a kind the API server sends. What it does not
// send can't be read from the cache.
//
// It stands for controller-runtime's internal.Selector.
type Selector struct {
	Label labels.Selector
	Field fields.Selector
}

func (s Selector) applyTo(opts *metav1.ListOptions) {
	if s.Label != nil {
		opts.LabelSelector = s.Label.String()
	}
	if s.Field != nil {
		opts.FieldSelector = s.Field.String()
	}
}

// namespaceOf is the namespace that requests for a kind go to, "" for all. A
// selector that asks for exactly one namespace counts, too: then rights in that
// namespace are enough.
func (ip *specificInformersMap) namespaceOf(mapping *meta.RESTMapping) string {
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return ""
	}
	if ip.Namespace != "" || ip.Selector.Field == nil {
		return ip.Namespace
	}
	namespace, _ := ip.Selector.Field.RequiresExactMatch(namespaceField)
	return namespace
}
