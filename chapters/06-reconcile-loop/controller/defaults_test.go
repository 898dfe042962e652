package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientgo "k8s.io/client-go/util/workqueue"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Without a limiter the queue by priority gets one that knows single items only,
// the other one also a bucket for all of them. A limiter that was given is kept.
func TestWhichLimiter(t *testing.T) {
	none := func() clientgo.TypedRateLimiter[request] { return nil }
	own := func() clientgo.TypedRateLimiter[request] {
		return clientgo.NewTypedItemFastSlowRateLimiter[request](time.Minute, time.Hour, 1)
	}
	for name, c := range map[string]struct {
		usePriority *bool
		limiter     func() clientgo.TypedRateLimiter[request]
		first, last time.Duration // of 101 items that fail once
	}{
		"by priority":      {nil, none, 5 * time.Millisecond, 5 * time.Millisecond},
		"plain":            {new(false), none, 5 * time.Millisecond, 100 * time.Millisecond},
		"by priority, own": {nil, own, time.Minute, time.Minute},
		"plain, own":       {new(false), own, time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
				var limiter clientgo.TypedRateLimiter[request]
				w := newController(upstream.Options{UsePriorityQueue: c.usePriority, RateLimiter: c.limiter(), Reconciler: noop,
					NewQueue: func(_ string, l clientgo.TypedRateLimiter[request]) queue {
						limiter = l
						return clientgo.NewTypedRateLimitingQueue(l)
					}}).start()
				require.NotNil(t, limiter)
				var took []time.Duration
				for i := range 101 {
					took = append(took, limiter.When(named(fmt.Sprint(i))))
				}
				assert.Equal(t, c.first, took[0])
				assert.Equal(t, c.last, took[100])
				require.NoError(t, w.stop())
			})
		})
	}
}

// The queue that the controller makes asks the controller's limiter.
func TestQueueAsksTheLimiter(t *testing.T) {
	for name, usePriority := range map[string]*bool{"by priority": nil, "plain": new(false)} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
				start := time.Now()
				var at []time.Duration
				w := newController(upstream.Options{
					UsePriorityQueue: usePriority,
					RateLimiter:      clientgo.NewTypedItemFastSlowRateLimiter[request](time.Minute, time.Hour, 1),
					Reconciler: reconcile.Func(func(context.Context, request) (result, error) {
						at = append(at, time.Since(start))
						if len(at) < 3 {
							return result{}, errors.New("not yet")
						}
						return result{}, nil
					})}).start()
				w.queue.Add(named("a"))
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				assert.Equal(t, []time.Duration{0, time.Minute, time.Hour + time.Minute}, at)
				require.NoError(t, w.stop())
			})
		})
	}
}

func TestPriorityQueueLogsAsTheController(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		log := &testLog{}
		log.Logger = funcr.New(func(_, args string) {
			log.mu.Lock()
			defer log.mu.Unlock()
			log.lines = append(log.lines, args)
		}, funcr.Options{Verbosity: 5})
		w := newController(upstream.Options{Logger: log.Logger, Reconciler: noop}).start()
		w.queue.AddAfter(named("waits"), time.Hour)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NoError(t, w.stop())
		i := slices.IndexFunc(log.lines, func(line string) bool { return strings.Contains(line, "workqueue_items") })
		require.GreaterOrEqual(t, i, 0, "it says what it holds")
		assert.Contains(t, log.lines[i], `"controller"="`+w.name+`"`)
		assert.Contains(t, log.lines[i], "waits")
	})
}

// A source that never syncs is waited for for two minutes.
func TestSyncTimesOutByDefault(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		w := newController(upstream.Options{Reconciler: noop})
		require.NoError(t, w.Watch(&syncing{sync: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}))
		w.start()
		time.Sleep(2*time.Minute - time.Second)
		synctest.Wait()
		require.Empty(t, w.ended)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Len(t, w.ended, 1)
		require.ErrorIs(t, w.stop(), context.DeadlineExceeded)
	})
}
