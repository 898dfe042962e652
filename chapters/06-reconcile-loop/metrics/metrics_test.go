package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCollectorsAreControllerRuntimes writes with ours and reads in the registry
// that controller-runtime serves.
func TestCollectorsAreControllerRuntimes(t *testing.T) {
	const name = "shared"
	cases := map[string]func(){
		"controller_runtime_reconcile_total":                 func() { ReconcileTotal.WithLabelValues(name, "success").Inc() },
		"controller_runtime_reconcile_errors_total":          func() { ReconcileErrors.WithLabelValues(name).Inc() },
		"controller_runtime_terminal_reconcile_errors_total": func() { TerminalReconcileErrors.WithLabelValues(name).Inc() },
		"controller_runtime_reconcile_panics_total":          func() { ReconcilePanics.WithLabelValues(name).Inc() },
		"controller_runtime_reconcile_timeouts_total":        func() { ReconcileTimeouts.WithLabelValues(name).Inc() },
		"controller_runtime_reconcile_time_seconds":          func() { ReconcileTime.WithLabelValues(name).Observe(1) },
		"controller_runtime_max_concurrent_reconciles":       func() { WorkerCount.WithLabelValues(name).Set(1) },
		"controller_runtime_active_workers":                  func() { ActiveWorkers.WithLabelValues(name).Set(1) },
	}
	for metric, write := range cases {
		t.Run(metric, func(t *testing.T) {
			before, err := testutil.GatherAndCount(crmetrics.Registry, metric)
			require.NoError(t, err)
			write()
			after, err := testutil.GatherAndCount(crmetrics.Registry, metric)
			require.NoError(t, err)
			assert.Equal(t, before+1, after, "one time series more")
			ReconcileTotal.Reset()
			ReconcileErrors.Reset()
			TerminalReconcileErrors.Reset()
			ReconcilePanics.Reset()
			ReconcileTimeouts.Reset()
			ReconcileTime.Reset()
			WorkerCount.Reset()
			ActiveWorkers.Reset()
		})
	}
}

func TestShared(t *testing.T) {
	first := shared(prometheus.NewCounter(prometheus.CounterOpts{Name: "shared_total", Help: "one"}))
	t.Cleanup(func() { crmetrics.Registry.Unregister(first) })
	again := shared(prometheus.NewCounter(prometheus.CounterOpts{Name: "shared_total", Help: "one"}))
	assert.Same(t, first, again, "the registered one is taken")
	assert.Panics(t, func() {
		shared(prometheus.NewCounter(prometheus.CounterOpts{Name: "shared_total", Help: "another"}))
	}, "one of that name with another meaning is nobody's")
}
