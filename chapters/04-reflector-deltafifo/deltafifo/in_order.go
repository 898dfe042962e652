package deltafifo

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// InOrderOptions configures an InOrder. It needs KnownObjects or Atomic.
type InOrderOptions struct {
	// Logger is used instead of klog.Background(), with the queue's name added.
	Logger *klog.Logger
	// Name is the queue's name; "InOrder" if empty.
	Name string
	// KeyFunction makes an object's key; namespace/name if nil.
	KeyFunction cache.KeyFunc
	// KnownObjects is what the consumer has processed. Plain queues need it,
	// atomic ones must not have it.
	KnownObjects cache.KeyListerGetter
	// Transformer changes each object that comes from the API server, once, before
	// it is queued. It is for use without a reflector that transforms.
	Transformer cache.TransformFunc
	// Atomic queues a relist as one ReplacedAll and a resync as one SyncAll, and
	// leaves it to the consumer to find out what they mean.
	Atomic bool
	// EmitDeltaTypeBookmark queues the server's bookmarks, for a consumer that
	// wants to know how far it is. Only with Atomic.
	EmitDeltaTypeBookmark bool
	// Identifier and MetricsProvider switch the queue's metrics on.
	Identifier      cache.InformerNameAndResource
	MetricsProvider cache.InformerMetricsProvider
}

// InOrder is a queue of deltas in the order in which they came: nothing is
// grouped, moved forward or merged. So what a consumer has processed is always
// a state that the API server was in, up to one resourceVersion.
//
// Atomic queues never ask what the consumer knows. So they process without the
// lock, and nobody ever waits for a batch, but for room.
//
// Safe for many producers and one consumer. It stands for client-go's
// cache.RealFIFO.
type InOrder struct {
	base
	atomic    bool
	bookmarks bool

	// base.mu guards both.
	items []cache.Delta
	spare []cache.Delta // an empty array to queue into while items is processed
}

var (
	_ cache.QueueWithBatch         = &InOrder{}
	_ cache.ReflectorBookmarkStore = &InOrder{}
	_ cache.DoneChecker            = &InOrder{}
)

// NewInOrder returns an empty InOrder. It panics if the options contradict each other.
func NewInOrder(o InOrderOptions) *InOrder {
	switch {
	case o.Atomic && o.KnownObjects != nil:
		panic("deltafifo.NewInOrder: KnownObjects is set although Atomic is: an atomic queue must not ask its consumer, leave one of them out")
	case !o.Atomic && o.KnownObjects == nil:
		panic("deltafifo.NewInOrder: KnownObjects is missing: give the store that the consumer fills, or set Atomic")
	case !o.Atomic && o.EmitDeltaTypeBookmark:
		panic("deltafifo.NewInOrder: EmitDeltaTypeBookmark is set without Atomic: a relist of a plain queue has no one resourceVersion, set Atomic")
	}
	f := &InOrder{
		base: base{
			keyFunc:     o.KeyFunction,
			known:       o.KnownObjects,
			transformer: o.Transformer,
			metrics:     newMetrics(o.Identifier, o.MetricsProvider),
		},
		atomic:    o.Atomic,
		bookmarks: o.EmitDeltaTypeBookmark,
	}
	name := o.Name
	if name == "" {
		name = "InOrder"
	}
	if id := o.Identifier.Name(); id != "" {
		name = id
	}
	f.init(name, o.Logger)
	return f
}

// Add queues an Added delta.
func (f *InOrder) Add(obj any) error { return f.put(cache.Added, obj) }

// Update queues an Updated delta.
func (f *InOrder) Update(obj any) error { return f.put(cache.Updated, obj) }

// Delete queues a Deleted delta, whether or not anybody knows the object.
func (f *InOrder) Delete(obj any) error { return f.put(cache.Deleted, obj) }

func (f *InOrder) put(event cache.DeltaType, obj any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaitRoom(string(event), f.waiting)
	f.populate(0)
	return f.enqueueFresh(event, obj)
}

// Bookmark queues a Bookmark delta if the options ask for it.
func (f *InOrder) Bookmark(resourceVersion string) error {
	if !f.bookmarks {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.enqueue(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: resourceVersion})
	return nil
}

// enqueueFresh queues an object that comes from the API server.
func (f *InOrder) enqueueFresh(event cache.DeltaType, obj any) error {
	if err := f.checkKey(obj); err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	obj, err := f.transform(obj)
	if err != nil {
		return err
	}
	f.enqueue(event, obj)
	return nil
}

func (f *InOrder) enqueue(event cache.DeltaType, obj any) {
	f.items = append(f.items, cache.Delta{Type: event, Object: obj})
	f.metrics.waiting(len(f.items))
	f.changed.Broadcast()
}

func (f *InOrder) waiting() int { return len(f.items) }

func (f *InOrder) empty() bool { return len(f.items) == 0 }
