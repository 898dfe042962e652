package informermap

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// multiNamespaceCache has a cache per namespace, so that a program needs rights
// in these alone, and one more for cluster-scoped kinds. The cache under
// cache.AllNamespaces holds every namespace that has none of its own.
//
// It stands for controller-runtime's cache.multiNamespaceCache.
type multiNamespaceCache struct {
	subCaches
	scheme        *runtime.Scheme
	mapper        meta.RESTMapper
	byNamespace   map[string]*informerCache
	namespaces    []string       // the keys of byNamespace, sorted: lists have the same order each time
	clusterScoped *informerCache // nil in the cache of one namespaced kind
}

var _ cache.Cache = &multiNamespaceCache{}

func newMultiNamespaceCache(scheme *runtime.Scheme, mapper meta.RESTMapper, byNamespace map[string]*informerCache, clusterScoped *informerCache) *multiNamespaceCache {
	c := &multiNamespaceCache{
		scheme:        scheme,
		mapper:        mapper,
		byNamespace:   byNamespace,
		namespaces:    slices.Sorted(maps.Keys(byNamespace)),
		clusterScoped: clusterScoped,
	}
	c.all = map[string]cache.Cache{}
	for namespace, sub := range byNamespace {
		c.all[fmt.Sprintf("namespace %q", namespace)] = sub
	}
	if clusterScoped != nil {
		c.all["cluster-scoped kinds"] = clusterScoped
	}
	return c
}

// holding returns the caches that have objects of a kind, and whether the kind
// is namespaced.
func (c *multiNamespaceCache) holding(gvk schema.GroupVersionKind) ([]*informerCache, bool, error) {
	namespaced, err := apiutil.IsGVKNamespaced(gvk, c.mapper)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("%s: %w", gvk, err)
	case namespaced:
		subs := make([]*informerCache, len(c.namespaces))
		for n, namespace := range c.namespaces {
			subs[n] = c.byNamespace[namespace]
		}
		return subs, true, nil
	case c.clusterScoped == nil:
		return nil, false, fmt.Errorf("%s is cluster-scoped now, but was namespaced when the cache was made for its namespaces: make a new cache", gvk)
	default:
		return []*informerCache{c.clusterScoped}, false, nil
	}
}

func (c *multiNamespaceCache) holdingObject(obj runtime.Object) ([]*informerCache, bool, error) {
	gvk, err := kindOf(obj, c.scheme)
	if err != nil {
		return nil, false, err
	}
	return c.holding(gvk)
}

func (c *multiNamespaceCache) forNamespace(namespace string) (*informerCache, error) {
	if sub, ok := c.byNamespace[namespace]; ok {
		return sub, nil
	}
	if sub, ok := c.byNamespace[metav1.NamespaceAll]; ok {
		return sub, nil
	}
	return nil, fmt.Errorf("unknown namespace for the cache: %q is none of %q; add it to DefaultNamespaces or ByObject.Namespaces, or read past the cache", namespace, c.namespaces)
}

// Get implements client.Reader.
func (c *multiNamespaceCache) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	_, namespaced, err := c.holdingObject(out)
	if err != nil {
		return err
	}
	if !namespaced {
		return c.clusterScoped.Get(ctx, key, out, opts...)
	}
	sub, err := c.forNamespace(key.Namespace)
	if err != nil {
		return fmt.Errorf("unable to get %s: %w", key, err)
	}
	return sub.Get(ctx, key, out, opts...)
}

// List implements client.Reader. Without a namespace it reads all of the
// cache's namespaces, one after the other, so objects of two namespaces may be
// of different moments.
func (c *multiNamespaceCache) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	subs, namespaced, err := c.holdingObject(out)
	if err != nil {
		return err
	}
	if !namespaced {
		return c.clusterScoped.List(ctx, out, opts...)
	}
	options := (&client.ListOptions{}).ApplyOptions(opts)
	if options.Namespace != metav1.NamespaceAll {
		sub, err := c.forNamespace(options.Namespace)
		if err != nil {
			return fmt.Errorf("unable to list %q: %w", options.Namespace, err)
		}
		return sub.List(ctx, out, opts...)
	}
	objs, err := listAll(ctx, subs, out, options)
	if err != nil {
		return err
	}
	return setList(out, objs)
}

func listAll(ctx context.Context, subs []*informerCache, out client.ObjectList, options *client.ListOptions) ([]runtime.Object, error) {
	// Make all informers before waiting for the first: they sync side by side.
	for _, sub := range subs {
		if _, err := sub.entryToList(ctx, out, true); err != nil {
			return nil, err
		}
	}
	all := []runtime.Object{}
	limit := options.Limit
	for _, sub := range subs {
		i, err := sub.entryToList(ctx, out, false)
		if err != nil {
			return nil, err
		}
		objs, err := i.Reader.list(options)
		if err != nil {
			return nil, err
		}
		all = append(all, objs...)
		if limit > 0 {
			if options.Limit = limit - int64(len(all)); options.Limit == 0 {
				break
			}
		}
	}
	return all, nil
}

// GetInformer implements cache.Informers.
func (c *multiNamespaceCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	gvk, err := kindOf(obj, c.scheme)
	if err != nil {
		return nil, err
	}
	return c.informer(ctx, gvk, obj, opts)
}

// GetInformerForKind implements cache.Informers, for the kinds of the scheme.
func (c *multiNamespaceCache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	obj, err := newObject(gvk, c.scheme)
	if err != nil {
		return nil, err
	}
	return c.informer(ctx, gvk, obj, opts)
}

func (c *multiNamespaceCache) informer(ctx context.Context, gvk schema.GroupVersionKind, obj runtime.Object, opts []cache.InformerGetOption) (cache.Informer, error) {
	subs, namespaced, err := c.holding(gvk)
	if err != nil {
		return nil, err
	}
	if !namespaced {
		return c.clusterScoped.informer(ctx, gvk, obj, opts)
	}
	entries := make([]*MapEntry, len(subs))
	for n, sub := range subs {
		if entries[n], err = sub.entryToWatch(ctx, gvk, obj, true); err != nil {
			return nil, err
		}
	}
	if noWait(opts) {
		return newMultiNamespaceInformer(entries), nil
	}
	for n, sub := range subs {
		if entries[n], err = sub.entryToWatch(ctx, gvk, obj, false); err != nil {
			return nil, err
		}
	}
	return newMultiNamespaceInformer(entries), nil
}

// RemoveInformer implements cache.Informers.
func (c *multiNamespaceCache) RemoveInformer(ctx context.Context, obj client.Object) error {
	subs, _, err := c.holdingObject(obj)
	if err != nil {
		return err
	}
	for _, sub := range subs {
		if err := sub.RemoveInformer(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// IndexField implements client.FieldIndexer.
func (c *multiNamespaceCache) IndexField(ctx context.Context, obj client.Object, field string, extractValue client.IndexerFunc) error {
	subs, _, err := c.holdingObject(obj)
	if err != nil {
		return err
	}
	for _, sub := range subs {
		if err := sub.IndexField(ctx, obj, field, extractValue); err != nil {
			return err
		}
	}
	return nil
}
