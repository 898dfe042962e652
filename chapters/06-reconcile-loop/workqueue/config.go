package workqueue

import (
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/metrics"
)

// Config is the same for the three floors. The zero value is a queue without
// metrics. It stands for client-go's TypedQueueConfig, TypedDelayingQueueConfig
// and TypedRateLimitingQueueConfig.
type Config struct {
	// Name is the queue's name in metrics and logs. Without one there are no metrics.
	Name string

	// MetricsProvider makes the metrics; nil means controller-runtime's, as a
	// program that links controller-runtime has it in client-go's queues.
	MetricsProvider workqueue.MetricsProvider

	// Clock is for tests with a fake clock; nil means the real one.
	Clock clock.WithTicker

	// AddReplacesDelayed makes Add of an item, and AddAfter without a delay, call off
	// the AddAfter that still waits for it, so that the item is not handed out twice.
	// client-go's queue does not do that, so it is off unless asked for.
	AddReplacesDelayed bool
}

func (c Config) withDefaults() Config {
	if c.MetricsProvider == nil {
		c.MetricsProvider = metrics.WorkqueueProvider{}
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	return c
}
