package workqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	upstream "k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
)

// slowClock makes timers that take a second to stop: so long does the queue's
// goroutine have to do after the shutdown began.
type slowClock struct{ clock.RealClock }

type slowTimer struct{ clock.Timer }

func (c slowClock) NewTimer(d time.Duration) clock.Timer { return slowTimer{c.RealClock.NewTimer(d)} }

func (t slowTimer) Stop() bool {
	time.Sleep(time.Second)
	return t.Timer.Stop()
}

// After a shutdown nothing of the queue runs any more, so that a test that looks
// for goroutines need not wait.
func TestShutDownWaitsForTheBackground(t *testing.T) {
	type queue = upstream.TypedDelayingInterface[string]
	for name, shutDown := range map[string]func(q queue){
		"at once":    queue.ShutDown,
		"with drain": queue.ShutDownWithDrain,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.NewDelaying[string](workqueue.Config{Clock: slowClock{}})
				q.AddAfter("x", time.Hour)
				synctest.Wait()
				start := time.Now()
				shutDown(q)
				assert.Equal(t, time.Second, time.Since(start))
			})
		})
	}
}

// A queue that is shut down leaves no timer behind.
func TestTimerEndsWithTheQueue(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	q := workqueue.NewDelaying[string](workqueue.Config{Clock: clock})
	q.AddAfter("x", time.Hour)
	require.Eventually(t, clock.HasWaiters, 10*time.Second, time.Millisecond)
	q.ShutDown()
	assert.False(t, clock.HasWaiters())
}
