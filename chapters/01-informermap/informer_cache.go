package informermap

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// informerCache is the cache that callers see: it turns objects into kinds and
// looks these up in its InformersMap.
//
// It stands for controller-runtime's cache.informerCache.
type informerCache struct {
	*InformersMap
	readerFailOnMissingInformer bool
}

var _ cache.Cache = &informerCache{}

// Get implements client.Reader.
func (ic *informerCache) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	gvk, err := kindOf(out, ic.Scheme)
	if err != nil {
		return err
	}
	i, err := ic.entryToRead(ctx, gvk, out, false)
	if err != nil {
		return err
	}
	return i.Reader.Get(ctx, key, out, opts...)
}

// List implements client.Reader.
func (ic *informerCache) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	i, err := ic.entryToList(ctx, out, false)
	if err != nil {
		return err
	}
	return i.Reader.List(ctx, out, opts...)
}

// entryToList finds the entry that holds the items of a list.
func (ic *informerCache) entryToList(ctx context.Context, list client.ObjectList, noWait bool) (*MapEntry, error) {
	gvk, err := kindOf(list, ic.Scheme)
	if err != nil {
		return nil, err
	}
	return ic.entryToRead(ctx, gvk, list, noWait)
}

func (ic *informerCache) entryToRead(ctx context.Context, gvk schema.GroupVersionKind, obj runtime.Object, noWait bool) (*MapEntry, error) {
	started, i, err := ic.InformersMap.Get(ctx, gvk, obj, GetOptions{FailOnMissing: ic.readerFailOnMissingInformer, NoWait: noWait})
	if err != nil {
		return nil, err
	}
	if !started {
		return nil, &cache.ErrCacheNotStarted{}
	}
	return i, nil
}

// GetInformer implements cache.Informers.
func (ic *informerCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	gvk, err := kindOf(obj, ic.Scheme)
	if err != nil {
		return nil, err
	}
	return ic.informer(ctx, gvk, obj, opts)
}

// GetInformerForKind implements cache.Informers, for the kinds of the scheme.
func (ic *informerCache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	obj, err := newObject(gvk, ic.Scheme)
	if err != nil {
		return nil, err
	}
	return ic.informer(ctx, gvk, obj, opts)
}

func (ic *informerCache) informer(ctx context.Context, gvk schema.GroupVersionKind, obj runtime.Object, opts []cache.InformerGetOption) (cache.Informer, error) {
	i, err := ic.entryToWatch(ctx, gvk, obj, noWait(opts))
	if err != nil {
		return nil, err
	}
	return i.Informer, nil
}

func (ic *informerCache) entryToWatch(ctx context.Context, gvk schema.GroupVersionKind, obj runtime.Object, noWait bool) (*MapEntry, error) {
	_, i, err := ic.InformersMap.Get(ctx, gvk, obj, GetOptions{NoWait: noWait})
	return i, err
}

func noWait(opts []cache.InformerGetOption) bool {
	var o cache.InformerGetOptions
	for _, opt := range opts {
		opt(&o)
	}
	return o.BlockUntilSynced != nil && !*o.BlockUntilSynced
}

// RemoveInformer implements cache.Informers.
func (ic *informerCache) RemoveInformer(_ context.Context, obj client.Object) error {
	gvk, err := kindOf(obj, ic.Scheme)
	if err != nil {
		return err
	}
	ic.Remove(gvk, obj)
	return nil
}

// IndexField implements client.FieldIndexer. It does not wait for the informer:
// a store that is filled later indexes what comes.
func (ic *informerCache) IndexField(ctx context.Context, obj client.Object, field string, extractValue client.IndexerFunc) error {
	if field == "" || extractValue == nil {
		return errors.New("IndexField needs the name of a field and a function that extracts its values")
	}
	informer, err := ic.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	if err := indexByField(informer, field, extractValue); err != nil {
		return fmt.Errorf("index on field %q of %T: %w", field, obj, err)
	}
	return nil
}

// NeedLeaderElection tells a manager that every replica keeps its cache filled,
// leader or not.
func (ic *informerCache) NeedLeaderElection() bool { return false }
