package controller

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/metrics"
)

// controllerMetrics are the metrics of one controller, looked up once and not with
// every request. All are made when the controller starts, not when it is made: a
// process that does not lead shows none, one that leads shows 0 and not nothing.
type controllerMetrics struct {
	resultError, resultRequeueAfter, resultRequeue, resultSuccess prometheus.Counter
	errors, terminalErrors, panics, timeouts                      prometheus.Counter

	duration      prometheus.Observer
	activeWorkers prometheus.Gauge
}

func newControllerMetrics(name string, workers int) *controllerMetrics {
	metrics.WorkerCount.WithLabelValues(name).Set(float64(workers))
	m := &controllerMetrics{
		resultError:        metrics.ReconcileTotal.WithLabelValues(name, "error"),
		resultRequeueAfter: metrics.ReconcileTotal.WithLabelValues(name, "requeue_after"),
		resultRequeue:      metrics.ReconcileTotal.WithLabelValues(name, "requeue"),
		resultSuccess:      metrics.ReconcileTotal.WithLabelValues(name, "success"),
		errors:             metrics.ReconcileErrors.WithLabelValues(name),
		terminalErrors:     metrics.TerminalReconcileErrors.WithLabelValues(name),
		panics:             metrics.ReconcilePanics.WithLabelValues(name),
		timeouts:           metrics.ReconcileTimeouts.WithLabelValues(name),
		duration:           metrics.ReconcileTime.WithLabelValues(name),
		activeWorkers:      metrics.ActiveWorkers.WithLabelValues(name),
	}
	m.activeWorkers.Set(0)
	return m
}
