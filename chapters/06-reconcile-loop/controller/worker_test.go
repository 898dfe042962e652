package controller_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// What a worker has finished is not what the stop waits for.
func TestStopNamesOnlyWhatStillRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newTestLog()
		w := newWorld(t, "chapters", constructors["chapters"], upstream.Options{Logger: log.Logger, MaxConcurrentReconciles: 2,
			Reconciler: reconcile.Func(func(_ context.Context, r request) (result, error) {
				if r.Name == "slow" {
					time.Sleep(15 * time.Second)
				}
				return result{}, nil
			})}).start()
		w.queue.Add(named("slow"))
		synctest.Wait() // one worker has it, so the other one gets what comes now
		w.queue.Add(named("quick"))
		synctest.Wait()
		require.NoError(t, w.stop())
		assert.Contains(t, log.String(), `"requests"=[{"name"="slow" "namespace"="ns"}]`)
	})
}

// A queue without priorities takes the options of one with them; the limiter goes before a delay.
func TestPlainQueueTakesOptions(t *testing.T) {
	onBoth(t, func(t *testing.T, newController func(upstream.Options) *world) {
		took := map[string]time.Duration{}
		start := time.Now()
		w := newController(upstream.Options{UsePriorityQueue: new(false), Reconciler: reconcile.Func(func(_ context.Context, r request) (result, error) {
			took[r.Name] = time.Since(start)
			return result{}, nil
		})}).start()
		q := w.queue.(priorityqueue.PriorityQueue[request])
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(7)}, named("now"), named("too"))
		q.AddWithOpts(priorityqueue.AddOpts{After: time.Minute}, named("later"))
		q.AddWithOpts(priorityqueue.AddOpts{After: time.Hour, RateLimited: true}, named("limited"))
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, map[string]time.Duration{"now": 0, "too": 0, "later": time.Minute, "limited": 5 * time.Millisecond}, took)
		require.NoError(t, w.stop())
	})
}
