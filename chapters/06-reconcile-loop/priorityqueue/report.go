package priorityqueue

import "time"

const (
	unfinishedEvery = 500 * time.Millisecond // as in client-go's workqueue
	logEvery        = 10 * time.Second
	logLevel        = 5
)

// report shows work that does not end, and logs the items at a high log level,
// until the queue shuts down.
func (q *priorityQueue[T]) report() {
	var unfinished <-chan time.Time // never, without metrics
	if q.metrics != nil {
		ticker := time.NewTicker(unfinishedEvery)
		defer ticker.Stop()
		unfinished = ticker.C
	}
	logItems := time.NewTicker(logEvery)
	defer logItems.Stop()
	for {
		select {
		case <-q.stop:
			return
		case <-unfinished:
			q.metrics.Unfinished(q.startedAt())
		case <-logItems.C:
			// The level may change while the program runs, so look at it each time.
			if log := q.log.V(logLevel); log.Enabled() {
				log.Info("workqueue_items", "items", q.snapshot())
			}
		}
	}
}

// startedAt is when each item in work was handed out.
func (q *priorityQueue[T]) startedAt() []time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	times := make([]time.Time, 0, q.inWork)
	for _, e := range q.entries {
		if e.inWork {
			times = append(times, e.started)
		}
	}
	return times
}

// loggedItem is an item that is queued or waits, as it is logged.
type loggedItem[T comparable] struct {
	Key          T          `json:"key"`
	AddedCounter uint64     `json:"addedCounter"`
	Priority     int        `json:"priority"`
	ReadyAt      *time.Time `json:"readyAt,omitempty"`
}

func (q *priorityQueue[T]) snapshot() []loggedItem[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := make([]loggedItem[T], 0, len(q.entries))
	for _, e := range q.entries {
		item := loggedItem[T]{Key: e.item, AddedCounter: e.order, Priority: e.priority}
		switch e.place {
		case nowhere:
			continue
		case waiting:
			item.ReadyAt = new(q.start.Add(e.due))
		}
		items = append(items, item)
	}
	return items
}
