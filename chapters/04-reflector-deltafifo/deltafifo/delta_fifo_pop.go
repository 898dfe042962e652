package deltafifo

import "k8s.io/client-go/tools/cache"

// Pop waits for a key and processes its deltas while it holds the queue's lock.
// It returns what it gave process, which may keep it.
func (f *DeltaFIFO) Pop(process cache.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.awaitWork(f.empty); err != nil {
		return nil, err
	}
	deltas := cache.Deltas(f.take(1))
	f.metrics.waiting(len(f.queue))
	initial := !f.isSynced
	err := f.run(false, 1, len(f.queue), func() error { return process(deltas, initial) })
	return deltas, err
}

// PopAll waits for keys and processes the deltas of all of them at once, key by
// key in the order of the keys. Meanwhile Add and Update go on; Delete, Replace
// and Resync wait, because they compare with the known objects. What belongs to
// the initial list comes alone.
func (f *DeltaFIFO) PopAll(process func(deltas []cache.Delta, isInInitialList bool) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.awaitWork(f.empty); err != nil {
		return err
	}
	taken := len(f.queue)
	if f.initial > 0 {
		taken = min(taken, f.initial)
	}
	deltas := f.take(taken)
	f.metrics.waiting(len(f.queue))
	initial := !f.isSynced
	return f.run(true, taken, len(f.queue), func() error { return process(deltas, initial) })
}

// take removes the first n keys and returns their deltas.
func (f *DeltaFIFO) take(n int) []cache.Delta {
	var all []cache.Delta
	for _, key := range f.queue[:n] {
		deltas := f.items[key]
		delete(f.items, key)
		switch {
		case n == 1:
			all = deltas
		case all == nil:
			all = append(make([]cache.Delta, 0, max(n, f.deltas)), deltas...)
		default:
			all = append(all, deltas...)
		}
	}
	f.deltas -= len(all)
	f.drop(n)
	return all
}

// drop removes the first n keys of the queue. Array and map serve again when they
// are empty, unless they are as large as an initial list: neither ever shrinks.
func (f *DeltaFIFO) drop(n int) {
	switch {
	case n < len(f.queue):
		clear(f.queue[:n])
		f.queue = f.queue[n:]
	case cap(f.queue) > maxBeside:
		f.queue, f.items = nil, map[string]cache.Deltas{}
	default:
		clear(f.queue)
		f.queue = f.queue[:0]
	}
}

func (f *DeltaFIFO) empty() bool { return len(f.queue) == 0 }
