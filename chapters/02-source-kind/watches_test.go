package source_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"

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
