package workqueue

import "time"

// unfinishedEvery is how often the work that is not done yet is looked at.
const unfinishedEvery = 500 * time.Millisecond

// reportUnfinished shows work that does not end, until the queue shuts down. A
// duration that is observed at the end of the work would never tell.
func (q *queue[T]) reportUnfinished() {
	ticker := q.config.Clock.NewTicker(unfinishedEvery)
	defer ticker.Stop()
	for {
		select {
		case <-q.stop:
			return
		case <-ticker.C():
			q.metrics.Unfinished(q.startedAt())
		}
	}
}

// startedAt is when each item in work was handed out.
func (q *queue[T]) startedAt() []time.Time {
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
