package reflector

import (
	"strconv"
	"time"

	"k8s.io/client-go/tools/cache"
)

// metrics reports under the interface that client-go's reflector used to report
// under. The zero value reports nothing.
type metrics struct {
	lists, watches, shortWatches                           cache.CounterMetric
	listDuration, watchDuration, itemsInList, itemsInWatch cache.SummaryMetric
	lastVersion                                            cache.GaugeMetric
}

func newMetrics(name string, p cache.MetricsProvider) metrics {
	if p == nil {
		return metrics{}
	}
	return metrics{
		lists:         p.NewListsMetric(name),
		listDuration:  p.NewListDurationMetric(name),
		itemsInList:   p.NewItemsInListMetric(name),
		watches:       p.NewWatchesMetric(name),
		shortWatches:  p.NewShortWatchesMetric(name),
		watchDuration: p.NewWatchDurationMetric(name),
		itemsInWatch:  p.NewItemsInWatchMetric(name),
		lastVersion:   p.NewLastResourceVersionMetric(name),
	}
}

func (m *metrics) listed(took time.Duration, items int) {
	if m.lists != nil {
		m.lists.Inc()
		m.listDuration.Observe(took.Seconds())
		m.itemsInList.Observe(float64(items))
	}
}

func (m *metrics) watchOpened() {
	if m.watches != nil {
		m.watches.Inc()
	}
}

func (m *metrics) watched(lasted time.Duration, items int) {
	if m.watches == nil {
		return
	}
	m.watchDuration.Observe(lasted.Seconds())
	m.itemsInWatch.Observe(float64(items))
	if lasted < shortWatch && items == 0 {
		m.shortWatches.Inc()
	}
}

func (m *metrics) version(v string) {
	if m.lastVersion == nil {
		return
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		m.lastVersion.Set(n)
	}
}
