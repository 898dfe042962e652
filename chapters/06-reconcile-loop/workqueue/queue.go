package workqueue

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/metrics"
)

// queue is the lowest floor: a set of items that is handed out in the order in
// which they were added. It keeps three promises to a controller: an item that is
// added many times before it is handed out is handed out once; an item that is in
// work is not handed to a second worker; an item that is added while it is in work
// is handed out once more after that. It stands for client-go's workqueue.Typed.
//
// Each item that is queued or in work has one entry:
//
//	          Add              Get                Done
//	(none) ────────→ queued ────────→ in work ────────→ (none)
//	                   ↑                 │ Add
//	                   └──── Done ──── in work, dirty
//
// Upstream keeps the sets dirty and processing, a slice, and a map of what waits for
// its time; one map of entries says the same, and is touched less often.
type queue[T comparable] struct {
	config  Config
	metrics *metrics.Queue

	mu   sync.Mutex // guards the fields below
	cond *sync.Cond // on mu: an entry was queued, or the queue shuts down

	entries map[T]*entry[T] // of all items that are queued, in work, or wait
	ready   list[T]         // the queued entries, in the order in which they are handed out
	unused  list[T]         // entries to be used again

	inWork  int
	drained chan struct{} // not nil while a drain waits; closed when nothing is left

	shuttingDown atomic.Bool   // set with mu held
	stop         chan struct{} // closed by the first shutdown
	background   sync.WaitGroup
}

var _ workqueue.TypedInterface[string] = &queue[string]{}

// New makes a plain queue.
func New[T comparable](config Config) workqueue.TypedInterface[T] { return newQueue[T](config) }

func newQueue[T comparable](config Config) *queue[T] {
	config = config.withDefaults()
	q := &queue[T]{
		config:  config,
		metrics: metrics.NewQueue(config.MetricsProvider, config.Name, config.Clock),
		entries: map[T]*entry[T]{},
		stop:    make(chan struct{}),
	}
	q.cond = sync.NewCond(&q.mu)
	if q.metrics != nil {
		q.background.Go(q.reportUnfinished)
	}
	return q
}

// Add queues item, unless it is queued already or the queue shuts down.
func (q *queue[T]) Add(item T) {
	q.mu.Lock()
	q.add(item)
	q.mu.Unlock()
}

// add needs mu.
func (q *queue[T]) add(item T) {
	if !q.shuttingDown.Load() {
		q.addEntry(q.entryOf(item))
	}
}

// addEntry needs mu.
func (q *queue[T]) addEntry(e *entry[T]) {
	switch {
	case e.queued || e.dirty:
		return
	case e.inWork:
		e.dirty = true
	default:
		q.enqueue(e)
	}
	e.added = q.metrics.Added(0)
}

// enqueue needs mu.
func (q *queue[T]) enqueue(e *entry[T]) {
	e.queued = true
	q.ready.push(e)
	q.cond.Signal()
}

// Get waits for an item and hands it out; call Done when it is worked off. shutdown
// says that the queue shuts down and nothing is queued any more.
func (q *queue[T]) Get() (item T, shutdown bool) {
	q.mu.Lock()
	for q.ready.first == nil {
		if q.shuttingDown.Load() {
			q.mu.Unlock()
			return item, true
		}
		q.cond.Wait()
	}
	e := q.ready.pop()
	e.queued, e.inWork = false, true
	q.inWork++
	e.started = q.metrics.Got(0, e.added)
	item = e.item
	q.mu.Unlock()
	return item, false
}

// Done ends the work on an item, and queues it again if it was added meanwhile. Of
// an item that is not in work it takes no notice.
func (q *queue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[item]
	if e == nil || !e.inWork {
		return
	}
	q.metrics.Done(e.started)
	e.inWork = false
	q.inWork--
	if e.dirty {
		e.dirty = false
		q.enqueue(e)
		return
	}
	q.release(e)
	if q.drained != nil && q.busy() == 0 {
		q.endDrain()
	}
}

// busy is how many items a drain waits for. It needs mu.
func (q *queue[T]) busy() int { return q.ready.len + q.inWork }

// Len is the number of queued items, without those in work.
func (q *queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.len
}

// ShuttingDown says whether a shutdown was asked for.
func (q *queue[T]) ShuttingDown() bool { return q.shuttingDown.Load() }

// ShutDown refuses items from now on. What is queued is still handed out, then Get
// says shutdown. A drain that waits is released.
func (q *queue[T]) ShutDown() {
	q.mu.Lock()
	q.beginShutdown()
	q.endDrain()
	q.mu.Unlock()
	q.background.Wait()
}

// ShutDownWithDrain is ShutDown, and waits until all items are worked off: those in
// work and, unlike client-go's, those that are still queued. It needs workers that
// go on until Get says shutdown; ShutDown releases it.
func (q *queue[T]) ShutDownWithDrain() {
	q.mu.Lock()
	q.beginShutdown()
	if q.busy() > 0 && q.drained == nil {
		q.drained = make(chan struct{})
	}
	drained := q.drained
	q.mu.Unlock()

	if drained != nil {
		q.awaitDrain(drained)
	}
	q.background.Wait()
}

// beginShutdown needs mu.
func (q *queue[T]) beginShutdown() {
	if q.shuttingDown.Swap(true) {
		return
	}
	close(q.stop)
	q.cond.Broadcast()
}

// endDrain needs mu.
func (q *queue[T]) endDrain() {
	if q.drained != nil {
		close(q.drained)
		q.drained = nil
	}
}

// awaitDrain says from time to time what it waits for: a worker that never calls
// Done would hold it for ever.
func (q *queue[T]) awaitDrain(drained <-chan struct{}) {
	report := q.config.Clock.NewTicker(reportEvery)
	defer report.Stop()
	for {
		select {
		case <-drained:
			return
		case <-report.C():
			q.mu.Lock()
			queued, inWork := q.ready.len, q.inWork
			q.mu.Unlock()
			klog.InfoS("Workqueue still waits to drain", "queue", q.config.Name, "queued", queued, "inWork", inWork)
		}
	}
}

// reportEvery is how often a wait says what it is waiting for.
const reportEvery = 10 * time.Second
