package deltafifo

import (
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// Replace queues one ReplacedAll if the queue is atomic. If not, it queues a
// tombstone for every object that is queued or known but not in list, and then
// every object of list.
func (f *InOrder) Replace(list []any, resourceVersion string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	replace := f.replaceEach
	if f.atomic {
		replace = f.replaceAll
	} else {
		f.awaitBatch("Replace")
	}
	if err := replace(list, resourceVersion); err != nil {
		return err
	}
	f.populate(len(f.items))
	return nil
}

func (f *InOrder) replaceAll(list []any, resourceVersion string) error {
	if f.transformer != nil {
		transformed := make([]any, len(list))
		for i, obj := range list {
			var err error
			if transformed[i], err = f.transformer(obj); err != nil {
				return err
			}
		}
		list = transformed
	}
	f.enqueue(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: list})
	return nil
}

func (f *InOrder) replaceEach(list []any, _ string) error {
	listed := make(map[string]struct{}, len(list))
	for _, obj := range list {
		key, err := f.KeyOf(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		listed[key] = struct{}{}
	}
	keys, last, err := f.lastQueued()
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, ok := listed[key]; !ok && last[key].Type != cache.Deleted {
			f.bury(key, last[key].Object)
		}
	}
	for _, key := range f.known.ListKeys() {
		_, ok := listed[key]
		_, queued := last[key]
		if !ok && !queued {
			f.bury(key, f.lastKnown(key))
		}
	}
	for _, obj := range list {
		if err := f.enqueueFresh(cache.Replaced, obj); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
	}
	return nil
}

// lastQueued returns the queued keys in the order of their first delta, and the
// last delta of each.
func (f *InOrder) lastQueued() ([]string, map[string]cache.Delta, error) {
	var keys []string
	last := make(map[string]cache.Delta)
	for _, d := range f.items {
		key, err := f.KeyOf(d.Object)
		if err != nil {
			return nil, nil, cache.KeyError{Obj: d.Object, Err: err}
		}
		if _, seen := last[key]; !seen {
			keys = append(keys, key)
		}
		last[key] = d
	}
	return keys, last, nil
}

// bury queues the deletion of an object of which last is the last known state.
func (f *InOrder) bury(key string, last any) {
	f.enqueue(cache.Deleted, cache.DeletedFinalStateUnknown{Key: key, Obj: last})
}

// Resync queues one SyncAll if the queue is atomic; if not, a Sync delta for
// every known object that has none queued.
func (f *InOrder) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.atomic {
		f.enqueue(cache.SyncAll, cache.SyncAllInfo{})
		return nil
	}
	f.awaitBatch("Resync")
	_, queued, err := f.lastQueued()
	if err != nil {
		return err
	}
	for _, key := range f.known.ListKeys() {
		if _, ok := queued[key]; ok {
			continue
		}
		obj, exists, err := f.known.GetByKey(key)
		if err != nil || !exists {
			utilruntime.HandleErrorWithLogger(f.logger, err, "Known object can't be read: no resync for it", "key", key, "exists", exists)
			continue
		}
		if err := f.checkKey(obj); err != nil {
			return fmt.Errorf("couldn't queue object: %w", cache.KeyError{Obj: obj, Err: err})
		}
		f.enqueue(cache.Sync, obj)
	}
	return nil
}
