package controller_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

func TestB17_ChannelSourceLivesAsLongAsTheController(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		var reconciled []request
		w := newController(upstream.Options{
			CacheSyncTimeout: 50 * time.Millisecond,
			Reconciler: reconcile.Func(func(_ context.Context, r request) (result, error) {
				reconciled = append(reconciled, r)
				return result{}, nil
			}),
		})
		events := make(chan event.GenericEvent)
		require.NoError(t, w.Watch(source.Channel(events, &handler.EnqueueRequestForObject{})))
		w.start()
		time.Sleep(time.Minute)
		events <- event.GenericEvent{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}}
		synctest.Wait()
		assert.Equal(t, []request{named("a")}, reconciled, "the sync is long over, the source must live")
		require.NoError(t, w.stop())
		// The bubble ends only if the source's goroutines do.
	})
}

func TestB87_PanicOfOneRequest(t *testing.T) {
	for name, recoverPanic := range map[string]*bool{"by default": nil, "if asked for": new(true)} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
				var handled, bad, good atomic.Int64
				utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { handled.Add(1) }}
				defer func() { utilruntime.PanicHandlers = nil }()

				w := newController(upstream.Options{RecoverPanic: recoverPanic, Reconciler: reconcile.Func(func(_ context.Context, r request) (result, error) {
					if r.Name == "good" {
						good.Add(1)
					} else if bad.Add(1) < 4 {
						panic("no good")
					}
					return result{}, nil
				})})
				_, err := w.Reconcile(context.Background(), named("bad"))
				require.EqualError(t, err, "panic: no good [recovered]")

				w.start()
				w.queue.Add(named("bad"))
				w.queue.Add(named("good"))
				synctest.Wait()
				assert.EqualValues(t, 2, bad.Load())
				assert.EqualValues(t, 1, good.Load(), "the worker goes on")
				assert.Equal(t, 1, w.queue.NumRequeues(named("bad")), "and tries again later")
				time.Sleep(time.Second)
				synctest.Wait()
				assert.EqualValues(t, 4, bad.Load())
				assert.EqualValues(t, 3, handled.Load(), "panic handlers are called")
				assert.EqualValues(t, 3, w.counter(t, "controller_runtime_reconcile_panics_total"))
				assert.EqualValues(t, 2, w.counter(t, "controller_runtime_reconcile_errors_total"))
				require.NoError(t, w.stop())
			})
		})
	}
	t.Run("goes through if told not to recover", func(t *testing.T) {
		onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
			w := newController(upstream.Options{RecoverPanic: new(false), Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
				panic("no good")
			})})
			assert.PanicsWithValue(t, "no good", func() { _, _ = w.Reconcile(context.Background(), named("bad")) })
			assert.EqualValues(t, 1, w.counter(t, "controller_runtime_reconcile_panics_total"))
		})
	})
}

func TestB88_FailuresAreForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		last   result
		want   int
	}{
		"RequeueAfter": {"a delay that was asked for is a success", result{RequeueAfter: time.Hour}, 0},
		"success":      {"so is nothing", result{}, 0},
		"Requeue":      {"a rate limited retry counts like a failure", result{Requeue: true}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
				calls := 0
				w := newController(upstream.Options{Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
					calls++
					if calls <= 5 {
						return result{}, errors.New("fails")
					}
					return c.last, nil
				})}).start()
				w.queue.Add(named("a"))
				time.Sleep(5 * (1 + 2 + 4 + 8 + 16) * time.Millisecond)
				synctest.Wait()
				assert.Equal(t, 6, calls, "five failures wait 5, 10, 20, 40 and 80 ms")
				assert.Equal(t, c.want, w.queue.NumRequeues(named("a")), c.reason)
				require.NoError(t, w.stop())
			})
		})
	}
}

func TestB89_ErrorAndRequeueAfterTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		log := newTestLog()
		calls := 0
		w := newController(upstream.Options{Logger: log.Logger, Reconciler: reconcile.Func(func(_ context.Context, r request) (result, error) {
			if r.Name == "terminal" {
				return result{RequeueAfter: time.Minute}, reconcile.TerminalError(errors.New("for good"))
			}
			calls++
			if calls == 1 {
				return result{RequeueAfter: time.Hour}, errors.New("for now")
			}
			return result{}, nil
		})}).start()
		w.queue.Add(named("a"))
		time.Sleep(5 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, 2, calls, "the limiter says when to retry, not RequeueAfter")
		assert.Contains(t, log.String(), "Warning", "and that is said")

		w.queue.Add(named("terminal"))
		time.Sleep(90 * time.Minute)
		synctest.Wait()
		assert.Zero(t, w.queue.NumRequeues(named("terminal")))
		assert.Equal(t, 2, calls, "a is not called again after the hour")
		assert.EqualValues(t, 1, w.counter(t, "controller_runtime_terminal_reconcile_errors_total"), "a terminal error is not retried")
		assert.EqualValues(t, 2, w.counter(t, "controller_runtime_reconcile_errors_total"))
		require.NoError(t, w.stop())
	})
}

func TestB90_SecondStart(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		calls := 0
		w := newController(upstream.Options{Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
			calls++
			return result{}, nil
		})}).start()
		for range 2 {
			require.Error(t, w.Start(context.Background()), "at once, also the third time: no lock is left locked")
		}
		w.queue.Add(named("a"))
		synctest.Wait()
		assert.Equal(t, 1, calls, "the first goes on")
		require.NoError(t, w.Watch(&syncing{}), "and takes sources")
		require.NoError(t, w.stop())
	})
}

func TestB93_WatchAtAnyTime(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		var w *world
		started := map[string]bool{}
		src := func(name string) *syncing {
			return &syncing{start: func(context.Context) error {
				started[name] = true
				return nil
			}}
		}
		w = newController(upstream.Options{Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
			return result{}, w.Watch(src("from Reconcile"))
		})})
		// A source that needs a second for its sync, as a cache does.
		require.NoError(t, w.Watch(&syncing{sync: func(ctx context.Context) error {
			time.Sleep(time.Second)
			return nil
		}}))
		require.NoError(t, w.Watch(src("before the start")))
		w.start()
		assert.Equal(t, map[string]bool{"before the start": true}, started)
		if w.impl == "chapters" {
			// Upstream's waits for the sync, at a lock, where virtual time stands still.
			require.NoError(t, w.Watch(src("during the sync")))
			assert.True(t, started["during the sync"])
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		w.queue.Add(named("a"))
		synctest.Wait()
		assert.True(t, started["from Reconcile"])
		require.NoError(t, w.stop())
	})
}

func TestB94_SourceThatDoesNotComeUp(t *testing.T) {
	blockUntil := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	block := make(chan struct{})
	for name, c := range map[string]struct {
		reason  string
		source  *syncing
		wantErr []string
	}{
		"sync blocks":  {"the cache does not sync", &syncing{sync: blockUntil}, []string{"caches to sync", "source of the test"}},
		"start blocks": {"the source's own fault, and it says so", &syncing{start: func(context.Context) error { <-block; return nil }}, []string{"timed out", "source of the test"}},
		"start fails":  {"the cause is kept", &syncing{start: func(context.Context) error { return errors.New("no such kind") }}, []string{"no such kind"}},
		"cancelled":    {"a stop is no error", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
				block = make(chan struct{})
				w := newController(upstream.Options{CacheSyncTimeout: 50 * time.Millisecond, Reconciler: noop})
				src := c.source
				if src == nil {
					src = &syncing{start: func(context.Context) error { <-block; return nil }}
				}
				require.NoError(t, w.Watch(src))
				w.start()
				if c.source == nil {
					require.NoError(t, w.stop(), c.reason)
					close(block)
					return
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Len(t, w.ended, 1, "Start gives up after the timeout")
				err := <-w.ended
				for _, want := range c.wantErr {
					require.ErrorContains(t, err, want, c.reason)
				}
				w.cancel()
				close(block)
			})
		})
	}
}

func TestB96_EventsAreNotRateLimited(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		calls := 0
		w := newController(upstream.Options{Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
			calls++
			return result{}, nil
		})})
		require.NoError(t, w.Watch(source.Func(func(ctx context.Context, q queue) error {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
			for range 20 {
				(&handler.EnqueueRequestForObject{}).Update(ctx, event.UpdateEvent{ObjectOld: pod, ObjectNew: pod}, q)
			}
			assert.Equal(t, 1, q.Len(), "one item")
			assert.Zero(t, q.NumRequeues(named("a")))
			return nil
		})))
		w.start()
		assert.Equal(t, 1, calls, "20 updates before the workers start are one request")
		require.NoError(t, w.stop())
	})
}
