package deltafifo

import "k8s.io/client-go/tools/cache"

// maxBatch is how many deltas PopBatch takes at most.
const maxBatch = 1000

// Pop waits for a delta and processes it; a plain queue holds its lock meanwhile.
// It returns what it gave process, which may keep it.
func (f *InOrder) Pop(process cache.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.awaitWork(f.empty); err != nil {
		return nil, err
	}
	deltas := cache.Deltas(f.take(1))
	initial := !f.isSynced
	err := f.run(f.atomic, 1, len(f.items), func() error { return process(deltas, initial) })
	return deltas, err
}

// PopBatch waits for deltas and processes as many as there are, with no two of
// one object among them, by batch; or a single one by single. A plain queue
// holds its lock meanwhile. Both functions may keep what they are given.
func (f *InOrder) PopBatch(batch cache.ProcessBatchFunc, single cache.PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.awaitWork(f.empty); err != nil {
		return err
	}
	deltas := f.take(f.batchSize())
	initial := !f.isSynced
	return f.run(f.atomic, len(deltas), len(f.items), func() error {
		if len(deltas) == 1 {
			return single(cache.Deltas(deltas), initial)
		}
		return batch(deltas, initial)
	})
}

// batchSize returns how many of the first deltas may go together.
func (f *InOrder) batchSize() int {
	limit := min(len(f.items), maxBatch)
	if f.initial > 0 {
		limit = min(limit, f.initial)
	}
	seen := make(map[string]struct{}, limit)
	for i, d := range f.items[:limit] {
		switch d.Type {
		case cache.ReplacedAll, cache.SyncAll, cache.Bookmark:
			return max(i, 1)
		}
		key, err := f.KeyOf(d.Object)
		if err != nil {
			// Its transform took the key away. It ends the batch, and whoever
			// processes it reports it.
			return i + 1
		}
		if _, again := seen[key]; again {
			return i
		}
		seen[key] = struct{}{}
	}
	return limit
}

// take removes the first n deltas and returns them in an array of their own.
func (f *InOrder) take(n int) []cache.Delta {
	taken := append(make([]cache.Delta, 0, n), f.items[:n]...)
	clear(f.items[:n]) // or the array keeps the objects alive
	f.items = f.items[n:]
	f.metrics.waiting(len(f.items))
	return taken
}

// PopAll waits for deltas and processes all of them at once. Meanwhile Add,
// Update and Delete go on; Replace and Resync of a plain queue wait, because
// they compare with the known objects. What belongs to the initial list comes
// alone. The array of deltas is used again after process has returned.
func (f *InOrder) PopAll(process func(deltas []cache.Delta, isInInitialList bool) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.awaitWork(f.empty); err != nil {
		return err
	}
	n := len(f.items)
	if f.initial > 0 {
		n = min(n, f.initial)
	}
	deltas, rest := f.items[:n], f.items[n:]
	f.items, f.spare = append(f.spare[:0], rest...), nil
	clear(rest)
	f.metrics.waiting(len(f.items))
	initial := !f.isSynced
	err := f.run(true, n, len(f.items), func() error { return process(deltas, initial) })
	if cap(deltas) <= maxBeside { // an initial list's array is left to the collector
		clear(deltas)
		f.spare = deltas
	}
	return err
}
