package workqueue

import "time"

// entry is the state of one item, from the first Add or AddAfter to the last Done.
// There is none of an item that is neither queued nor in work and does not wait.
type entry[T comparable] struct {
	item   T
	queued bool // in the list of those that are ready
	inWork bool // handed out
	dirty  bool // added while in work

	added, started time.Time // for the metrics; zero without

	next *entry[T] // in the list that the entry is in

	// The delaying queue's.

	due   time.Duration // since the start of the queue
	seq   uint64        // of two that are due at once, the lower comes first
	index int           // in the heap of those that wait; -1 if it does not
}

// SetIndex is the heap's.
func (e *entry[T]) SetIndex(i int) { e.index = i }

// sooner orders by time, then first come, first served.
func sooner[T comparable](a, b *entry[T]) bool {
	if a.due != b.due {
		return a.due < b.due
	}
	return a.seq < b.seq
}

// list is a first-in-first-out list that is linked through its entries: it needs
// no memory of its own, and holds on to nothing that left it.
type list[T comparable] struct {
	first, last *entry[T]
	len         int
}

func (l *list[T]) push(e *entry[T]) {
	if l.first == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.len++
}

// pop takes the first entry out; the list must not be empty.
func (l *list[T]) pop() *entry[T] {
	e := l.first
	l.first, e.next = e.next, nil
	l.len--
	return e
}

// maxUnused bounds what an empty queue keeps: enough that a steady flow of items
// makes no garbage, and no more, whatever the queue once held.
const maxUnused = 128

// entryOf needs mu. It finds or makes the entry of item.
func (q *queue[T]) entryOf(item T) *entry[T] {
	e := q.entries[item]
	if e != nil {
		return e
	}
	if q.unused.first == nil {
		e = &entry[T]{}
	} else {
		e = q.unused.pop()
	}
	e.item, e.index = item, -1
	q.entries[item] = e
	return e
}

// release needs mu. It forgets the item, if nothing is to be known of it any more.
func (q *queue[T]) release(e *entry[T]) {
	if e.queued || e.inWork || e.index >= 0 {
		return
	}
	delete(q.entries, e.item)
	if q.unused.len < maxUnused {
		*e = entry[T]{}
		q.unused.push(e)
	}
}
