package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// DepthWithPriority is the depth of a queue, by priority.
type DepthWithPriority interface {
	Inc(priority int)
	Dec(priority int)
}

const (
	// maxPriorities bounds the time series that one queue may make: priorities are
	// chosen by users, and some will put a timestamp there.
	maxPriorities     = 25
	tooManyPriorities = "exceeded_cardinality_limit"
)

// depthWithPriority has one gauge for each of the first 25 priorities that it
// sees; from the 26th on everything goes to one gauge more.
type depthWithPriority struct {
	gauges *prometheus.GaugeVec

	mu       sync.Mutex // guards the fields below
	known    map[int]prometheus.Gauge
	overflow prometheus.Gauge // not nil once there were too many
}

func (d *depthWithPriority) Inc(priority int) { d.gauge(priority).Inc() }
func (d *depthWithPriority) Dec(priority int) { d.gauge(priority).Dec() }

func (d *depthWithPriority) gauge(priority int) prometheus.Gauge {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.overflow != nil {
		return d.overflow
	}
	if g, ok := d.known[priority]; ok {
		return g
	}
	if len(d.known) == maxPriorities {
		d.overflow = d.gauges.WithLabelValues(tooManyPriorities)
		return d.overflow
	}
	g := d.gauges.WithLabelValues(strconv.Itoa(priority))
	d.known[priority] = g
	return g
}
