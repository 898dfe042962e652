package deltafifo

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// metrics are the two that client-go defines for a queue; without a provider or
// a reserved identifier they are nil and cost nothing.
type metrics struct {
	queued  cache.GaugeMetric
	latency cache.HistogramMetric
}

func newMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) metrics {
	if provider == nil || !id.Reserved() {
		return metrics{}
	}
	return metrics{queued: provider.NewQueuedItemMetric(id), latency: provider.NewProcessingLatencyMetric(id)}
}

func (m metrics) waiting(n int) {
	if m.queued != nil {
		m.queued.Set(float64(n))
	}
}

func (m metrics) took(d time.Duration) {
	if m.latency != nil {
		m.latency.Observe(d.Seconds())
	}
}
