package workqueue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/heap"
)

// delayingQueue is the second floor: a queue to which an item can be added later.
// Waiting items are in a heap, and one timer runs for the first of them. It stands
// for client-go's delaying queue.
//
// An item waits once, for the sooner of the times asked for. That it is added
// otherwise meanwhile changes nothing (client-go's rule; see
// Config.AddReplacesDelayed for the other).
type delayingQueue[T comparable] struct {
	*queue[T]
	start    time.Time     // times are kept as durations since then: they compare faster
	newFirst chan struct{} // told when another item became the first

	waitMu  sync.Mutex // guards the fields below; never taken together with queue.mu
	waiting *heap.Heap[*delayed[T]]
	byItem  map[T]*delayed[T]
	seq     uint64 // how many items have waited
}

// delayed is an item that waits.
type delayed[T comparable] struct {
	item  T
	due   time.Duration
	seq   uint64
	index int
}

// sooner orders by time, then first come, first served.
func sooner[T comparable](a, b *delayed[T]) bool {
	if a.due != b.due {
		return a.due < b.due
	}
	return a.seq < b.seq
}

// SetIndex is the heap's.
func (d *delayed[T]) SetIndex(i int) { d.index = i }

var _ workqueue.TypedDelayingInterface[string] = &delayingQueue[string]{}

// NewDelaying makes a queue with AddAfter.
func NewDelaying[T comparable](config Config) workqueue.TypedDelayingInterface[T] {
	return newDelayingQueue[T](config)
}

func newDelayingQueue[T comparable](config Config) *delayingQueue[T] {
	q := &delayingQueue[T]{
		queue:    newQueue[T](config),
		newFirst: make(chan struct{}, 1),
		waiting:  heap.New(sooner[T]),
		byItem:   map[T]*delayed[T]{},
	}
	q.start = q.config.Clock.Now()
	q.background.Go(q.addDue)
	return q
}

// Add queues item now.
func (q *delayingQueue[T]) Add(item T) {
	if q.config.AddReplacesDelayed {
		q.callOff(item)
	}
	q.queue.Add(item)
}

// AddAfter queues item once the delay is over; at once if there is none.
func (q *delayingQueue[T]) AddAfter(item T, delay time.Duration) {
	if q.ShuttingDown() {
		return
	}
	q.metrics.Retried()
	if delay <= 0 {
		q.Add(item)
		return
	}
	if q.wait(item, q.now()+delay) {
		select {
		case q.newFirst <- struct{}{}:
		default: // told already, and not yet heard
		}
	}
}

func (q *delayingQueue[T]) now() time.Duration { return q.config.Clock.Since(q.start) }

// wait puts item into the heap and says whether it is the first there.
func (q *delayingQueue[T]) wait(item T, due time.Duration) bool {
	q.waitMu.Lock()
	defer q.waitMu.Unlock()
	d := q.byItem[item]
	switch {
	case d == nil:
		d = &delayed[T]{item: item, due: due, seq: q.seq}
		q.seq++
		q.byItem[item] = d
		q.waiting.Push(d)
	case due < d.due:
		d.due = due
		q.waiting.Fix(d.index)
	default:
		return false
	}
	return d.index == 0
}

// callOff makes item wait no longer.
func (q *delayingQueue[T]) callOff(item T) {
	q.waitMu.Lock()
	defer q.waitMu.Unlock()
	if d := q.byItem[item]; d != nil {
		q.waiting.Remove(d.index)
		delete(q.byItem, item)
	}
}

// maxDue is how many items are moved under one lock. However many become due at
// once, Get and AddAfter wait for so many only, and go on beside the rest.
const maxDue = 256

// addDue adds the items whose time has come, until the queue shuts down.
func (q *delayingQueue[T]) addDue() {
	due := make([]T, 0, maxDue)
	for {
		var next time.Duration
		due, next = q.takeDue(due)
		q.addAll(due)
		clear(due) // or the pause would keep what is handed out from the garbage collector
		if len(due) < maxDue && !q.pause(next) {
			return
		}
	}
}

// pause waits until the first item is due or another one becomes the first, and
// says false if the queue shuts down.
func (q *delayingQueue[T]) pause(next time.Duration) bool {
	var due <-chan time.Time // never, if nothing waits
	if next > 0 {
		timer := q.config.Clock.NewTimer(next)
		defer timer.Stop()
		due = timer.C()
	}
	select {
	case <-q.stop:
		return false
	case <-q.newFirst:
	case <-due:
	}
	return true
}

// takeDue fills due with what is due, until it is full, and says how long the next
// item has to wait; 0 if there is none.
func (q *delayingQueue[T]) takeDue(due []T) (_ []T, next time.Duration) {
	due = due[:0]
	q.waitMu.Lock()
	defer q.waitMu.Unlock()
	now := q.now()
	for q.waiting.Len() > 0 && len(due) < cap(due) {
		first := q.waiting.Peek()
		if first.due > now {
			return due, first.due - now
		}
		q.waiting.Pop()
		delete(q.byItem, first.item)
		due = append(due, first.item)
	}
	return due, 0
}
