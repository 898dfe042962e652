package workqueue_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	upstream "k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/queuetest"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
)

func TestDoneOfAnItemThatIsNotInWork(t *testing.T) {
	q := workqueue.New[string](workqueue.Config{})
	defer q.ShutDown()
	q.Add("x")
	q.Done("x")
	q.Done("unknown")
	assert.Equal(t, 1, q.Len(), "client-go's queue would queue x a second time")
	item, _ := q.Get()
	assert.Equal(t, "x", item)
}

func TestManyItemsKeepTheirOrder(t *testing.T) {
	q := workqueue.NewDelaying[int](workqueue.Config{})
	defer q.ShutDown()
	const items = 1000 // more than the queue keeps entries for
	for round := range 2 {
		for i := range items {
			q.Add(i)
		}
		require.Equal(t, items, q.Len())
		for want := range items {
			got, _ := q.Get()
			require.Equal(t, want, got, "round %d", round)
			q.Done(got)
		}
	}
}

func TestDrainSaysWhatItWaitsFor(t *testing.T) {
	var log bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	defer func() {
		klog.SetOutput(nil)
		klog.LogToStderr(true)
	}()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New[string](workqueue.Config{Name: "stuck", MetricsProvider: noMetrics{}})
		q.Add("a")
		q.Add("b")
		q.Get()
		go q.ShutDownWithDrain()
		time.Sleep(11 * time.Second)
		synctest.Wait()
		q.ShutDown()
	})
	klog.Flush()
	assert.Contains(t, log.String(), `"Workqueue still waits to drain" queue="stuck" queued=1 inWork=1`)
}

func TestFakeClock(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	q := workqueue.NewDelaying[string](workqueue.Config{Clock: clock})
	defer q.ShutDown()
	q.AddAfter("x", time.Hour)
	require.Eventually(t, clock.HasWaiters, 10*time.Second, time.Millisecond, "a timer runs for x")
	clock.Step(time.Hour - time.Second)
	assert.Zero(t, q.Len(), "x is not due")
	clock.Step(time.Second)
	item, _ := q.Get()
	assert.Equal(t, "x", item)
}

// TestMetricsSameAsClientGo runs a program on both and compares every time series.
func TestMetricsSameAsClientGo(t *testing.T) {
	program := []queuetest.Step{
		{Op: queuetest.Add, Item: "a"},
		{Op: queuetest.Add, Item: "b"},
		{Op: queuetest.Add, Item: "a"},
		{Op: queuetest.AddAfter, Item: "c", Delay: 10 * time.Millisecond},
		{Op: queuetest.Get},
		{Op: queuetest.Add, Item: "a"},
		{Op: queuetest.Add, Item: "a"},
		{Op: queuetest.AddRateLimited, Item: "b"},
		{Op: queuetest.Sleep, Delay: time.Minute},
		{Op: queuetest.Done},
		{Op: queuetest.AddAfter, Item: "d", Delay: 0},
		{Op: queuetest.Get},
	}
	series := func(name string, newQueue func(name string) queuetest.Queue) []string {
		trace := queuetest.Run(t, func() queuetest.Queue { return newQueue(name) }, program)
		return append(seriesOf(t, name), trace...)
	}
	want := series(queuetest.Name("upstream"), func(name string) queuetest.Queue {
		return upstream.NewTypedRateLimitingQueueWithConfig(upstream.DefaultTypedControllerRateLimiter[string](), upstream.TypedRateLimitingQueueConfig[string]{Name: name})
	})
	got := series(queuetest.Name("chapters"), func(name string) queuetest.Queue {
		return workqueue.NewRateLimiting[string](nil, workqueue.Config{Name: name})
	})
	assert.Equal(t, want, got)
	assert.Contains(t, got, "workqueue_adds_total 5")
	assert.Contains(t, got, "workqueue_retries_total 3")
	assert.Contains(t, got, "workqueue_depth 3")
	assert.Contains(t, got, "workqueue_longest_running_processor_seconds 1199.999988", "the last item stays in work")
}

// seriesOf are the time series of the queue of that name, without it.
func seriesOf(t *testing.T, name string) (series []string) {
	t.Helper()
	families, err := ctrlmetrics.Registry.(prometheus.Gatherer).Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if len(m.GetLabel()) < 2 || m.GetLabel()[1].GetValue() != name {
				continue
			}
			series = append(series, family.GetName()+" "+value(m))
		}
	}
	return series
}

func value(m *dto.Metric) string {
	switch {
	case m.GetCounter() != nil:
		return fmt.Sprint(m.GetCounter().GetValue())
	case m.GetGauge() != nil:
		return fmt.Sprint(m.GetGauge().GetValue())
	default:
		return fmt.Sprintf("%d times, %.9f s in all", m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum())
	}
}

type noMetric struct{}

func (noMetric) Inc()            {}
func (noMetric) Dec()            {}
func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}

type noMetrics struct{}

func (noMetrics) NewDepthMetric(string) upstream.GaugeMetric            { return noMetric{} }
func (noMetrics) NewAddsMetric(string) upstream.CounterMetric           { return noMetric{} }
func (noMetrics) NewLatencyMetric(string) upstream.HistogramMetric      { return noMetric{} }
func (noMetrics) NewWorkDurationMetric(string) upstream.HistogramMetric { return noMetric{} }
func (noMetrics) NewRetriesMetric(string) upstream.CounterMetric        { return noMetric{} }
func (noMetrics) NewUnfinishedWorkSecondsMetric(string) upstream.SettableGaugeMetric {
	return noMetric{}
}
func (noMetrics) NewLongestRunningProcessorSecondsMetric(string) upstream.SettableGaugeMetric {
	return noMetric{}
}
