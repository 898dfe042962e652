// Package handledeltas is the step between the queue and everything that an
// informer offers: it applies what the queue gave to the store, and reports
// what that changed.
package handledeltas

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// applier is a store that takes many deltas under one lock, all or none, and
// tells what it held before each of them.
type applier interface {
	Apply(deltas []cache.Delta) (olds []any, err error)
}

// maxBatch bounds how long a store is locked, and so how long its readers wait.
const maxBatch = 1000

// HandleDeltas applies the deltas to the store, oldest first, and reports each
// to the handler once the store has it. Stands for client-go's processDeltas
// and processDeltasInBatch, and for the article's sharedIndexInformer.HandleDeltas.
//
// Whether an object is reported as added or as updated is the store's word and
// not the delta's: a relist says Replaced for both. Whether an update is only a
// resync is not decided here at all: both objects are reported, and the handler
// can compare their resourceVersions.
//
// A delta that fails is not reported and stops none of the others. The error
// joins all failures, and names what failed; what is lost is lost until the
// next relist, so the caller must at least log it.
//
// HandleDeltas must not be called for one store from two goroutines at once. It
// keeps neither deltas nor the slice.
func HandleDeltas(h cache.ResourceEventHandler, s cache.Store, deltas []cache.Delta, isInInitialList bool) error {
	var errs []error
	for len(deltas) > 0 {
		n := leadingObjects(deltas)
		var err error
		if n > 0 {
			err = handleObjects(h, s, deltas[:n], isInInitialList)
		} else {
			n, err = 1, handleWhole(h, s, deltas[0], isInInitialList)
		}
		if err != nil {
			errs = append(errs, err)
		}
		deltas = deltas[n:]
	}
	return errors.Join(errs...)
}

// leadingObjects counts the deltas up to the first one that is not about one
// object.
func leadingObjects(deltas []cache.Delta) int {
	for i, d := range deltas {
		switch d.Type {
		case cache.Sync, cache.Replaced, cache.Added, cache.Updated, cache.Deleted:
		default:
			return i
		}
		if i == maxBatch {
			return i
		}
	}
	return len(deltas)
}

func handleObjects(h cache.ResourceEventHandler, s cache.Store, deltas []cache.Delta, isInInitialList bool) error {
	if a, ok := s.(applier); ok {
		if olds, err := a.Apply(deltas); err == nil {
			for i, d := range deltas {
				report(h, d, olds[i], isInInitialList)
			}
			return nil
		}
		// It applied none of them. One by one, only the bad ones fail, each with
		// its own error, so this one says nothing that is not said again.
	}
	var errs []error
	for _, d := range deltas {
		old, err := store(s, d)
		if err != nil {
			errs = append(errs, fmt.Errorf("can't apply %s of %s to the store: %w", d.Type, nameOf(d.Object), err))
			continue
		}
		report(h, d, old, isInInitialList)
	}
	return errors.Join(errs...)
}

// store applies one delta to a store that knows no batches, and returns what it
// held before, nil if nothing.
func store(s cache.Store, d cache.Delta) (old any, err error) {
	if d.Type == cache.Deleted {
		return nil, s.Delete(d.Object)
	}
	old, exists, err := s.Get(d.Object)
	if err == nil && exists {
		return old, s.Update(d.Object)
	}
	// A store that can't look up may still be able to add, and if the object is
	// at fault Add says so.
	return nil, s.Add(d.Object)
}

func report(h cache.ResourceEventHandler, d cache.Delta, old any, isInInitialList bool) {
	switch {
	case d.Type == cache.Deleted:
		// Also if the store never had it: who watches wants to know.
		h.OnDelete(d.Object)
	case old != nil:
		h.OnUpdate(old, d.Object)
	default:
		h.OnAdd(d.Object, isInInitialList)
	}
}

func nameOf(obj any) string {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		return fmt.Sprintf("%T %q", obj, key)
	}
	return fmt.Sprintf("%T", obj)
}
