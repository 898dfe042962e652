package source_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	upstream "sigs.k8s.io/controller-runtime/pkg/source"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

type queue = workqueue.TypedRateLimitingInterface[string]

// scripted is a SyncingSource of which a test says what it does.
type scripted struct {
	name  string
	start func(ctx context.Context, q queue) error
	sync  func(ctx context.Context) error

	starts atomic.Int32
}

func (s *scripted) String() string { return s.name }

func (s *scripted) Start(ctx context.Context, q queue) error {
	s.starts.Add(1)
	if s.start != nil {
		return s.start(ctx, q)
	}
	return nil
}

func (s *scripted) WaitForSync(ctx context.Context) error {
	if s.sync != nil {
		return s.sync(ctx)
	}
	return nil
}

func untilDone(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func TestWatchesRemembersUntilStart(t *testing.T) {
	q := newQueue[string](t)
	var w source.Watches[string]
	a, b := &scripted{name: "a"}, &scripted{name: "b"}
	var gotCtx context.Context
	var gotQueue queue
	a.start = func(ctx context.Context, q queue) error { gotCtx, gotQueue = ctx, q; return nil }
	require.NoError(t, w.Watch(a))
	require.NoError(t, w.Watch(b))
	require.False(t, w.Started())
	require.Zero(t, a.starts.Load(), "a source must not start before Start")

	require.NoError(t, w.Start(t.Context(), q))
	require.True(t, w.Started())
	assert.EqualValues(t, 1, a.starts.Load())
	assert.EqualValues(t, 1, b.starts.Load())
	assert.Equal(t, t.Context(), gotCtx, "a source lives as long as the context of Start")
	assert.Equal(t, q, gotQueue)

	late := &scripted{name: "late", start: func(ctx context.Context, q queue) error { gotCtx, gotQueue = ctx, q; return errors.New("no") }}
	gotCtx, gotQueue = nil, nil
	require.EqualError(t, w.Watch(late), "no", "a late source starts at once, and its error is the caller's")
	assert.Equal(t, t.Context(), gotCtx)
	assert.Equal(t, q, gotQueue)
}

func TestWatchesRefusesNil(t *testing.T) {
	var w source.Watches[string]
	require.ErrorContains(t, w.Watch(nil), "nil source")
	require.ErrorContains(t, w.Watch((*scripted)(nil)), "nil source")
}

func TestWatchesStartsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w source.Watches[string]
		for range 3 {
			require.NoError(t, w.Watch(&scripted{sync: func(context.Context) error { time.Sleep(time.Minute); return nil }}))
		}
		begin := time.Now()
		require.NoError(t, w.Start(t.Context(), nil))
		assert.Equal(t, time.Minute, time.Since(begin), "three waits of a minute side by side take a minute")
	})
}

func TestWatchesStartErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		source *scripted
		want   string
		after  time.Duration
	}{
		"StartFails": {
			reason: "what a source says must come out with its name",
			source: &scripted{name: "src", start: func(context.Context, queue) error { return errors.New("boom") }},
			want:   "start src: boom",
		},
		"StartBlocks": {
			reason: "a Start that never returns must not hang the controller",
			source: &scripted{name: "src", start: func(ctx context.Context, _ queue) error { return untilDone(ctx) }},
			want:   "timed out after 2m0s waiting for source src to start: its Start must not block",
			after:  2 * time.Minute,
		},
		"SyncFails": {
			reason: "a sync error must name controller and source",
			source: &scripted{name: "src", sync: func(context.Context) error { return errors.New("boom") }},
			want:   "failed to wait for ctl caches to sync src: boom",
		},
		"SyncTimesOut": {
			reason: "the source's own account of the timeout must come out",
			source: &scripted{name: "src", sync: untilDone},
			want:   "failed to wait for ctl caches to sync src: context deadline exceeded",
			after:  2 * time.Minute,
		},
		"SyncIgnoresItsContext": {
			reason: "upstream waits for ever here",
			source: &scripted{name: "src", start: nil},
			want:   "timed out after 2m0s waiting for the cache of source src to sync: its WaitForSync ignores its context",
			after:  2*time.Minute + time.Second,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if name == "SyncIgnoresItsContext" {
					tc.source.sync = func(context.Context) error { return untilDone(ctx) }
				}
				w := source.Watches[string]{Name: "ctl"}
				require.NoError(t, w.Watch(tc.source))
				begin := time.Now()
				require.EqualError(t, w.Start(ctx, nil), tc.want, tc.reason)
				assert.Equal(t, tc.after, time.Since(begin))
			})
		})
	}
}

func TestWatchesNamesEverySourceThatFailed(t *testing.T) {
	w := source.Watches[string]{Name: "ctl"}
	boom := errors.New("boom")
	fail := func(context.Context, queue) error { return boom }
	require.NoError(t, w.Watch(&scripted{name: "a", start: fail}))
	require.NoError(t, w.Watch(&scripted{name: "b"}))
	require.NoError(t, w.Watch(&scripted{name: "c", start: fail}))
	err := w.Start(t.Context(), nil)
	require.EqualError(t, err, "start a: boom\nstart c: boom")
	require.ErrorIs(t, err, boom)
}

func TestWatchesTypeOfSourceWithoutString(t *testing.T) {
	w := source.Watches[string]{Name: "ctl"}
	require.NoError(t, w.Watch(nameless{}))
	require.EqualError(t, w.Start(t.Context(), nil), "start source_test.nameless: boom")
}

type nameless struct{}

func (nameless) Start(context.Context, queue) error { return errors.New("boom") }

func TestWatchesCancelledWhileWaitingIsNoError(t *testing.T) {
	cases := map[string]struct {
		reason string
		source func(release <-chan struct{}) *scripted
	}{
		"Sync": {
			reason: "a sync that ends with the context's error is a stop, not a fault",
			source: func(<-chan struct{}) *scripted { return &scripted{sync: untilDone} },
		},
		"Start": {
			reason: "a Start that blocks is no fault any more when all stops",
			source: func(release <-chan struct{}) *scripted {
				return &scripted{start: func(context.Context, queue) error { <-release; return nil }}
			},
		},
		"StartReturnsTheContextError": {
			reason: "the same for a Start that looks at its context",
			source: func(<-chan struct{}) *scripted {
				return &scripted{start: func(ctx context.Context, _ queue) error { return untilDone(ctx) }}
			},
		},
		"SyncIgnoresItsContext": {
			reason: "a stop must not wait for a source that does not listen",
			source: func(release <-chan struct{}) *scripted {
				return &scripted{sync: func(context.Context) error { <-release; return nil }}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				ctx, cancel := context.WithCancel(t.Context())
				var w source.Watches[string]
				require.NoError(t, w.Watch(tc.source(release)))
				time.AfterFunc(time.Second, cancel)
				begin := time.Now()
				require.NoError(t, w.Start(ctx, nil), tc.reason)
				assert.Equal(t, time.Second, time.Since(begin))
			})
		})
	}
}

func TestWatchesOwnSyncTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := source.Watches[string]{SyncTimeout: 50 * time.Millisecond}
		require.NoError(t, w.Watch(&scripted{sync: untilDone}))
		begin := time.Now()
		require.ErrorIs(t, w.Start(t.Context(), nil), context.DeadlineExceeded)
		assert.Equal(t, 50*time.Millisecond, time.Since(begin))
	})
}

func TestWatchesSaysWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said lines
		w := source.Watches[string]{Log: funcr.New(func(_, args string) { said.add(args) }, funcr.Options{})}
		require.NoError(t, w.Watch(&scripted{name: "slow-start", start: func(context.Context, queue) error { time.Sleep(35 * time.Second); return nil }}))
		require.NoError(t, w.Watch(&scripted{name: "slow-sync", sync: func(context.Context) error { time.Sleep(25 * time.Second); return nil }}))
		require.NoError(t, w.Watch(&scripted{name: "fast"}))
		require.NoError(t, w.Start(t.Context(), nil))
		assert.Equal(t, 3, said.with("Still waiting", "slow-start", "its Start to return"))
		assert.Equal(t, 2, said.with("Still waiting", "slow-sync", "its cache to sync"))
		assert.Equal(t, 5, said.with("Still waiting"))
		assert.Equal(t, 3, said.with("Starting EventSource"))
	})
}

func TestWatchesLetsGoOfStartedSources(t *testing.T) {
	var w source.Watches[string]
	src := &scripted{name: "with a big cache"}
	ref := weak.Make(src)
	require.NoError(t, w.Watch(src))
	src = nil
	require.NoError(t, w.Start(t.Context(), nil))
	require.Eventually(t, func() bool { runtime.GC(); return ref.Value() == nil }, 5*time.Second, 10*time.Millisecond,
		"a started source is still referenced, so its cache can't be collected")
	runtime.KeepAlive(&w)
}

func TestWatchesSecondStart(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
	}{
		"AfterGoodWarmup":   {reason: "a controller that was warmed up must not start its sources again"},
		"AfterFailedWarmup": {reason: "sources that failed to start are not there for the second call either", err: errors.New("boom")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w source.Watches[string]
				src := &scripted{name: "src", sync: func(context.Context) error { time.Sleep(time.Minute); return tc.err }}
				require.NoError(t, w.Watch(src))
				go func() { assert.ErrorIs(t, w.Start(t.Context(), nil), tc.err) }()
				synctest.Wait()

				type key struct{}
				leading := context.WithValue(t.Context(), key{}, "leading")
				begin := time.Now()
				require.ErrorIs(t, w.Start(leading, nil), tc.err, tc.reason)
				assert.Equal(t, time.Minute, time.Since(begin), "it waits for the first start")
				assert.EqualValues(t, 1, src.starts.Load(), tc.reason)

				var ctx context.Context
				require.NoError(t, w.Watch(&scripted{start: func(c context.Context, _ queue) error { ctx = c; return nil }}))
				assert.Equal(t, leading, ctx, "sources that come now live as long as the latest start")
			})
		})
	}
}

func TestWatchesSecondStartCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w source.Watches[string]
		require.NoError(t, w.Watch(&scripted{sync: func(context.Context) error { time.Sleep(time.Minute); return nil }}))
		go func() { assert.NoError(t, w.Start(t.Context(), nil)) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		require.NoError(t, w.Start(ctx, nil))
		assert.Equal(t, time.Second, time.Since(begin))
		time.Sleep(time.Minute)
	})
}

// TestB93_WatchWhileStarting: upstream's Watch once blocked on the controller's
// lock for as long as the caches took to sync, or for ever from inside a source.
func TestB93_WatchWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w source.Watches[string]
		inner, outer := &scripted{}, &scripted{}
		require.NoError(t, w.Watch(&scripted{
			start: func(context.Context, queue) error { return w.Watch(inner) },
			sync:  func(context.Context) error { time.Sleep(time.Minute); return nil },
		}))
		go func() { assert.NoError(t, w.Start(t.Context(), nil)) }()
		synctest.Wait()
		require.EqualValues(t, 1, inner.starts.Load(), "a source may watch another one while it starts")

		begin := time.Now()
		require.NoError(t, w.Watch(outer))
		assert.Zero(t, time.Since(begin), "Watch must not wait for the sync of others")
		assert.EqualValues(t, 1, outer.starts.Load())
		time.Sleep(time.Minute)
	})
}

func TestWatchesConcurrentWatchAndStart(t *testing.T) {
	var w source.Watches[string]
	const n = 50
	sources := make([]*scripted, n)
	done := make(chan error, n+1)
	for i := range sources {
		sources[i] = &scripted{name: fmt.Sprint(i)}
		go func() { done <- w.Watch(sources[i]) }()
		if i == n/2 {
			go func() { done <- w.Start(t.Context(), nil) }()
		}
	}
	for range n + 1 {
		require.NoError(t, <-done)
	}
	for _, s := range sources {
		require.EqualValues(t, 1, s.starts.Load(), "source %s was lost or started twice", s.name)
	}
}

// TestB17_SourceOutlivesTheSyncWait: sources got the context of the sync wait, so
// that a channel source stopped when the wait was over.
func TestB17_SourceOutlivesTheSyncWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		defer q.ShutDown()
		events := make(chan event.TypedGenericEvent[string])
		w := source.Watches[string]{SyncTimeout: time.Second}
		require.NoError(t, w.Watch(upstream.TypedChannel(events, handler.TypedFuncs[string, string]{
			GenericFunc: func(_ context.Context, e event.TypedGenericEvent[string], q queue) { q.Add(e.Object) },
		})))
		require.NoError(t, w.Start(ctx, q))

		time.Sleep(time.Minute)
		events <- event.TypedGenericEvent[string]{Object: "late"}
		got, _ := q.Get()
		require.Equal(t, "late", got, "the channel must still be read a minute after the wait of a second")
		q.Done(got)

		cancel()
		synctest.Wait()
		select {
		case events <- event.TypedGenericEvent[string]{Object: "too late"}:
			t.Fatal("the loop of the channel source must end with the controller")
		default:
		}
	})
}
