package workqueue_test

import (
	"strings"
	"testing"
	"time"

	upstream "k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/queuetest"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
)

// programs is how many random programs a run of the tests makes; fewer where -short asks for haste.
func programs() int {
	if testing.Short() {
		return 500
	}
	return 10_000
}

func upstreamQueue() queuetest.Queue {
	return upstream.NewTypedRateLimitingQueue(upstream.DefaultTypedControllerRateLimiter[string]())
}

func ourQueue() queuetest.Queue {
	return workqueue.NewRateLimiting(workqueue.DefaultTypedControllerRateLimiter[string](), workqueue.Config{})
}

// TestSameAsClientGo runs random programs on client-go's queue and on ours, in
// virtual time, and compares all that can be seen.
func TestSameAsClientGo(t *testing.T) {
	for run := 0; run < programs(); {
		rapid.Check(t, func(rt *rapid.T) {
			run++
			program := queuetest.Program(rt, false)
			want := queuetest.Run(t, upstreamQueue, program)
			got := queuetest.Run(t, ourQueue, program)
			compareTraces(rt, want, got)
		})
	}
}

func compareTraces(rt *rapid.T, want, got []string) {
	for i := range want {
		if want[i] != got[i] {
			rt.Fatalf("step %d\nupstream: %s\nours:     %s\nbefore:\n%s", i, want[i], got[i], strings.Join(want[:i], "\n"))
		}
	}
}

// TestLimitersSameAsClientGo asks both sides' limiters the same questions.
func TestLimitersSameAsClientGo(t *testing.T) {
	pairs := map[string]struct {
		upstream, ours upstream.TypedRateLimiter[string]
	}{
		"exponential": {
			upstream.NewTypedItemExponentialFailureRateLimiter[string](3*time.Millisecond, 7*time.Second),
			workqueue.NewItemExponentialFailureRateLimiter[string](3*time.Millisecond, 7*time.Second),
		},
		"fast and slow": {
			upstream.NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Minute, 3),
			workqueue.NewItemFastSlowRateLimiter[string](time.Millisecond, time.Minute, 3),
		},
		"max of": {
			upstream.NewTypedMaxOfRateLimiter(
				upstream.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second),
				upstream.NewTypedItemFastSlowRateLimiter[string](5*time.Millisecond, 6*time.Millisecond, 2)),
			workqueue.NewMaxOfRateLimiter(
				workqueue.NewItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second),
				workqueue.NewItemFastSlowRateLimiter[string](5*time.Millisecond, 6*time.Millisecond, 2)),
		},
		"with a longest wait": {
			upstream.NewTypedWithMaxWaitRateLimiter(upstream.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Hour), time.Second),
			workqueue.NewWithMaxWaitRateLimiter(workqueue.NewItemExponentialFailureRateLimiter[string](time.Millisecond, time.Hour), time.Second),
		},
	}
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(rt, "steps") {
					item := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "item")
					if rapid.IntRange(0, 9).Draw(rt, "forget") == 0 {
						pair.upstream.Forget(item)
						pair.ours.Forget(item)
					} else if want, got := pair.upstream.When(item), pair.ours.When(item); want != got {
						rt.Fatalf("upstream says %s, ours %s", want, got)
					}
					if want, got := pair.upstream.NumRequeues(item), pair.ours.NumRequeues(item); want != got {
						rt.Fatalf("upstream counts %d, ours %d", want, got)
					}
				}
			})
		})
	}
}
