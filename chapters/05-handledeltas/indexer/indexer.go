// Package indexer is the informer's store: objects by key, and indices over
// them, for one writer that is in a hurry and many readers.
package indexer

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Indexer keeps objects by key and finds them by the values that index
// functions make of them. Stands for what client-go's cache.NewIndexer and
// cache.NewThreadSafeStore make together.
//
// Readers and writers may be any number of goroutines. What a reader gets is a
// snapshot: a slice of its own with the objects as they were at one moment.
// The objects themselves are shared and must not be changed.
//
// Invariants: the slots of an entry and the members of a set mirror each
// other; an entry is once in a set; no set is empty; every entry has been
// filed in every index.
type Indexer struct {
	keyFunc cache.KeyFunc

	// writing lets in one writer at a time. It is held while the index
	// functions run, which is the slow part of a write and not ours, so that
	// no reader ever waits for an index function.
	writing sync.Mutex
	// values is the room in which the writer collects index values.
	values [][]string

	// mu guards what follows. Items and indices change with writing and mu held,
	// so a writer may read them with writing alone.
	mu              sync.RWMutex
	items           map[string]*entry
	indices         []*index
	generation      uint32
	resourceVersion string
}

var (
	_ cache.Indexer          = (*Indexer)(nil)
	_ cache.TransactionStore = (*Indexer)(nil)
)

// New makes an empty Indexer. It panics at once if the key function or an index
// function is nil, because the first object would make it panic with less to
// go by.
func New(keyFunc cache.KeyFunc, indexers cache.Indexers) *Indexer {
	if keyFunc == nil {
		panic("indexer.New: no key function; pass one, such as cache.DeletionHandlingMetaNamespaceKeyFunc")
	}
	x := &Indexer{keyFunc: keyFunc, items: map[string]*entry{}}
	if err := x.AddIndexers(indexers); err != nil {
		panic("indexer.New: " + err.Error())
	}
	return x
}

// NewStore makes a store without indices. Stands for client-go's cache.NewStore.
func NewStore(keyFunc cache.KeyFunc) cache.Store { return New(keyFunc, nil) }

// AddIndexers adds indices to a store that may hold objects already: they are
// in the new indices when it returns. A name that is taken is an error and
// nothing is added.
func (x *Indexer) AddIndexers(indexers cache.Indexers) error {
	x.writing.Lock()
	defer x.writing.Unlock()

	added := make([]*index, 0, len(indexers))
	for _, name := range slices.Sorted(maps.Keys(indexers)) {
		if x.index(name) != nil {
			return fmt.Errorf("indexer conflict: there is an index %q already; give the new one another name", name)
		}
		if indexers[name] == nil {
			return fmt.Errorf("index %q has no function", name)
		}
		added = append(added, &index{name: name, fn: indexers[name], sets: map[string]*set{}})
	}

	entries := make([]*entry, 0, len(x.items))
	values := make([][]string, 0, len(x.items)*len(added))
	for key, e := range x.items {
		entries = append(entries, e)
		for _, ix := range added {
			values = append(values, ix.valuesOf(key, e.obj))
		}
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	x.indices = append(x.indices, added...)
	for i, e := range entries {
		for j, ix := range added {
			ix.file(e, values[i*len(added)+j])
		}
	}
	return nil
}

// GetIndexers returns the index functions by name, in a map of the caller's own.
func (x *Indexer) GetIndexers() cache.Indexers {
	x.mu.RLock()
	defer x.mu.RUnlock()
	indexers := make(cache.Indexers, len(x.indices))
	for _, ix := range x.indices {
		indexers[ix.name] = ix.fn
	}
	return indexers
}

// LastStoreSyncResourceVersion is the version of the last object written, or
// of the last Replace or Bookmark, whichever came later. It says "everything
// up to here has been seen" only if the writer keeps the order of events.
func (x *Indexer) LastStoreSyncResourceVersion() string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.resourceVersion
}

// Bookmark moves LastStoreSyncResourceVersion without an object.
func (x *Indexer) Bookmark(resourceVersion string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.resourceVersion = resourceVersion
}

// Resync has nothing to do in a store: it is a queue's business.
func (x *Indexer) Resync() error { return nil }

// index needs writing or mu. There are few indices, so it looks at them in turn.
func (x *Indexer) index(name string) *index {
	for _, ix := range x.indices {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

func resourceVersionOf(obj any) (string, bool) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return "", false
	}
	return object.GetResourceVersion(), true
}
