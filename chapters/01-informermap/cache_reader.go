package informermap

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// continueMarker is what cached lists carry as continue token, so that a loop
// that pages through a list meets errContinue instead of never ending.
const continueMarker = "continue-not-supported"

var errContinue = errors.New("continue list option is not supported by the cache: read the list in one piece, or page with the manager's GetAPIReader")

// CacheReader reads one kind from the store of its informer, without a request
// to the API server. It hands out copies, unless that is switched off; then
// readers share the objects of the store and must not write to them.
//
// It stands for controller-runtime's internal.CacheReader.
type CacheReader struct {
	indexer toolscache.Indexer
	// groupVersionKind is written into copies: decoding drops it from typed objects.
	groupVersionKind schema.GroupVersionKind
	// scopeName tells whether the namespace of a key means anything.
	scopeName       meta.RESTScopeName
	disableDeepCopy bool
}

var _ client.Reader = &CacheReader{}

// Get reads the object of that key into out. One map lookup and one copy.
func (c *CacheReader) Get(_ context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	options := (&client.GetOptions{}).ApplyOptions(opts)
	if c.scopeName == meta.RESTScopeNameRoot {
		key.Namespace = ""
	}
	item, exists, err := c.indexer.GetByKey(storeKey(key))
	if err != nil {
		return err
	}
	if !exists {
		// The reader does not know the resource's name; the kind stands in for it.
		return apierrors.NewNotFound(schema.GroupResource{Group: c.groupVersionKind.Group, Resource: c.groupVersionKind.Kind}, key.Name)
	}
	obj, err := c.out(item, options.UnsafeDisableDeepCopy)
	if err != nil {
		return err
	}
	from, to := reflect.ValueOf(obj), reflect.ValueOf(out)
	if from.Type() != to.Type() {
		return fmt.Errorf("cache had type %s, but %s was asked for", from.Type(), to.Type())
	}
	to.Elem().Set(from.Elem())
	return nil
}

// List reads the objects that the options select into out, in no order.
func (c *CacheReader) List(_ context.Context, out client.ObjectList, opts ...client.ListOption) error {
	objs, err := c.list((&client.ListOptions{}).ApplyOptions(opts))
	if err != nil {
		return err
	}
	return setList(out, objs)
}

// list selects first and copies afterwards: what a label or the limit leaves out
// costs nothing.
func (c *CacheReader) list(opts *client.ListOptions) ([]runtime.Object, error) {
	items, err := c.candidates(opts)
	if err != nil {
		return nil, err
	}
	objs := make([]runtime.Object, 0, len(items))
	for _, item := range items {
		if opts.Limit > 0 && int64(len(objs)) >= opts.Limit {
			break
		}
		if opts.LabelSelector != nil {
			accessor, err := meta.Accessor(item)
			if err != nil {
				return nil, err
			}
			if !opts.LabelSelector.Matches(labels.Set(accessor.GetLabels())) {
				continue
			}
		}
		obj, err := c.out(item, opts.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, err
		}
		objs = append(objs, obj)
	}
	return objs, nil
}

// candidates asks the index that narrows the list down most.
func (c *CacheReader) candidates(opts *client.ListOptions) ([]any, error) {
	switch {
	case opts.Continue != "":
		return nil, errContinue
	case opts.FieldSelector != nil:
		return byFields(c.indexer, c.groupVersionKind, opts.FieldSelector, opts.Namespace)
	case opts.Namespace != "":
		return c.indexer.ByIndex(toolscache.NamespaceIndex, opts.Namespace)
	default:
		return c.indexer.List(), nil
	}
}

// out is what a reader gets for an item of the store.
func (c *CacheReader) out(item any, unsafeDisableDeepCopy *bool) (runtime.Object, error) {
	obj, ok := item.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("cache contained %T, which is not an Object", item)
	}
	if c.disableDeepCopy || ptr.Deref(unsafeDisableDeepCopy, false) {
		return obj, nil
	}
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(c.groupVersionKind)
	return obj, nil
}

func setList(out client.ObjectList, objs []runtime.Object) error {
	if err := meta.SetList(out, objs); err != nil {
		return err
	}
	out.SetContinue(continueMarker)
	return nil
}

// storeKey is how client-go's MetaNamespaceKeyFunc writes a key.
func storeKey(key client.ObjectKey) string {
	if key.Namespace == "" {
		return key.Name
	}
	return key.Namespace + "/" + key.Name
}
