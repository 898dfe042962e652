package informer

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// NaiveHandleDeltas applies delta after delta, each under a store lock of its
// own. It stands for client-go's processDeltas and is the default of
// Options.HandleDeltas; chapter 5 has the one that takes a whole batch at once.
//
// A delta that fails does not keep the next ones out: they are of other objects,
// or they carry the whole newer state of the same one.
func NaiveHandleDeltas(h cache.ResourceEventHandler, s cache.Store, deltas []cache.Delta, isInInitialList bool) error {
	var errs []error
	for _, d := range deltas {
		if err := naiveHandleDelta(h, s, d, isInInitialList); err != nil {
			errs = append(errs, fmt.Errorf("%s delta: %w", d.Type, err))
		}
	}
	return errors.Join(errs...)
}

func naiveHandleDelta(h cache.ResourceEventHandler, s cache.Store, d cache.Delta, isInInitialList bool) error {
	switch d.Type {
	case cache.Sync, cache.Replaced, cache.Added, cache.Updated:
		old, exists, err := s.Get(d.Object)
		if err != nil {
			return err
		}
		if exists {
			if err := s.Update(d.Object); err != nil {
				return fmt.Errorf("%s: %w", keyOf(d.Object), err)
			}
			h.OnUpdate(old, d.Object)
		} else {
			if err := s.Add(d.Object); err != nil {
				return fmt.Errorf("%s: %w", keyOf(d.Object), err)
			}
			h.OnAdd(d.Object, isInInitialList)
		}
		return nil

	case cache.Deleted:
		if err := s.Delete(d.Object); err != nil {
			return fmt.Errorf("%s: %w", keyOf(d.Object), err)
		}
		h.OnDelete(d.Object)
		return nil

	// The rest comes from an in-order queue in its atomic mode, which does not
	// know the store and so leaves the comparison to us.

	case cache.ReplacedAll:
		info, ok := d.Object.(cache.ReplacedAllInfo)
		if !ok {
			return wrongInfo(d)
		}
		return naiveReplaceAll(h, s, info, isInInitialList)

	case cache.SyncAll:
		if _, ok := d.Object.(cache.SyncAllInfo); !ok {
			return wrongInfo(d)
		}
		for _, obj := range s.List() {
			h.OnUpdate(obj, obj)
		}
		return nil

	case cache.Bookmark:
		info, ok := d.Object.(cache.BookmarkInfo)
		if !ok {
			return wrongInfo(d)
		}
		s.Bookmark(info.ResourceVersion)
		return nil

	default:
		return errors.New("unknown type; the queue must give the types of cache.DeltaType")
	}
}

// naiveReplaceAll puts a list in the place of all that is stored, then reports
// the difference: first what is gone, as tombstones, then what is there.
func naiveReplaceAll(h cache.ResourceEventHandler, s cache.Store, info cache.ReplacedAllInfo, isInInitialList bool) error {
	var known []cache.DeletedFinalStateUnknown
	for _, key := range s.ListKeys() {
		obj, _, err := s.GetByKey(key)
		if err != nil {
			return err
		}
		known = append(known, cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
	}
	olds := make([]any, len(info.Objects))
	for i, obj := range info.Objects {
		old, _, err := s.Get(obj)
		if err != nil {
			return err
		}
		olds[i] = old
	}

	if err := s.Replace(info.Objects, info.ResourceVersion); err != nil {
		return err
	}
	for _, tombstone := range known {
		if _, still, _ := s.GetByKey(tombstone.Key); !still {
			h.OnDelete(tombstone)
		}
	}
	for i, obj := range info.Objects {
		if olds[i] != nil {
			h.OnUpdate(olds[i], obj)
		} else {
			h.OnAdd(obj, isInInitialList)
		}
	}
	return nil
}

func wrongInfo(d cache.Delta) error {
	return fmt.Errorf("its object is a %T; want the Info type of cache that belongs to it", d.Object)
}

// keyOf names an object in an error.
func keyOf(obj any) string {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return fmt.Sprintf("%T without a key", obj)
	}
	return key
}
