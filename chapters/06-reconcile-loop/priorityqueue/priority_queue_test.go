package priorityqueue_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/priorityqueue"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/queuetest"
)

// programs is how many random programs a run of the tests makes; fewer where -short asks for haste.
func programs() int {
	if testing.Short() {
		return 500
	}
	return 10_000
}

// constructors are controller-runtime's and ours.
var constructors = map[string]func(name string, opts ...upstream.Opt[string]) upstream.PriorityQueue[string]{
	"upstream": upstream.New[string],
	"chapters": priorityqueue.New[string],
}

// TestSameAsControllerRuntime runs random programs on both queues, in virtual time,
// and compares all that can be seen.
func TestSameAsControllerRuntime(t *testing.T) {
	for run := 0; run < programs(); {
		rapid.Check(t, func(rt *rapid.T) {
			run++
			program := queuetest.Program(rt, true)
			want := queuetest.Run(t, func() queuetest.Queue { return upstream.New[string]("") }, program)
			got := queuetest.Run(t, func() queuetest.Queue { return priorityqueue.New[string]("") }, program)
			for i := range want {
				if want[i] != got[i] {
					rt.Fatalf("step %d\nupstream: %s\nours:     %s\nbefore:\n%s", i, want[i], got[i], strings.Join(want[:i], "\n"))
				}
			}
		})
	}
}

// TestRaisedWhileWaiting is about items that become due at one time, which random
// programs avoid: the order then is that of the priorities, and of the raises.
func TestRaisedWhileWaiting(t *testing.T) {
	for name, newQueue := range constructors {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue("")
				q.AddWithOpts(upstream.AddOpts{After: time.Minute}, "a", "b", "c")
				q.AddWithOpts(upstream.AddOpts{After: time.Hour, Priority: new(1)}, "c")
				q.AddWithOpts(upstream.AddOpts{After: time.Hour, Priority: new(1)}, "a")
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, 3, q.Len(), "the sooner time counts")
				for _, want := range []string{"c", "a", "b"} {
					item, _ := q.Get()
					require.Equal(t, want, item)
				}
				q.ShutDown()
			})
		})
	}
}

func TestB79_AddMergesAWaitingAddAfter(t *testing.T) {
	for name, newQueue := range constructors {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue("")
				q.AddAfter("x", 5*time.Hour)
				synctest.Wait()
				q.AddAfter("x", 0)
				item, _ := q.Get()
				require.Equal(t, "x", item)
				q.Done(item)
				time.Sleep(6 * time.Hour)
				synctest.Wait()
				assert.Zero(t, q.Len(), "the later add was merged into the earlier")
				q.ShutDown()
			})
		})
	}
}

func TestB85_ShutDownReleasesGet(t *testing.T) {
	for name, newQueue := range constructors {
		t.Run(name, func(t *testing.T) {
			q := newQueue("")
			var workers sync.WaitGroup
			for range 8 {
				workers.Go(func() {
					_, shutdown := q.Get()
					assert.True(t, shutdown)
				})
			}
			q.ShutDown()
			workers.Wait()
			_, _, shutdown := q.GetWithPriority()
			assert.True(t, shutdown, "a Get that comes later")
		})
	}
}

func TestB85_ShutDownComesBeforeQueuedItems(t *testing.T) {
	for name, newQueue := range constructors {
		t.Run(name, func(t *testing.T) {
			q := newQueue("")
			q.Add("x")
			q.ShutDown()
			_, shutdown := q.Get()
			assert.True(t, shutdown, "unlike the workqueue, which hands x out first")
			q.Add("y")
			assert.Zero(t, must(q.Get()), "nothing is handed out any more")
		})
	}
}

func TestB85_ShutDownWhileItemsAreHandedOut(t *testing.T) {
	for name, newQueue := range constructors {
		t.Run(name, func(t *testing.T) {
			for range 1000 {
				q := newQueue("")
				var all sync.WaitGroup
				for range 2 {
					all.Go(func() {
						for {
							item, shutdown := q.Get()
							if shutdown {
								return
							}
							q.Done(item)
						}
					})
				}
				all.Go(func() { q.AddWithOpts(upstream.AddOpts{}, "a", "b", "c", "d") })
				all.Go(q.ShutDown)
				all.Wait()
			}
		})
	}
}

func TestSecondShutDown(t *testing.T) {
	q := upstream.New[string]("")
	q.ShutDown()
	assert.Panics(t, q.ShutDown, "upstream panics; drop this when it doesn't")

	q = priorityqueue.New[string]("")
	q.ShutDown()
	assert.NotPanics(t, q.ShutDown)
	assert.NotPanics(t, q.ShutDownWithDrain)
	assert.True(t, q.ShuttingDown())
}

// slowLimiter lets nobody through before it is told to.
type slowLimiter struct {
	workqueue.TypedRateLimiter[string]
	open chan struct{}
}

func (l slowLimiter) When(item string) time.Duration {
	<-l.open
	return l.TypedRateLimiter.When(item)
}

// A call has done its work when it returns. Upstream's puts it into a buffer and
// returns; the work, the limiter's too, is another goroutine's.
func TestCallHasTakenEffectWhenItReturns(t *testing.T) {
	for name, buffers := range map[string]bool{"upstream": true, "chapters": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := slowLimiter{workqueue.NewTypedItemFastSlowRateLimiter[string](0, 0, 0), make(chan struct{})}
				q := constructors[name]("", func(o *upstream.Opts[string]) { o.RateLimiter = limiter })
				var returned atomic.Bool
				go func() {
					q.AddRateLimited("x")
					returned.Store(true)
				}()
				synctest.Wait()
				assert.Equal(t, buffers, returned.Load(), "the limiter has not answered yet")
				close(limiter.open)
				synctest.Wait()
				assert.Equal(t, 1, q.Len())
				q.ShutDown()
			})
		})
	}
}

// TestMetricsSameAsControllerRuntime runs a program on both and compares every
// time series, among them one depth for each priority.
func TestMetricsSameAsControllerRuntime(t *testing.T) {
	step := func(item string, priority int, after time.Duration) queuetest.Step {
		return queuetest.Step{Op: queuetest.AddWithOpts, Item: item, Opts: upstream.AddOpts{Priority: &priority, After: after}}
	}
	program := []queuetest.Step{
		step("a", 3, 0), step("b", 1, 0), step("b", 2, 0), step("c", 0, time.Second), step("c", 4, 2*time.Second),
		{Op: queuetest.Get},
		step("a", 5, 0), step("a", 6, 0), step("a", 5, time.Second), step("e", -1, time.Second), step("e", -1, 0),
		{Op: queuetest.Sleep, Delay: time.Minute},
		{Op: queuetest.Get},
		{Op: queuetest.Done},
		{Op: queuetest.AddRateLimited, Item: "f"},
	}
	series := map[string][]string{}
	for name, newQueue := range constructors {
		queueName := queuetest.Name(name)
		queuetest.Run(t, func() queuetest.Queue { return newQueue(queueName) }, program)
		series[name] = seriesOf(t, queueName)
	}
	assert.Equal(t, series["upstream"], series["chapters"])
	assert.Contains(t, series["chapters"], "workqueue_depth priority=2 1")
	assert.NotEmpty(t, series["chapters"])
}

func TestTooManyPrioritiesShareOneSeries(t *testing.T) {
	for name, newQueue := range constructors {
		t.Run(name, func(t *testing.T) {
			queueName := queuetest.Name(name)
			q := newQueue(queueName)
			defer q.ShutDown()
			for priority := range 40 {
				q.AddWithOpts(upstream.AddOpts{Priority: &priority}, fmt.Sprint(priority))
			}
			require.Equal(t, 40, q.Len())
			depths := slices.DeleteFunc(seriesOf(t, queueName), func(s string) bool { return !strings.HasPrefix(s, "workqueue_depth") })
			assert.Len(t, depths, 26, "25 priorities and one for all others")
			assert.Contains(t, depths, "workqueue_depth priority=exceeded_cardinality_limit 15")
		})
	}
}

func TestItemsAreLogged(t *testing.T) {
	for name, newQueue := range constructors {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var logged []string
			log := funcr.New(func(_, args string) {
				mu.Lock()
				defer mu.Unlock()
				logged = append(logged, args)
			}, funcr.Options{Verbosity: 5})
			synctest.Test(t, func(t *testing.T) {
				q := newQueue("", func(o *upstream.Opts[string]) { o.Log = logr.Logger(log) })
				q.Add("busy")
				q.Get()
				q.AddWithOpts(upstream.AddOpts{Priority: new(7), After: time.Hour}, "x")
				time.Sleep(11 * time.Second)
				synctest.Wait()
				q.ShutDown()
			})
			require.Len(t, logged, 1, "once in 10 s")
			assert.Contains(t, logged[0], `"msg"="workqueue_items"`)
			assert.Contains(t, logged[0], `"key"="x"`)
			assert.Contains(t, logged[0], `"priority"=7`)
			assert.NotContains(t, logged[0], "busy", "an item in work is not queued")
		})
	}
}

func must(item string, _ bool) string { return item }

// seriesOf are the time series of the queue of that name, without it.
func seriesOf(t *testing.T, name string) (series []string) {
	t.Helper()
	families, err := ctrlmetrics.Registry.(prometheus.Gatherer).Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := m.GetLabel()
			if len(labels) < 2 || labels[1].GetValue() != name {
				continue
			}
			line := family.GetName()
			if len(labels) > 2 {
				line += " priority=" + labels[2].GetValue()
			}
			switch {
			case m.GetCounter() != nil:
				line += fmt.Sprint(" ", m.GetCounter().GetValue())
			case m.GetGauge() != nil:
				line += fmt.Sprint(" ", m.GetGauge().GetValue())
			default:
				line += fmt.Sprintf(" %d times, %.6f s in all", m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum())
			}
			series = append(series, line)
		}
	}
	return series
}
