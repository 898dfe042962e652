package informermap

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// anyNamespace stands where index keys have a namespace, in the second key that
// every namespaced object gets: by it, lists over all namespaces find the object.
const anyNamespace = "__all_namespaces"

func fieldIndexName(field string) string { return "field:" + field }

func fieldIndexKey(namespace, value string) string {
	if namespace == "" {
		namespace = anyNamespace
	}
	return namespace + "/" + value
}

// indexByField adds an index to an informer, running or not.
func indexByField(informer cache.Informer, field string, extractValue client.IndexerFunc) error {
	return informer.AddIndexers(toolscache.Indexers{fieldIndexName(field): func(item any) ([]string, error) {
		obj, ok := item.(client.Object)
		if !ok {
			return nil, fmt.Errorf("cache contained %T, which is not an Object", item)
		}
		values := extractValue(obj)
		keys := make([]string, 0, 2*len(values))
		for _, value := range values {
			keys = append(keys, fieldIndexKey("", value))
			if namespace := obj.GetNamespace(); namespace != "" {
				keys = append(keys, fieldIndexKey(namespace, value))
			}
		}
		return keys, nil
	}})
}

// byFields answers a field selector from the indexes: the first field from its
// index, further ones by calling their index functions on what that gave, so
// that all are asked about the same state of an object.
func byFields(indexer toolscache.Indexer, gvk schema.GroupVersionKind, selector fields.Selector, namespace string) ([]any, error) {
	requirements := selector.Requirements()
	if len(requirements) == 0 {
		return nil, fmt.Errorf("field selector %q: non-exact field matches are not supported by the cache: leave an empty selector out", selector)
	}
	indexers := indexer.GetIndexers()
	for _, r := range requirements {
		if r.Operator != selection.Equals && r.Operator != selection.DoubleEquals {
			return nil, fmt.Errorf("field selector %q: non-exact field matches are not supported by the cache: only field=value is", selector)
		}
		if _, ok := indexers[fieldIndexName(r.Field)]; !ok {
			return nil, fmt.Errorf("field selector %q: Index with name %s does not exist: call IndexField for %s of %s, or read past the cache", selector, fieldIndexName(r.Field), r.Field, gvk)
		}
	}

	items, err := indexer.ByIndex(fieldIndexName(requirements[0].Field), fieldIndexKey(namespace, requirements[0].Value))
	for _, r := range requirements[1:] {
		if err != nil {
			return nil, err
		}
		items, err = having(items, indexers[fieldIndexName(r.Field)], fieldIndexKey(namespace, r.Value))
	}
	return items, err
}

// having returns the items that the index function gives that key.
func having(items []any, index toolscache.IndexFunc, key string) ([]any, error) {
	var found []any
	for _, item := range items {
		keys, err := index(item)
		if err != nil {
			return nil, err
		}
		if slices.Contains(keys, key) {
			found = append(found, item)
		}
	}
	return found, nil
}
