package deltafifo

import (
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// Replace queues every object of list and, for every object that is queued or
// known but not in list, a deletion with its last known state as a tombstone:
// its own deletion was missed while the watch was down.
//
// It costs one look-up per object of the list, the queue and the known objects.
func (f *DeltaFIFO) Replace(list []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaitBatch("Replace")
	listed := make(map[string]struct{}, len(list))
	if len(f.items) == 0 {
		f.items = make(map[string]cache.Deltas, len(list)) // it need not grow
	}
	for _, obj := range list {
		key, err := f.KeyOf(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		listed[key] = struct{}{}
		if err := f.enqueueAs(key, f.replaced, obj, true); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
	}
	gone := 0
	for _, key := range f.queue {
		if _, ok := listed[key]; ok {
			continue
		}
		last := f.items[key].Newest().Object
		if tombstone, ok := last.(cache.DeletedFinalStateUnknown); ok {
			last = tombstone.Obj
		}
		gone++
		if err := f.bury(key, last); err != nil {
			return err
		}
	}
	if f.known != nil {
		for _, key := range f.known.ListKeys() {
			if _, ok := listed[key]; ok {
				continue
			}
			if _, queued := f.items[key]; queued { // done above
				continue
			}
			gone++
			if err := f.bury(key, f.lastKnown(key)); err != nil {
				return err
			}
		}
	}
	f.populate(len(listed) + gone)
	return nil
}

// bury queues the deletion of an object of which last is the last known state.
func (f *DeltaFIFO) bury(key string, last any) error {
	return f.enqueue(cache.Deleted, cache.DeletedFinalStateUnknown{Key: key, Obj: last}, false)
}

// lastKnown returns the known object of key, or nil if it can't be had.
func (b *base) lastKnown(key string) any {
	obj, exists, err := b.known.GetByKey(key)
	if err != nil || !exists {
		utilruntime.HandleErrorWithLogger(b.logger, err,
			"Known object can't be read: its deletion is queued without its last state", "key", key, "exists", exists)
		return nil
	}
	return obj
}

// Resync queues a Sync delta for every known object that has none queued: what
// is queued is newer than what is known.
func (f *DeltaFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaitBatch("Resync")
	if f.known == nil {
		return nil
	}
	for _, key := range f.known.ListKeys() {
		obj, exists, err := f.known.GetByKey(key)
		if err != nil || !exists {
			utilruntime.HandleErrorWithLogger(f.logger, err, "Known object can't be read: no resync for it", "key", key, "exists", exists)
			continue
		}
		id, err := f.KeyOf(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		if _, queued := f.items[id]; queued {
			continue
		}
		if err := f.enqueue(cache.Sync, obj, false); err != nil {
			return fmt.Errorf("couldn't queue object: %w", err)
		}
	}
	return nil
}
