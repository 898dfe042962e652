package priorityqueue

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/heap"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/metrics"
)

// priorityQueue hands out the item of the highest priority, and of those the one
// that was added first. Added twice, an item is handed out once: with the higher
// of the priorities, at the sooner of the times. An item in work is not handed out
// a second time. It stands for controller-runtime's priorityqueue.priorityqueue.
//
// Upstream hands items through a channel that three goroutines fill from two
// trees, one of which it walks past the items in work. Here Get takes the first
// item of a heap itself, and an item in work is not in that heap.
type priorityQueue[T comparable] struct {
	limiter workqueue.TypedRateLimiter[T]
	metrics *metrics.Queue // nil without a name
	log     logr.Logger
	start   time.Time // due times are durations since then: they compare faster

	mu   sync.Mutex // guards the fields below
	cond *sync.Cond // on mu: an entry became ready, or the queue shuts down

	entries map[T]*entry[T]       // every item that is queued, waits or is in work
	ready   *heap.Heap[*entry[T]] // the entries in place ready
	waiting *heap.Heap[*entry[T]] // the entries in place waiting
	held    int                   // how many entries are in place held
	inWork  int                   // how many items are handed out
	seq     uint64                // of the entry that was ordered last
	timer   *time.Timer           // runs moveDue when the first waiting entry is due

	shuttingDown bool
	stop         chan struct{} // closed by the first shutdown
	background   sync.WaitGroup
}

var _ priorityqueue.PriorityQueue[string] = &priorityQueue[string]{}

// New makes a priority queue. Without a name it has no metrics.
func New[T comparable](name string, opts ...priorityqueue.Opt[T]) priorityqueue.PriorityQueue[T] {
	var o priorityqueue.Opts[T]
	for _, opt := range opts {
		opt(&o)
	}
	if o.RateLimiter == nil {
		o.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[T](5*time.Millisecond, 1000*time.Second)
	}
	if o.MetricProvider == nil {
		o.MetricProvider = metrics.WorkqueueProvider{}
	}
	q := &priorityQueue[T]{
		limiter: o.RateLimiter,
		metrics: metrics.NewPriorityQueue(o.MetricProvider, name, clock.RealClock{}),
		log:     o.Log,
		start:   time.Now(),
		entries: map[T]*entry[T]{},
		ready:   heap.New(moreImportant[T]),
		waiting: heap.New(sooner[T]),
		stop:    make(chan struct{}),
	}
	q.cond = sync.NewCond(&q.mu)
	q.timer = time.AfterFunc(time.Hour, q.moveDue)
	q.timer.Stop()
	q.background.Go(q.report)
	return q
}

// Add queues item with priority 0.
func (q *priorityQueue[T]) Add(item T) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter queues item with priority 0 once the delay is over.
func (q *priorityQueue[T]) AddAfter(item T, delay time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: delay}, item)
}

// AddRateLimited queues item with priority 0 when the limiter lets it.
func (q *priorityQueue[T]) AddRateLimited(item T) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// AddWithOpts queues items. With both a delay and the limiter the sooner counts.
func (q *priorityQueue[T]) AddWithOpts(o priorityqueue.AddOpts, items ...T) {
	if q.ShuttingDown() {
		return
	}
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	for _, item := range items {
		after := o.After
		if o.RateLimited {
			// A limiter is user code: not under mu.
			if limited := q.limiter.When(item); after == 0 || limited < after {
				after = limited
			}
		}
		q.mu.Lock()
		q.add(item, priority, after)
		q.mu.Unlock()
	}
}

// Get is GetWithPriority without it.
func (q *priorityQueue[T]) Get() (item T, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

// GetWithPriority waits for an item and hands it out; call Done when it is worked
// off. shutdown comes at once with ShutDown, whatever is queued.
func (q *priorityQueue[T]) GetWithPriority() (item T, priority int, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.ready.Len() == 0 && !q.shuttingDown {
		q.cond.Wait()
	}
	if q.shuttingDown {
		return item, 0, true
	}
	e := q.ready.Pop()
	e.place, e.inWork = nowhere, true
	q.inWork++
	e.started = q.metrics.Got(e.priority, e.added)
	return e.item, e.priority, false
}

// Done ends the work on an item. If it was added meanwhile it can now be handed out.
func (q *priorityQueue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[item]
	if e == nil || !e.inWork {
		return
	}
	q.metrics.Done(e.started)
	e.inWork = false
	q.inWork--
	switch e.place {
	case nowhere:
		delete(q.entries, item)
	case held:
		q.held--
		q.offer(e)
	}
}

// Forget ends the limiter's account of item; what is queued stays queued.
func (q *priorityQueue[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues is how often the limiter was asked about item since it was forgotten.
func (q *priorityQueue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }

// Len is the number of items that are queued and do not wait for their time.
func (q *priorityQueue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.Len() + q.held
}

// ShuttingDown says whether ShutDown was called.
func (q *priorityQueue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shuttingDown
}

// ShutDown refuses items from now on and releases every Get. It may be called more
// than once (upstream's panics then).
func (q *priorityQueue[T]) ShutDown() {
	q.mu.Lock()
	if !q.shuttingDown {
		q.shuttingDown = true
		close(q.stop)
		q.timer.Stop()
		q.cond.Broadcast()
	}
	q.mu.Unlock()
	q.background.Wait()
}

// ShutDownWithDrain is ShutDown, as in upstream's: what is queued here is worked
// off by whoever comes next.
func (q *priorityQueue[T]) ShutDownWithDrain() { q.ShutDown() }
