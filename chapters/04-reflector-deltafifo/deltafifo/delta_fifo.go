package deltafifo

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Options configures a DeltaFIFO. The zero value is a queue without known objects.
type Options struct {
	// Logger is used instead of klog.Background(), with the queue's name added.
	Logger *klog.Logger
	// Name is the queue's name; "DeltaFIFO" if empty.
	Name string
	// KeyFunction makes an object's key; namespace/name if nil.
	KeyFunction cache.KeyFunc
	// KnownObjects is what the consumer has processed. Without it Replace finds
	// only deletions of queued objects and Resync does nothing.
	KnownObjects cache.KeyListerGetter
	// EmitDeltaTypeReplaced makes Replace queue Replaced instead of Sync, so that
	// a consumer can tell a relist from a resync.
	EmitDeltaTypeReplaced bool
	// Transformer changes each object that comes from the API server, once, before
	// it is queued. It is for use without a reflector that transforms.
	Transformer cache.TransformFunc
	// Identifier and MetricsProvider switch the queue's metrics on.
	Identifier      cache.InformerNameAndResource
	MetricsProvider cache.InformerMetricsProvider
}

// DeltaFIFO is a queue of keys, with the deltas of each key.
//
// A key is in queue if and only if it is in items, and there only once; items
// holds at least one delta per key, oldest first. A later delta of a key moves
// forward to its first one: that is the price for seeing everything about a key
// at once. Two deletions in a row become one.
//
// Safe for many producers and one consumer. It stands for client-go's
// cache.DeltaFIFO.
type DeltaFIFO struct {
	base
	replaced cache.DeltaType // what Replace queues

	// base.mu guards all of these.
	items  map[string]cache.Deltas
	queue  []string
	deltas int // in items
}

var (
	_ cache.Queue       = &DeltaFIFO{}
	_ cache.DoneChecker = &DeltaFIFO{}
)

// New returns an empty DeltaFIFO.
func New(o Options) *DeltaFIFO {
	f := &DeltaFIFO{
		base: base{
			keyFunc:     o.KeyFunction,
			known:       o.KnownObjects,
			transformer: o.Transformer,
			metrics:     newMetrics(o.Identifier, o.MetricsProvider),
		},
		replaced: cache.Sync,
		items:    map[string]cache.Deltas{},
	}
	if o.EmitDeltaTypeReplaced {
		f.replaced = cache.Replaced
	}
	name := o.Name
	if name == "" {
		name = "DeltaFIFO"
	}
	f.init(name, o.Logger)
	return f
}

// Add queues an Added delta.
func (f *DeltaFIFO) Add(obj any) error { return f.put(cache.Added, obj) }

// Update queues an Updated delta.
func (f *DeltaFIFO) Update(obj any) error { return f.put(cache.Updated, obj) }

func (f *DeltaFIFO) put(event cache.DeltaType, obj any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaitRoom(string(event), f.waiting)
	f.populate(0)
	return f.enqueue(event, obj, true)
}

func (f *DeltaFIFO) waiting() int { return f.deltas }

// Delete queues a Deleted delta, unless the object is neither queued nor known:
// then a relist has reported its deletion already.
func (f *DeltaFIFO) Delete(obj any) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaitBatch("Delete")
	f.populate(0)
	if !f.exists(key) {
		return nil
	}
	return f.enqueue(cache.Deleted, obj, true)
}

func (f *DeltaFIFO) exists(key string) bool {
	if _, queued := f.items[key]; queued {
		return true
	}
	if f.known == nil {
		return false
	}
	_, known, err := f.known.GetByKey(key)
	return known || err != nil // in doubt, a deletion too many does less harm
}

// enqueue appends a delta to its key's. fresh objects come from the API server
// and are transformed; the others were before.
func (f *DeltaFIFO) enqueue(event cache.DeltaType, obj any, fresh bool) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	return f.enqueueAs(key, event, obj, fresh)
}

// enqueueAs is enqueue of an object whose key is known.
func (f *DeltaFIFO) enqueueAs(key string, event cache.DeltaType, obj any, fresh bool) (err error) {
	if fresh {
		if obj, err = f.transform(obj); err != nil {
			return err
		}
	}
	deltas, queued := f.items[key]
	if event == cache.Deleted && queued && deltas.Newest().Type == cache.Deleted {
		// The one that knows more stays.
		if _, tombstone := deltas.Newest().Object.(cache.DeletedFinalStateUnknown); tombstone {
			deltas.Newest().Object = obj
		}
		return nil
	}
	if !queued {
		f.queue = append(f.queue, key)
		f.metrics.waiting(len(f.queue))
	}
	f.items[key] = append(deltas, cache.Delta{Type: event, Object: obj})
	f.deltas++
	f.changed.Broadcast()
	return nil
}
