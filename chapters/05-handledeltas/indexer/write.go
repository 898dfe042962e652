package indexer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// Every write has two halves. The first computes keys and index values with
// writing held, and may fail or panic with nothing changed. The second only
// moves pointers, with mu held, and can't fail.

// Add is Update: a store does not mind whether it knew the object.
func (x *Indexer) Add(obj any) error { return x.Update(obj) }

// Update stores the object under its key in place of what was there.
func (x *Indexer) Update(obj any) error {
	key, err := x.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	resourceVersion, known := resourceVersionOf(obj)

	x.writing.Lock()
	defer x.writing.Unlock()
	x.values = x.appendValues(x.values[:0], key, obj)

	x.mu.Lock()
	x.put(key, obj, x.values)
	if known {
		x.resourceVersion = resourceVersion
	}
	x.mu.Unlock()
	return nil
}

// Delete removes what is stored under the key of obj, which may be a tombstone
// if the key function takes one.
func (x *Indexer) Delete(obj any) error {
	key, err := x.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	resourceVersion, known := resourceVersionOf(obj)

	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	x.remove(key)
	if known {
		x.resourceVersion = resourceVersion
	}
	x.mu.Unlock()
	return nil
}

// Replace makes the list all that the store holds. It owns the list from then
// on. No reader sees a half replaced store.
func (x *Indexer) Replace(list []any, resourceVersion string) error {
	_, _, err := x.ReplaceAll(list, resourceVersion)
	return err
}

// ReplaceAll is Replace, and tells what it did: olds[i] is what the store held
// under the key of list[i], nil if nothing, and gone is what it held besides.
// It works in place: entries that stay are marked with a new generation, and
// what bears an older one goes.
func (x *Indexer) ReplaceAll(list []any, resourceVersion string) (olds []any, gone []cache.DeletedFinalStateUnknown, err error) {
	keys := make([]string, len(list))
	for i, obj := range list {
		if keys[i], err = x.keyFunc(obj); err != nil {
			return nil, nil, cache.KeyError{Obj: obj, Err: err}
		}
	}

	x.writing.Lock()
	defer x.writing.Unlock()
	n := len(x.indices)
	values := make([][]string, 0, n*len(list))
	for i, obj := range list {
		values = x.appendValues(values, keys[i], obj)
	}

	olds = make([]any, len(list))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.generation++
	for i, obj := range list {
		olds[i] = x.put(keys[i], obj, values[i*n:(i+1)*n])
	}
	for key, e := range x.items {
		if e.generation != x.generation {
			gone = append(gone, cache.DeletedFinalStateUnknown{Key: key, Obj: x.remove(key)})
		}
	}
	x.resourceVersion = resourceVersion
	return olds, gone, nil
}

// Transaction makes many writes under one lock. Writes whose key can't be made
// are left out and reported, the others are made.
func (x *Indexer) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	deltas := make([]cache.Delta, 0, len(txns))
	keys := make([]string, 0, len(txns))
	failed := cache.TransactionError{TotalTransactions: len(txns), SuccessfulIndices: make([]int, 0, len(txns))}
	for i, txn := range txns {
		key, err := x.keyFunc(txn.Object)
		if err != nil {
			failed.Errors = append(failed.Errors, cache.KeyError{Obj: txn.Object, Err: err})
			continue
		}
		failed.SuccessfulIndices = append(failed.SuccessfulIndices, i)
		delta := cache.Delta{Type: cache.Updated, Object: txn.Object}
		if txn.Type == cache.TransactionTypeDelete {
			delta.Type = cache.Deleted
		}
		deltas = append(deltas, delta)
		keys = append(keys, key)
	}
	x.apply(deltas, keys)
	if len(failed.Errors) > 0 {
		return &failed
	}
	return nil
}

// Apply makes the writes that the deltas stand for under one lock, all of them
// or, if it returns an error, none. olds[i] is what the store held under the
// key of deltas[i].Object just before it, nil if nothing; the same key may come
// more than once. Deltas that are not about one object (ReplacedAll, SyncAll,
// Bookmark) are refused.
func (x *Indexer) Apply(deltas []cache.Delta) (olds []any, err error) {
	keys := make([]string, len(deltas))
	for i, d := range deltas {
		switch d.Type {
		case cache.Added, cache.Updated, cache.Replaced, cache.Sync, cache.Deleted:
		default:
			return nil, fmt.Errorf("can't apply a delta of type %q to a store: it is not about one object", d.Type)
		}
		if keys[i], err = x.keyFunc(d.Object); err != nil {
			return nil, cache.KeyError{Obj: d.Object, Err: err}
		}
	}
	return x.apply(deltas, keys), nil
}

func (x *Indexer) apply(deltas []cache.Delta, keys []string) (olds []any) {
	x.writing.Lock()
	defer x.writing.Unlock()
	n := len(x.indices)
	x.values = x.values[:0]
	for i, d := range deltas {
		if d.Type != cache.Deleted {
			x.values = x.appendValues(x.values, keys[i], d.Object)
		}
	}
	// The strings must not outlive their objects by being left here.
	defer clear(x.values)

	resourceVersion, known := "", false
	for i := len(deltas) - 1; i >= 0 && !known; i-- {
		resourceVersion, known = resourceVersionOf(deltas[i].Object)
	}

	olds = make([]any, len(deltas))
	values := x.values
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, d := range deltas {
		if d.Type == cache.Deleted {
			olds[i] = x.remove(keys[i])
		} else {
			olds[i] = x.put(keys[i], d.Object, values[:n])
			values = values[n:]
		}
	}
	if known {
		x.resourceVersion = resourceVersion
	}
	return olds
}

func (x *Indexer) appendValues(values [][]string, key string, obj any) [][]string {
	for _, ix := range x.indices {
		values = append(values, ix.valuesOf(key, obj))
	}
	return values
}

func (x *Indexer) put(key string, obj any, values [][]string) (old any) {
	e := x.items[key]
	if e == nil {
		e = &entry{}
		x.items[key] = e
	}
	old, e.obj = e.obj, obj
	e.generation = x.generation
	for i, ix := range x.indices {
		ix.file(e, values[i])
	}
	return old
}

func (x *Indexer) remove(key string) (old any) {
	e := x.items[key]
	if e == nil {
		return nil
	}
	delete(x.items, key)
	for _, s := range e.slots() {
		s.set.remove(s.pos)
	}
	return e.obj
}
