package metrics

import "github.com/prometheus/client_golang/prometheus"

// The collectors of the controller, by controller name. They stand for those of
// controller-runtime's internal/controller/metrics.
var (
	ReconcileTotal = shared(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "controller_runtime_reconcile_total",
		Help: "Total number of reconciliations per controller",
	}, []string{"controller", "result"}))

	ReconcileErrors = shared(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "controller_runtime_reconcile_errors_total",
		Help: "Total number of reconciliation errors per controller",
	}, []string{"controller"}))

	TerminalReconcileErrors = shared(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "controller_runtime_terminal_reconcile_errors_total",
		Help: "Total number of terminal reconciliation errors per controller",
	}, []string{"controller"}))

	ReconcilePanics = shared(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "controller_runtime_reconcile_panics_total",
		Help: "Total number of reconciliation panics per controller",
	}, []string{"controller"}))

	ReconcileTimeouts = shared(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "controller_runtime_reconcile_timeouts_total",
		Help: "Total number of reconciliation timeouts per controller",
	}, []string{"controller"}))

	// Buckets are no part of a collector's identity: the registered ones count.
	ReconcileTime = shared(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "controller_runtime_reconcile_time_seconds",
		Help: "Length of time per reconciliation per controller",
	}, []string{"controller"}))

	WorkerCount = shared(prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "controller_runtime_max_concurrent_reconciles",
		Help: "Maximum number of concurrent reconciles per controller",
	}, []string{"controller"}))

	ActiveWorkers = shared(prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "controller_runtime_active_workers",
		Help: "Number of currently used workers per controller",
	}, []string{"controller"}))
)
