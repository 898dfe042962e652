package workqueue

import "time"

// entry is the state of one item, from the Add that queues it to its last Done.
type entry[T comparable] struct {
	item   T
	inWork bool // handed out
	dirty  bool // added while in work

	added, started time.Time // for the metrics; zero without

	next *entry[T] // in the list that the entry is in
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

// newEntry needs mu.
func (q *queue[T]) newEntry(item T) *entry[T] {
	if q.unused.first == nil {
		return &entry[T]{item: item}
	}
	e := q.unused.pop()
	e.item = item
	return e
}

// recycle needs mu. It forgets the item: nobody else may keep it.
func (q *queue[T]) recycle(e *entry[T]) {
	if q.unused.len < maxUnused {
		*e = entry[T]{}
		q.unused.push(e)
	}
}
