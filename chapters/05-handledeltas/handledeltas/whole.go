package handledeltas

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// replacer is a store that tells what a Replace changed, which it finds out
// while it replaces.
type replacer interface {
	ReplaceAll(list []any, resourceVersion string) (olds []any, gone []cache.DeletedFinalStateUnknown, err error)
}

// handleWhole takes the deltas that an in-order queue emits in its atomic mode:
// a list, a resync or a bookmark as one delta about the whole store.
func handleWhole(h cache.ResourceEventHandler, s cache.Store, d cache.Delta, isInInitialList bool) error {
	switch d.Type {
	case cache.ReplacedAll:
		info, ok := d.Object.(cache.ReplacedAllInfo)
		if !ok {
			return wrongPayload(d, info)
		}
		return replaceAll(h, s, info, isInInitialList)
	case cache.SyncAll:
		if info, ok := d.Object.(cache.SyncAllInfo); !ok {
			return wrongPayload(d, info)
		}
		for _, obj := range s.List() {
			h.OnUpdate(obj, obj)
		}
		return nil
	case cache.Bookmark:
		info, ok := d.Object.(cache.BookmarkInfo)
		if !ok {
			return wrongPayload(d, info)
		}
		s.Bookmark(info.ResourceVersion)
		return nil
	}
	return fmt.Errorf("there is no way to handle a delta of type %q: the queue must emit one of the types of client-go's cache.DeltaType", d.Type)
}

func wrongPayload(d cache.Delta, want any) error {
	return fmt.Errorf("a delta of type %s must hold a %T, this one holds a %T", d.Type, want, d.Object)
}

// replaceAll stands for client-go's processReplacedAllInfo: the list becomes the
// store, then what is gone is reported, then what is in the list.
func replaceAll(h cache.ResourceEventHandler, s cache.Store, info cache.ReplacedAllInfo, isInInitialList bool) error {
	replace := replaceByComparison
	if r, ok := s.(replacer); ok {
		replace = func(_ cache.Store, list []any, resourceVersion string) ([]any, []cache.DeletedFinalStateUnknown, error) {
			return r.ReplaceAll(list, resourceVersion)
		}
	}
	olds, gone, err := replace(s, info.Objects, info.ResourceVersion)
	if err != nil {
		return fmt.Errorf("can't replace what the store holds by the list of resourceVersion %q: %w", info.ResourceVersion, err)
	}
	for _, tombstone := range gone {
		h.OnDelete(tombstone)
	}
	for i, obj := range info.Objects {
		report(h, cache.Delta{Type: cache.Replaced, Object: obj}, olds[i], isInInitialList)
	}
	return nil
}

// replaceByComparison asks the store before and after. It needs no key
// function, so it fits stores with any.
func replaceByComparison(s cache.Store, list []any, resourceVersion string) (olds []any, gone []cache.DeletedFinalStateUnknown, err error) {
	before := make([]cache.DeletedFinalStateUnknown, 0, len(list))
	for _, key := range s.ListKeys() {
		old, _, _ := s.GetByKey(key) // a tombstone may be without its object
		before = append(before, cache.DeletedFinalStateUnknown{Key: key, Obj: old})
	}
	olds = make([]any, len(list))
	for i, obj := range list {
		olds[i], _, _ = s.Get(obj) // Replace says so if obj has no key
	}
	if err := s.Replace(list, resourceVersion); err != nil {
		return nil, nil, err
	}
	for _, tombstone := range before {
		if _, exists, _ := s.GetByKey(tombstone.Key); !exists {
			gone = append(gone, tombstone)
		}
	}
	return olds, gone, nil
}
