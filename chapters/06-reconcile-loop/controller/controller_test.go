package controller_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/config"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/controller"
)

func TestBadInput(t *testing.T) {
	taken := uniqueName()
	require.NoError(t, second(controller.NewUnmanaged(taken, upstream.Options{Reconciler: noop})))
	cases := map[string]struct {
		reason, name string
		options      upstream.Options
		want         string
	}{
		"no name":       {"it could not be found in metrics", "", upstream.Options{Reconciler: noop}, "needs a name"},
		"no reconciler": {"there is nothing to call", "lazy", upstream.Options{}, `controller "lazy" has nothing to call: set Options.Reconciler`},
		"name is taken": {"two would write one metric", taken, upstream.Options{Reconciler: noop}, `there is a controller named "` + taken + `" already`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, second(controller.NewUnmanaged(c.name, c.options)), c.want, c.reason)
		})
	}
	require.NoError(t, second(controller.NewUnmanaged(taken, upstream.Options{Reconciler: noop, SkipNameValidation: new(true)})), "unless told otherwise")
	require.ErrorContains(t, second(controller.New("orphan", nil, upstream.Options{Reconciler: noop})), `controller "orphan" needs a manager`)
}

func second(_ upstream.Controller, err error) error { return err }

func TestPriorityIsKeptOrReplaced(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		var order []string
		answers := map[string]result{
			"keeps":  {RequeueAfter: time.Second},
			"raised": {RequeueAfter: time.Second, Priority: new(9)},
			"other":  {RequeueAfter: time.Second},
		}
		w := newController(upstream.Options{Reconciler: reconcile.Func(func(_ context.Context, r request) (result, error) {
			order = append(order, r.Name)
			if r.Name == "blocks" {
				time.Sleep(time.Minute)
			}
			answer := answers[r.Name]
			delete(answers, r.Name)
			return answer, nil
		})}).start()
		q := w.queue.(priorityqueue.PriorityQueue[request])
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(5)}, named("keeps"))
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(1)}, named("raised"))
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(3)}, named("other"))
		time.Sleep(time.Millisecond)
		synctest.Wait()
		order = nil
		q.Add(named("blocks"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"blocks", "raised", "keeps", "other"}, order, "all three were due when the worker was free")
		require.NoError(t, w.stop())
	})
}

func TestReconcileIDIsInContextAndLog(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		log := newTestLog()
		ids := map[string]bool{}
		w := newController(upstream.Options{Logger: log.Logger, Reconciler: reconcile.Func(func(ctx context.Context, _ request) (result, error) {
			id := string(upstream.ReconcileIDFromContext(ctx))
			ids[id] = true
			logf.FromContext(ctx).Info("here")
			assert.Contains(t, log.String(), `"reconcileID"="`+id+`"`)
			return result{}, nil
		})}).start()
		for _, name := range []string{"a", "b", "c"} {
			w.queue.Add(named(name))
		}
		synctest.Wait()
		assert.Len(t, ids, 3, "each reconcile has its own")
		assert.NotContains(t, ids, "")
		assert.Contains(t, log.String(), `"controller"="`+w.name+`" "object"={"name"="a" "namespace"="ns"} "namespace"="ns" "name"="a"`)
		require.NoError(t, w.stop())
	})
	assert.Empty(t, controller.ReconcileIDFromContext(context.Background()))
}

func TestReconciliationTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		takes  time.Duration
		want   float64
	}{
		"too long":    {"the deadline is ours", time.Hour, 1},
		"long enough": {"no deadline was met", time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
				w := newController(upstream.Options{ReconciliationTimeout: time.Minute, Reconciler: reconcile.Func(func(ctx context.Context, _ request) (result, error) {
					select {
					case <-ctx.Done():
						return result{}, reconcile.TerminalError(ctx.Err())
					case <-time.After(c.takes):
						return result{}, nil
					}
				})}).start()
				w.queue.Add(named("a"))
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				assert.Equal(t, c.want, w.counter(t, "controller_runtime_reconcile_timeouts_total"), c.reason)
				require.NoError(t, w.stop())
			})
		})
	}
}

func TestWarmupStartsSourcesOnly(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		enabled *bool
		want    int
	}{
		"enabled":    {"the sources start before this process leads", new(true), 1},
		"by default": {"they start with the workers", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
				sources, calls := 0, 0
				w := newController(upstream.Options{EnableWarmup: c.enabled, Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
					calls++
					return result{}, nil
				})})
				require.NoError(t, w.Watch(&syncing{start: func(context.Context) error { sources++; return nil }}))
				ctx, cancel := context.WithCancel(context.Background())
				require.NoError(t, w.Controller.(interface{ Warmup(context.Context) error }).Warmup(ctx))
				assert.Equal(t, c.want, sources, c.reason)
				if c.want > 0 {
					w.queue.Add(named("a"))
				}
				time.Sleep(time.Minute)
				assert.Zero(t, calls, "no worker runs yet")

				w.start()
				assert.Equal(t, 1, sources, "and each starts once")
				assert.Equal(t, c.want, calls, "the queue of the warm-up is worked off")
				cancel()
				require.NoError(t, w.stop())
			})
		})
	}
}

func TestWarmupContextIsNotNeededForTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "chapters", constructors["chapters"], upstream.Options{EnableWarmup: new(true), Reconciler: noop})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		require.NoError(t, w.Controller.(interface{ Warmup(context.Context) error }).Warmup(ctx))
		w.start()
		require.NoError(t, w.stop(), "upstream waits for the warm-up's context")
	})
}

func TestNeedLeaderElection(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		need   *bool
		want   bool
	}{
		"by default": {"only a leader may write", nil, true},
		"asked for":  {"asked for", new(true), true},
		"refused":    {"every replica reconciles", new(false), false},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
				w := newController(upstream.Options{NeedLeaderElection: c.need, Reconciler: noop})
				assert.Equal(t, c.want, w.Controller.(manager.LeaderElectionRunnable).NeedLeaderElection(), c.reason)
			})
		})
	}
}

func TestStopSaysWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newTestLog()
		w := newWorld(t, "chapters", constructors["chapters"], upstream.Options{Logger: log.Logger, MaxConcurrentReconciles: 3,
			Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
				time.Sleep(15 * time.Second)
				return result{}, nil
			})}).start()
		w.queue.Add(named("slow"))
		synctest.Wait()
		require.NoError(t, w.stop())
		assert.Contains(t, log.String(), `"Still waiting for reconciles`)
		assert.Contains(t, log.String(), `"requests"=[{"name"="slow" "namespace"="ns"}]`)
	})
}

func TestStopWaitsForTheRunningReconcileOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		calls := 0
		w := newController(upstream.Options{Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
			calls++
			time.Sleep(time.Second)
			return result{}, errors.New("fails")
		})}).start()
		w.queue.Add(named("a"))
		w.queue.Add(named("b"))
		synctest.Wait()
		require.NoError(t, w.stop())
		time.Sleep(time.Hour)
		assert.Equal(t, 1, calls, "b stays in the queue, and a is not tried again")
		assert.True(t, w.queue.ShuttingDown())
	})
}

func TestFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "chapters", constructors["chapters"], upstream.Options{Reconciler: noop})
		require.NoError(t, w.Watch(&syncing{sync: func(context.Context) error { return errors.New("no such kind") }}))
		w.start()
		require.ErrorContains(t, <-w.ended, "no such kind")
		assert.True(t, w.queue.ShuttingDown(), "nobody will take anything from the queue")
		require.ErrorContains(t, w.Start(context.Background()), "was started already", "its sources don't start a second time")
		require.Error(t, w.Watch(nil), "a nil source is refused where it comes in")
		w.cancel()
	})
}

// oneManager is a manager that only takes controllers.
type oneManager struct {
	manager.Manager
	defaults config.Controller
	added    []manager.Runnable
}

func (m *oneManager) GetControllerOptions() config.Controller { return m.defaults }

func (m *oneManager) Add(r manager.Runnable) error {
	m.added = append(m.added, r)
	return nil
}

func TestDefaultsComeFromTheManager(t *testing.T) {
	for name, newController := range map[string]func(string, manager.Manager, upstream.Options) (upstream.Controller, error){
		"upstream": upstream.New, "chapters": controller.New,
	} {
		t.Run(name, func(t *testing.T) {
			mgr := &oneManager{defaults: config.Controller{
				NeedLeaderElection: new(false), RecoverPanic: new(false), SkipNameValidation: new(true),
			}}
			panics := reconcile.Func(func(context.Context, request) (result, error) { panic("no good") })
			for range 2 {
				c, err := newController("defaults", mgr, upstream.Options{Reconciler: panics})
				require.NoError(t, err, "the manager says not to check names")
				assert.Panics(t, func() { _, _ = c.Reconcile(context.Background(), named("a")) }, "nor to recover")
				assert.False(t, c.(manager.LeaderElectionRunnable).NeedLeaderElection())
			}
			c, err := newController("defaults", mgr, upstream.Options{Reconciler: panics, RecoverPanic: new(true)})
			require.NoError(t, err)
			_, err = c.Reconcile(context.Background(), named("a"))
			require.Error(t, err, "what the controller says goes before")
			assert.Len(t, mgr.added, 3, "each was added to the manager")
		})
	}
}

func TestWhichQueue(t *testing.T) {
	const ours = "informer-walkthrough/chapters/06-reconcile-loop/"
	for name, c := range map[string]struct {
		reason string
		use    *bool
		want   string
	}{
		"by default": {"as upstream", nil, ours + "priorityqueue"},
		"asked for":  {"asked for", new(true), ours + "priorityqueue"},
		"refused":    {"the queue of the article", new(false), ours + "controller"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "chapters", constructors["chapters"], upstream.Options{UsePriorityQueue: c.use, Reconciler: noop}).start()
				typ := reflect.TypeOf(w.queue)
				if typ.Kind() == reflect.Pointer {
					typ = typ.Elem()
				}
				assert.Contains(t, typ.PkgPath(), c.want, c.reason)
				require.NoError(t, w.stop())
			})
		})
	}
}
