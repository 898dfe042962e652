package processor

import (
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// pauseAfterPanic keeps a handler that panics each time from filling the log.
	pauseAfterPanic = time.Second
	// manyWaiting and slowCall say when a call is worth a line in the log: one
	// that takes its time while nothing waits hurts nobody.
	manyWaiting = 1024
	slowCall    = 100 * time.Millisecond
)

// listener brings notifications to one handler, in order, with one goroutine
// and one slice. Stands for client-go's processorListener, and is the
// registration that AddEventHandler returns.
//
// What waits is bounded by memory alone: a handler that is slow must not slow
// the informer or other handlers. put never waits.
type listener struct {
	handler cache.ResourceEventHandler
	name    string
	logger  klog.Logger

	synced  chan struct{} // closed by the mark in the queue
	stopped chan struct{} // closed: no call begins any more
	ended   chan struct{} // closed: no call is running any more

	mu    sync.Mutex // guards queue
	queue []batch
	// wake holds at most one token: "look at the queue".
	wake chan struct{}
	// waiting counts the notifications that were put and not yet called.
	waiting atomic.Int64

	// The processor's mu guards what follows.

	period     time.Duration // zero: no resyncs
	nextResync time.Time
	// syncing says whether resync notifications are for this handler. It is true
	// until the first time the processor looks whose resync is due.
	syncing bool

	// The goroutine's own.

	panicked bool
	dropped  bool      // something was not delivered because of the stop
	since    time.Time // the end of the last call, while calls are timed
}

// batch is what one Flush gave. All listeners share the slice, so nobody may
// change it.
type batch struct {
	notifications []notification
	syncing       bool // the listener's, at the time of the Flush
	mark          bool // nothing but the mark "initial list delivered"
}

func newListener(h cache.ResourceEventHandler, name string, logger klog.Logger) *listener {
	return &listener{
		handler: h,
		name:    name,
		logger:  klog.LoggerWithValues(logger, "handler", name),
		synced:  make(chan struct{}),
		stopped: make(chan struct{}),
		ended:   make(chan struct{}),
		wake:    make(chan struct{}, 1),
		syncing: true,
	}
}

// HasSynced reports whether the handler has returned from everything that was
// reported before the informer had synced.
func (l *listener) HasSynced() bool { return cache.IsDone(l) }

// HasSyncedChecker is HasSynced as a channel.
func (l *listener) HasSyncedChecker() cache.DoneChecker { return l }

// Name and Done make the listener its own DoneChecker.
func (l *listener) Name() string          { return l.name }
func (l *listener) Done() <-chan struct{} { return l.synced }

// ShutdownChan is closed once the handler was removed or the processor stopped,
// and the last call has returned. cache.ShutDownEventHandler asks for it.
func (l *listener) ShutdownChan() <-chan struct{} { return l.ended }

func (l *listener) put(b batch) {
	l.waiting.Add(int64(len(b.notifications)))
	l.mu.Lock()
	l.queue = append(l.queue, b)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it has been told, and not looked yet
	}
}

// take swaps the queue for an empty one.
func (l *listener) take(empty []batch) []batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.queue
	l.queue = empty
	return taken
}

func (l *listener) run() {
	defer close(l.ended)
	var work []batch
	for {
		select {
		case <-l.wake:
		case <-l.stopped:
			// Nothing of this is delivered. But if the mark comes first, the handler
			// has seen all that was before it.
			for _, b := range l.take(nil) {
				l.deliver(b)
			}
			return
		}
		work = l.take(work[:0])
		for i, b := range work {
			work[i] = batch{} // done with it before the next one begins
			l.deliver(b)
		}
		if cap(work) > manyWaiting {
			work = nil // one bad hour must not cost memory for ever
		}
	}
}

func (l *listener) deliver(b batch) {
	if b.mark {
		if !l.dropped && !l.HasSynced() {
			close(l.synced)
		}
		return
	}
	timed := l.waiting.Load() > manyWaiting
	if timed {
		l.since = time.Now()
	}
	for i := range b.notifications {
		n := &b.notifications[i]
		if n.verb == resync && !b.syncing {
			continue
		}
		if l.isStopped() {
			l.dropped = true
			return
		}
		l.call(n)
		if timed {
			l.logIfSlow()
		}
	}
	l.waiting.Add(-int64(len(b.notifications)))
}

// call hands a panic to the process's crash handling, which ends the process
// unless it was told not to. Then the notification counts as delivered, and the
// next one comes after a pause.
func (l *listener) call(n *notification) {
	if l.panicked && !l.pause() {
		l.dropped = true
		return
	}
	l.panicked = true
	defer utilruntime.HandleCrashWithLogger(l.logger)
	n.call(l.handler)
	l.panicked = false
}

// logIfSlow reads the clock once per call, not before and after: with a short
// handler the clock is what costs.
func (l *listener) logIfSlow() {
	now := time.Now()
	if took := now.Sub(l.since); took > slowCall {
		l.logger.Info("Event handler is slow while many notifications wait for it", "took", took, "waiting", l.waiting.Load())
	}
	l.since = now
}

// pause returns false if the listener was stopped meanwhile.
func (l *listener) pause() bool {
	select {
	case now := <-time.After(pauseAfterPanic):
		l.since = now // the pause is not the handler's
		return true
	case <-l.stopped:
		return false
	}
}

func (l *listener) isStopped() bool {
	select {
	case <-l.stopped:
		return true
	default:
		return false
	}
}
