package controller_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/metrics"
)

// A controller that has nothing to do runs on, and speaks of a shutdown only when
// there is one.
func TestIdleControllerRunsOn(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		log := newTestLog()
		w := newController(upstream.Options{Logger: log.Logger, Reconciler: noop}).start()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.NotContains(t, log.String(), "waiting for")
		require.NoError(t, w.stop())
		assert.Contains(t, log.String(), "Shutdown signal received, waiting for all workers to finish")
	})
}

// What the reconciler has left running with its context ends with the timeout's
// context, and the timeout's timer with it.
func TestContextEndsWithTheReconcile(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		var given context.Context
		w := newController(upstream.Options{ReconciliationTimeout: time.Hour, Reconciler: reconcile.Func(func(ctx context.Context, _ request) (result, error) {
			given = ctx
			return result{}, ctx.Err()
		})})
		_, err := w.Reconcile(context.Background(), named("a"))
		require.NoError(t, err)
		assert.ErrorIs(t, given.Err(), context.Canceled)
	})
}

// An error alone brings no warning about an answer that does not count.
func TestErrorAloneIsNotWarnedOf(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		log := newTestLog()
		w := newController(upstream.Options{Logger: log.Logger, Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
			return result{}, reconcile.TerminalError(errors.New("no good"))
		})}).start()
		w.queue.Add(named("a"))
		synctest.Wait()
		assert.Contains(t, log.String(), "Reconciler error")
		assert.NotContains(t, log.String(), "Warning")
		require.NoError(t, w.stop())
	})
}

// seriesOf are the names of the metrics that are shown of the controller.
func seriesOf(t *testing.T, name string) (families []string) {
	t.Helper()
	all, err := ctrlmetrics.Registry.(prometheus.Gatherer).Gather()
	require.NoError(t, err)
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if labels := m.GetLabel(); len(labels) > 0 && labels[0].GetName() == "controller" && labels[0].GetValue() == name &&
				(len(families) == 0 || families[len(families)-1] != family.GetName()) {
				families = append(families, family.GetName())
			}
		}
	}
	return families
}

// What has never happened is shown as 0 from the start on, and not before.
func TestMetricsAreThereFromTheStart(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		w := newController(upstream.Options{UsePriorityQueue: new(false), Reconciler: noop})
		assert.NotContains(t, seriesOf(t, w.name), "controller_runtime_active_workers")
		w.start()
		got := seriesOf(t, w.name)
		for _, metric := range []string{"active_workers", "max_concurrent_reconciles", "reconcile_errors_total", "reconcile_panics_total",
			"reconcile_timeouts_total", "reconcile_total", "terminal_reconcile_errors_total"} {
			assert.Contains(t, got, "controller_runtime_"+metric)
		}
		require.NoError(t, w.stop())
	})
}

func TestActiveWorkersBeginAtZero(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		w := newController(upstream.Options{Reconciler: noop})
		active := metrics.ActiveWorkers.WithLabelValues(w.name)
		active.Set(5) // whatever an earlier controller of the name has left
		w.start()
		assert.Zero(t, testutil.ToFloat64(active))
		require.NoError(t, w.stop())
	})
}

func TestDurationIsObserved(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		w := newController(upstream.Options{Reconciler: reconcile.Func(func(_ context.Context, r request) (result, error) {
			time.Sleep(3 * time.Second)
			if r.Name == "bad" {
				return result{}, reconcile.TerminalError(errors.New("no good"))
			}
			return result{}, nil
		})}).start()
		w.queue.Add(named("good"))
		w.queue.Add(named("bad"))
		time.Sleep(time.Minute)
		synctest.Wait()
		var m dto.Metric
		require.NoError(t, metrics.ReconcileTime.WithLabelValues(w.name).(prometheus.Metric).Write(&m))
		assert.EqualValues(t, 2, m.GetHistogram().GetSampleCount())
		assert.InDelta(t, 6, m.GetHistogram().GetSampleSum(), 0.001)
		require.NoError(t, w.stop())
	})
}

// What a plain queue is given without a delay is an event and no retry.
func TestEventsAreNotCountedAsRetries(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		w := newController(upstream.Options{UsePriorityQueue: new(false), Reconciler: noop}).start()
		q := w.queue.(priorityqueue.PriorityQueue[request])
		retries := func() float64 {
			all, err := ctrlmetrics.Registry.(prometheus.Gatherer).Gather()
			require.NoError(t, err)
			for _, family := range all {
				for _, m := range family.GetMetric() {
					for _, label := range m.GetLabel() {
						if family.GetName() == "workqueue_retries_total" && label.GetValue() == w.name {
							return m.GetCounter().GetValue()
						}
					}
				}
			}
			return -1
		}
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(7)}, named("event"))
		assert.EqualValues(t, 0, retries())
		q.AddWithOpts(priorityqueue.AddOpts{After: time.Second}, named("later"))
		assert.EqualValues(t, 1, retries())
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NoError(t, w.stop())
	})
}
