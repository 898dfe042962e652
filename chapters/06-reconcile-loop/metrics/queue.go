package metrics

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// Queue are the metrics of one queue. A nil *Queue has none and costs nothing. It
// stands for the defaultQueueMetrics of client-go and of controller-runtime, which
// keep the times of the items in maps of their own: here a queue notes them beside
// the item.
//
// It has no lock: its queue has one.
type Queue struct {
	clock          clock.PassiveClock
	depth          DepthWithPriority
	adds           workqueue.CounterMetric
	latency        workqueue.HistogramMetric
	workDuration   workqueue.HistogramMetric
	unfinished     workqueue.SettableGaugeMetric
	longestRunning workqueue.SettableGaugeMetric
	retries        workqueue.CounterMetric
}

// NewQueue makes the metrics of the queue of that name; none if the name is empty.
func NewQueue(p workqueue.MetricsProvider, name string, c clock.PassiveClock) *Queue {
	if name == "" {
		return nil
	}
	return newQueue(p, name, c, plainDepth{p.NewDepthMetric(name)})
}

// NewPriorityQueue is NewQueue with a depth for each priority, if p has that.
func NewPriorityQueue(p workqueue.MetricsProvider, name string, c clock.PassiveClock) *Queue {
	byPriority, ok := p.(interface {
		NewDepthMetricWithPriority(name string) DepthWithPriority
	})
	if name == "" || !ok {
		return NewQueue(p, name, c)
	}
	return newQueue(p, name, c, byPriority.NewDepthMetricWithPriority(name))
}

func newQueue(p workqueue.MetricsProvider, name string, c clock.PassiveClock, depth DepthWithPriority) *Queue {
	return &Queue{
		clock:          c,
		depth:          depth,
		adds:           p.NewAddsMetric(name),
		latency:        p.NewLatencyMetric(name),
		workDuration:   p.NewWorkDurationMetric(name),
		unfinished:     p.NewUnfinishedWorkSecondsMetric(name),
		longestRunning: p.NewLongestRunningProcessorSecondsMetric(name),
		retries:        p.NewRetriesMetric(name),
	}
}

// Retried counts an item that was added with a delay.
func (m *Queue) Retried() {
	if m != nil {
		m.retries.Inc()
	}
}

// Added counts an item that was queued, and returns the time for Got.
func (m *Queue) Added(priority int) time.Time {
	if m == nil {
		return time.Time{}
	}
	m.adds.Inc()
	m.depth.Inc(priority)
	return m.clock.Now()
}

// Moved counts a queued item whose priority changed.
func (m *Queue) Moved(from, to int) {
	if m != nil {
		m.depth.Dec(from)
		m.depth.Inc(to)
	}
}

// Got counts an item that was handed out, and returns the time for Done.
func (m *Queue) Got(priority int, added time.Time) time.Time {
	if m == nil {
		return time.Time{}
	}
	now := m.clock.Now()
	m.depth.Dec(priority)
	m.latency.Observe(now.Sub(added).Seconds())
	return now
}

// Done observes an item that is worked off.
func (m *Queue) Done(started time.Time) {
	if m != nil {
		m.workDuration.Observe(m.clock.Since(started).Seconds())
	}
}

// Unfinished shows the items in work, given when they were handed out.
func (m *Queue) Unfinished(started []time.Time) {
	var total, longest time.Duration
	for _, t := range started {
		age := m.clock.Since(t)
		total += age
		longest = max(longest, age)
	}
	m.unfinished.Set(total.Seconds())
	m.longestRunning.Set(longest.Seconds())
}

// plainDepth is a depth without priorities.
type plainDepth struct{ workqueue.GaugeMetric }

func (d plainDepth) Inc(int) { d.GaugeMetric.Inc() }
func (d plainDepth) Dec(int) { d.GaugeMetric.Dec() }
