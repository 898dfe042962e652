package indexer

import (
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// Get returns the object stored under the key of obj.
func (x *Indexer) Get(obj any) (item any, exists bool, err error) {
	key, err := x.keyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

// GetByKey returns the object stored under key. Its error is always nil.
func (x *Indexer) GetByKey(key string) (item any, exists bool, err error) {
	x.mu.RLock()
	e, exists := x.items[key]
	if exists {
		// Read before the lock goes: a writer changes entries in place.
		item = e.obj
	}
	x.mu.RUnlock()
	return item, exists, nil
}

// List returns all objects, in no order.
func (x *Indexer) List() []any {
	x.mu.RLock()
	defer x.mu.RUnlock()
	list := make([]any, 0, len(x.items))
	for _, e := range x.items {
		list = append(list, e.obj)
	}
	return list
}

// ListKeys returns the keys of all objects, in no order.
func (x *Indexer) ListKeys() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	keys := make([]string, 0, len(x.items))
	for key := range x.items {
		keys = append(keys, key)
	}
	return keys
}

// ByIndex returns the objects with this value in the named index, in no order.
// It costs as much as the slice that it returns.
func (x *Indexer) ByIndex(indexName, value string) ([]any, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	ix := x.index(indexName)
	if ix == nil {
		return nil, noSuchIndex(indexName)
	}
	s := ix.sets[value]
	if s == nil {
		return []any{}, nil
	}
	list := make([]any, len(s.members))
	for i, e := range s.members {
		list[i] = e.obj
	}
	return list, nil
}

// IndexKeys returns the sorted keys of the objects with this value in the named
// index. It makes them anew: see entry.
func (x *Indexer) IndexKeys(indexName, value string) ([]string, error) {
	list, err := x.ByIndex(indexName, value)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(list))
	for i, obj := range list {
		if keys[i], err = x.keyFunc(obj); err != nil {
			return nil, cache.KeyError{Obj: obj, Err: err}
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Index returns the objects that share at least one value of the named index
// with obj, each once. obj need not be in the store.
func (x *Indexer) Index(indexName string, obj any) ([]any, error) {
	x.mu.RLock()
	ix := x.index(indexName)
	x.mu.RUnlock()
	if ix == nil {
		return nil, noSuchIndex(indexName)
	}
	values, err := ix.fn(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return x.ByIndex(indexName, values[0])
	}

	x.mu.RLock()
	defer x.mu.RUnlock()
	list := []any{}
	seen := map[*entry]bool{}
	for _, value := range values {
		s := ix.sets[value]
		if s == nil {
			continue
		}
		for _, e := range s.members {
			if !seen[e] {
				seen[e] = true
				list = append(list, e.obj)
			}
		}
	}
	return list, nil
}

// ListIndexFuncValues returns the values that the named index has now, in no
// order; none if there is no such index.
func (x *Indexer) ListIndexFuncValues(indexName string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	values := []string{}
	if ix := x.index(indexName); ix != nil {
		for value := range ix.sets {
			values = append(values, value)
		}
	}
	return values
}

func noSuchIndex(name string) error {
	// Worded as client-go words it: users of caches know and match this line.
	return fmt.Errorf("Index with name %s does not exist", name) //nolint:staticcheck // see above
}
