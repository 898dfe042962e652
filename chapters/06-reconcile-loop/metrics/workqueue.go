package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	byQueue = []string{"name", "controller"}

	depth = shared(prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: metrics.WorkQueueSubsystem, Name: metrics.DepthKey,
		Help: "Current depth of workqueue by workqueue and priority",
	}, []string{"name", "controller", "priority"}))

	adds = shared(prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: metrics.WorkQueueSubsystem, Name: metrics.AddsKey,
		Help: "Total number of adds handled by workqueue",
	}, byQueue))

	latency = shared(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: metrics.WorkQueueSubsystem, Name: metrics.QueueLatencyKey,
		Help: "How long in seconds an item stays in workqueue before being requested",
	}, byQueue))

	workDuration = shared(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: metrics.WorkQueueSubsystem, Name: metrics.WorkDurationKey,
		Help: "How long in seconds processing an item from workqueue takes.",
	}, byQueue))

	unfinished = shared(prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: metrics.WorkQueueSubsystem, Name: metrics.UnfinishedWorkKey,
		Help: "How many seconds of work has been done that " +
			"is in progress and hasn't been observed by work_duration. Large " +
			"values indicate stuck threads. One can deduce the number of stuck " +
			"threads by observing the rate at which this increases.",
	}, byQueue))

	longestRunning = shared(prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: metrics.WorkQueueSubsystem, Name: metrics.LongestRunningProcessorKey,
		Help: "How many seconds has the longest running processor for workqueue been running.",
	}, byQueue))

	retries = shared(prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: metrics.WorkQueueSubsystem, Name: metrics.RetriesKey,
		Help: "Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)",
	}, byQueue))
)

// WorkqueueProvider makes the metrics of one queue, named like the queue. It
// stands for controller-runtime's WorkqueueMetricsProvider, and feeds the same
// collectors.
type WorkqueueProvider struct{}

var _ workqueue.MetricsProvider = WorkqueueProvider{}

// NewDepthMetric counts what is queued, for a queue without priorities.
func (WorkqueueProvider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return depth.WithLabelValues(name, name, "")
}

// NewDepthMetricWithPriority counts what is queued, for a queue with priorities.
func (WorkqueueProvider) NewDepthMetricWithPriority(name string) DepthWithPriority {
	return &depthWithPriority{gauges: depth.MustCurryWith(prometheus.Labels{"name": name, "controller": name}), known: map[int]prometheus.Gauge{}}
}

// NewAddsMetric counts the items that were added.
func (WorkqueueProvider) NewAddsMetric(name string) workqueue.CounterMetric {
	return adds.WithLabelValues(name, name)
}

// NewLatencyMetric observes how long items were queued.
func (WorkqueueProvider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return latency.WithLabelValues(name, name)
}

// NewWorkDurationMetric observes how long items were processed.
func (WorkqueueProvider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return workDuration.WithLabelValues(name, name)
}

// NewUnfinishedWorkSecondsMetric sums up how long the items in work have been there.
func (WorkqueueProvider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return unfinished.WithLabelValues(name, name)
}

// NewLongestRunningProcessorSecondsMetric shows the age of the oldest item in work.
func (WorkqueueProvider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return longestRunning.WithLabelValues(name, name)
}

// NewRetriesMetric counts the items that were added with a delay.
func (WorkqueueProvider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return retries.WithLabelValues(name, name)
}
