package workqueue

import (
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

	// queue.mu guards both.
	waiting *heap.Heap[*entry[T]]
	seq     uint64 // how many items have waited
}

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
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entryOf(item)
	switch {
	case e.index < 0:
		e.due, e.seq = due, q.seq
		q.seq++
		q.waiting.Push(e)
	case due < e.due:
		e.due = due
		q.waiting.Fix(e.index)
	default:
		return false
	}
	return e.index == 0
}

// callOff makes item wait no longer.
func (q *delayingQueue[T]) callOff(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.entries[item]; e != nil && e.index >= 0 {
		q.waiting.Remove(e.index)
		q.release(e)
	}
}

// maxDue is how many items are moved under one lock. However many become due at
// once, Get and AddAfter wait for so many only, and go on beside the rest.
const maxDue = 256

// addDue adds the items whose time has come, until the queue shuts down.
func (q *delayingQueue[T]) addDue() {
	for {
		more, next := q.moveDue()
		if !more && !q.pause(next) {
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

// moveDue queues what is due, up to maxDue items. It says whether there may be more,
// or else how long the next item has to wait; 0 if there is none.
func (q *delayingQueue[T]) moveDue() (more bool, next time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for range maxDue {
		if q.waiting.Len() == 0 || q.shuttingDown.Load() {
			return false, 0
		}
		if next := q.waiting.Peek().due - now; next > 0 {
			return false, next
		}
		q.addEntry(q.waiting.Pop())
	}
	return true, 0
}
