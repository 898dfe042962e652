package source_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
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
		defer cancel()
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		defer q.ShutDown()
		events := make(chan event.TypedGenericEvent[string])
		w := source.Watches[string]{SyncTimeout: time.Second}
		require.NoError(t, w.Watch(upstream.TypedChannel(events, handler.TypedFuncs[string, string]{
			GenericFunc: func(_ context.Context, e event.TypedGenericEvent[string], q queue) { q.Add(e.Object) },
		})))
		require.NoError(t, w.Start(ctx, q))

		time.Sleep(time.Minute)
		select {
		case events <- event.TypedGenericEvent[string]{Object: "late"}:
		case <-time.After(time.Minute):
			t.Fatal("the channel must still be read a minute after the wait of a second")
		}
		got, _ := q.Get()
		require.Equal(t, "late", got)
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

// TestWatchesStopAndAnswerAtOnce: Watches is busy logging while the stop comes and
// the source answers it; whichever is looked at first then, it is no error.
func TestWatchesStopAndAnswerAtOnce(t *testing.T) {
	for range 50 { // select takes either
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			w := source.Watches[string]{Log: funcr.New(func(_, args string) {
				if strings.Contains(args, "Still waiting") {
					cancel()
					synctest.Wait()
				}
			}, funcr.Options{})}
			require.NoError(t, w.Watch(&scripted{sync: untilDone}))
			require.NoError(t, w.Start(ctx, nil))
		})
	}
}
