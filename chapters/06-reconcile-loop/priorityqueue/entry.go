package priorityqueue

import "time"

// place is where an entry is. Being in work is another matter: an item that is in
// work may be in any place but ready.
type place int

const (
	nowhere place = iota // in work only
	ready                // can be handed out
	held                 // could be handed out if it were not in work
	waiting              // for its time
)

// entry is the state of one item, from the first Add to the last Done.
type entry[T comparable] struct {
	item     T
	priority int           // higher comes first
	order    uint64        // lower comes first among equals
	due      time.Duration // since the start of the queue; in place waiting only

	place  place
	inWork bool
	index  int // in the heap of its place

	added, started time.Time // for the metrics; zero without
}

// SetIndex is the heap's.
func (e *entry[T]) SetIndex(i int) { e.index = i }

// moreImportant is the order of ready entries.
func moreImportant[T comparable](a, b *entry[T]) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.order < b.order
}

// sooner is the order of waiting entries.
func sooner[T comparable](a, b *entry[T]) bool {
	if a.due != b.due {
		return a.due < b.due
	}
	return moreImportant(a, b)
}

// add queues item, or makes what is queued more important or sooner. It needs mu.
func (q *priorityQueue[T]) add(item T, priority int, after time.Duration) {
	if q.shuttingDown {
		return
	}
	if after > 0 {
		q.metrics.Retried()
	}
	e := q.entries[item]
	if e == nil {
		e = &entry[T]{item: item}
		q.entries[item] = e
	}
	if e.place == nowhere {
		e.priority = priority
		q.stampOrder(e)
		if after > 0 {
			q.wait(e, after)
		} else {
			q.makeReady(e)
		}
		return
	}
	raised := priority > e.priority
	if raised {
		q.raise(e, priority)
	}
	if e.place != waiting {
		return
	}
	due := time.Since(q.start) + after
	switch {
	case after <= 0:
		q.waiting.Remove(e.index)
		q.makeReady(e)
	case due < e.due:
		e.due = due
		q.waiting.Fix(e.index)
		q.setTimer()
	case raised:
		q.waiting.Fix(e.index)
	}
}

// raise makes e more important: it goes to the end of its new equals.
func (q *priorityQueue[T]) raise(e *entry[T], priority int) {
	from := e.priority
	e.priority = priority
	q.stampOrder(e)
	if e.place == ready {
		q.ready.Fix(e.index)
	}
	if e.place != waiting {
		q.metrics.Moved(from, priority)
	}
}

func (q *priorityQueue[T]) stampOrder(e *entry[T]) {
	q.seq++
	e.order = q.seq
}

// makeReady takes e in that has nothing more to wait for, save the end of its work.
func (q *priorityQueue[T]) makeReady(e *entry[T]) {
	e.added = q.metrics.Added(e.priority)
	if e.inWork {
		e.place = held
		q.held++
		return
	}
	q.offer(e)
}

// offer lets e be handed out.
func (q *priorityQueue[T]) offer(e *entry[T]) {
	e.place = ready
	q.ready.Push(e)
	q.cond.Signal()
}

func (q *priorityQueue[T]) wait(e *entry[T], after time.Duration) {
	e.place = waiting
	e.due = time.Since(q.start) + after
	q.waiting.Push(e)
	if e.index == 0 {
		q.setTimer()
	}
}

// setTimer sets the timer for the first waiting entry.
func (q *priorityQueue[T]) setTimer() {
	q.timer.Reset(max(0, q.waiting.Peek().due-time.Since(q.start)))
}

// moveDue makes the entries ready whose time has come. They are ordered by that
// time, not by when they were added.
func (q *priorityQueue[T]) moveDue() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		return
	}
	now := time.Since(q.start)
	for q.waiting.Len() > 0 {
		if q.waiting.Peek().due > now {
			q.setTimer()
			return
		}
		e := q.waiting.Pop()
		q.stampOrder(e)
		q.makeReady(e)
	}
}
