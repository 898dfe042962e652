package source_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	upstream "sigs.k8s.io/controller-runtime/pkg/source"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

func TestKindStartErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		cache  func() *fakeCache
		want   string
	}{
		"AddHandlerFails":  {"a stopped informer takes no handler", func() *fakeCache { return &fakeCache{informer: fakeInformer{addErr: errors.New("stopped")}} }, "stopped"},
		"CacheDoesNotSync": {"a cache that can't sync ends the wait at once", func() *fakeCache { return &fakeCache{unsynced: true} }, "cache did not sync"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newKind newKind[client.Object, string]) {
				src := newKind(tc.cache(), &corev1.Pod{}, noHandler)
				require.NoError(t, src.Start(t.Context(), newQueue[string](t)))
				require.ErrorContains(t, src.WaitForSync(t.Context()), tc.want, tc.reason)
			})
			t.Run("again", func(t *testing.T) {
				src := source.TypedKind(tc.cache(), client.Object(&corev1.Pod{}), noHandler)
				require.NoError(t, src.Start(t.Context(), newQueue[string](t)))
				for range 3 {
					require.ErrorContains(t, src.WaitForSync(t.Context()), tc.want, "upstream tells the error once and then hangs")
				}
			})
		})
	}
}

func TestKindNobodyWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, newKind newKind[client.Object, string]) {
		synctest.Test(t, func(t *testing.T) { // ends only when every goroutine has ended
			require.NoError(t, newKind(&fakeCache{informer: fakeInformer{addErr: errors.New("boom")}}, &corev1.Pod{}, noHandler).Start(t.Context(), nil))
		})
	})
}

func TestKindWaitBeforeStart(t *testing.T) {
	src := source.TypedKind(&fakeCache{}, client.Object(&corev1.Pod{}), noHandler)
	require.EqualError(t, src.WaitForSync(t.Context()), "kind source: *v1.Pod was not started: call Start before WaitForSync")
}

// TestKindLookupBlocks: a cache that has started blocks in GetInformer while the
// informer can't sync, for want of permission for example.
func TestKindLookupBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := source.TypedKind(&fakeCache{get: func(ctx context.Context, _ int) error { return untilDone(ctx) }}, client.Object(&corev1.Pod{}), noHandler)
		require.NoError(t, src.Start(t.Context(), nil), "Start must not block")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorContains(t, src.WaitForSync(ctx), "timed out waiting for cache to be synced")
		synctest.Wait()
	})
}

// TestKindStopped: the start's own context ends while another one waits.
func TestKindStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]*fakeCache{
			"in lookup": {get: func(ctx context.Context, _ int) error { return untilDone(ctx) }},
			"in sync":   {informer: fakeInformer{synced: make(chan struct{})}},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			src := source.TypedKind(c, client.Object(&corev1.Pod{}), noHandler)
			require.NoError(t, src.Start(ctx, nil))
			time.AfterFunc(time.Second, cancel)
			require.NoError(t, src.WaitForSync(t.Context()), "stopped %s: a stop is no error", name)
		}
	})
}

// TestB22_WaitsForTheHandler: workers that start before the handler has seen the
// initial list meet a queue that is still being filled.
func TestB22_WaitsForTheHandler(t *testing.T) {
	onBoth(t, func(t *testing.T, newKind newKind[client.Object, string]) {
		synctest.Test(t, func(t *testing.T) {
			c := &fakeCache{informer: fakeInformer{synced: make(chan struct{})}}
			src := newKind(c, &corev1.Pod{}, noHandler)
			require.NoError(t, src.Start(t.Context(), nil))
			waited := make(chan error)
			go func() { waited <- src.WaitForSync(t.Context()) }()
			select {
			case err := <-waited:
				t.Fatalf("WaitForSync returned %v before the handler had synced", err)
			case <-time.After(time.Minute):
			}
			close(c.informer.synced)
			require.NoError(t, <-waited)
		})
		synctest.Test(t, func(t *testing.T) {
			c := &fakeCache{informer: fakeInformer{synced: make(chan struct{})}}
			src := newKind(c, &corev1.Pod{}, noHandler)
			require.NoError(t, src.Start(t.Context(), nil))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.ErrorContains(t, src.WaitForSync(ctx), "timed out", "a handler that never returns holds up the start no longer than the timeout")
		})
		src := newKind(&informertest.FakeInformers{Synced: new(bool)}, &corev1.Pod{}, noHandler)
		require.NoError(t, src.Start(t.Context(), newQueue[string](t)))
		require.EqualError(t, src.WaitForSync(t.Context()), "cache did not sync")
	})
}

func TestKindTakesItsHandlerOff(t *testing.T) {
	cases := map[string]struct {
		reason string
		synced bool
		stop   func(cancel context.CancelFunc, src upstream.SyncingSource)
	}{
		"ControllerStops": {"upstream leaves the handler on the informer for as long as the cache lives", true,
			func(cancel context.CancelFunc, _ upstream.SyncingSource) { cancel() }},
		"SyncTimesOut": {"a source that failed must not go on filling the queue", false,
			func(_ context.CancelFunc, src upstream.SyncingSource) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_ = src.WaitForSync(ctx)
			}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &fakeCache{}
				if !tc.synced {
					c.informer.synced = make(chan struct{})
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				src := source.Kind(c, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
				require.NoError(t, src.Start(ctx, nil))
				synctest.Wait()
				added, removed := c.informer.count()
				require.Equal(t, []int{1, 0}, []int{added, removed})
				tc.stop(cancel, src)
				synctest.Wait()
				_, removed = c.informer.count()
				require.Equal(t, 1, removed, tc.reason)
			})
		})
	}
}

// TestKindSyncedSourceIsNotStoppedByItsWait: a wait that ends late must not stop what runs.
func TestKindSyncedSourceIsNotStoppedByItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCache{}
		src := source.Kind(c, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
		require.NoError(t, src.Start(t.Context(), nil))
		synctest.Wait()
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 { // both ready: select takes either
			require.NoError(t, src.WaitForSync(over))
		}
		synctest.Wait()
		_, removed := c.informer.count()
		require.Zero(t, removed)
	})
}
