package informermap

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// delegatingCache has a cache of its own for each kind of cache.Options.ByObject
// and one for all others.
//
// It stands for controller-runtime's cache.delegatingByGVKCache.
type delegatingCache struct {
	subCaches
	scheme *runtime.Scheme
	byGVK  map[schema.GroupVersionKind]cache.Cache
	others cache.Cache
}

var _ cache.Cache = &delegatingCache{}

func newDelegatingCache(scheme *runtime.Scheme, byGVK map[schema.GroupVersionKind]cache.Cache, others cache.Cache) *delegatingCache {
	d := &delegatingCache{scheme: scheme, byGVK: byGVK, others: others}
	d.all = map[string]cache.Cache{"all other kinds": others}
	for gvk, sub := range byGVK {
		d.all[gvk.String()] = sub
	}
	return d
}

func (d *delegatingCache) forGVK(gvk schema.GroupVersionKind) cache.Cache {
	if sub, ok := d.byGVK[gvk]; ok {
		return sub
	}
	return d.others
}

func (d *delegatingCache) forObject(obj runtime.Object) (cache.Cache, error) {
	gvk, err := kindOf(obj, d.scheme)
	if err != nil {
		return nil, err
	}
	return d.forGVK(gvk), nil
}

// Get implements client.Reader.
func (d *delegatingCache) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	sub, err := d.forObject(out)
	if err != nil {
		return err
	}
	return sub.Get(ctx, key, out, opts...)
}

// List implements client.Reader.
func (d *delegatingCache) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	sub, err := d.forObject(out)
	if err != nil {
		return err
	}
	return sub.List(ctx, out, opts...)
}

// GetInformer implements cache.Informers.
func (d *delegatingCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	sub, err := d.forObject(obj)
	if err != nil {
		return nil, err
	}
	return sub.GetInformer(ctx, obj, opts...)
}

// GetInformerForKind implements cache.Informers.
func (d *delegatingCache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	return d.forGVK(gvk).GetInformerForKind(ctx, gvk, opts...)
}

// RemoveInformer implements cache.Informers.
func (d *delegatingCache) RemoveInformer(ctx context.Context, obj client.Object) error {
	sub, err := d.forObject(obj)
	if err != nil {
		return err
	}
	return sub.RemoveInformer(ctx, obj)
}

// IndexField implements client.FieldIndexer.
func (d *delegatingCache) IndexField(ctx context.Context, obj client.Object, field string, extractValue client.IndexerFunc) error {
	sub, err := d.forObject(obj)
	if err != nil {
		return err
	}
	return sub.IndexField(ctx, obj, field, extractValue)
}
