package workqueue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	clientgo "k8s.io/client-go/util/workqueue"
)

// A steady flow of items makes no garbage, and a burst leaves no more behind than
// the bound says.
func TestEntriesAreUsedAgain(t *testing.T) {
	q := newQueue[int](Config{})
	defer q.ShutDown()
	pass := func(items int) {
		for i := range items {
			q.Add(i)
		}
		for range items {
			item, _ := q.Get()
			q.Done(item)
		}
	}
	pass(1)
	assert.Zero(t, testing.AllocsPerRun(100, func() { pass(1) }))
	pass(10 * maxUnused)
	assert.Equal(t, maxUnused, q.unused.len)
	assert.Empty(t, q.entries)
}

// Where nothing has failed, Forget has nothing to wait for.
func TestForgetCounts(t *testing.T) {
	l := newItemRateLimiter[string](func(int) time.Duration { return 0 })
	for _, tc := range []struct {
		do   func(string)
		item string
		want int64
	}{
		{l.Forget, "a", 0},
		{func(item string) { l.When(item) }, "a", 1},
		{func(item string) { l.When(item) }, "a", 1},
		{func(item string) { l.When(item) }, "b", 2},
		{l.Forget, "unknown", 2},
		{l.Forget, "a", 1},
		{l.Forget, "b", 0},
	} {
		tc.do(tc.item)
		assert.Equal(t, tc.want, l.failed.Load())
		assert.Len(t, l.failures, int(tc.want))
	}
}

// Where the longest delay is no power of two times the base, the last step is cut.
func TestLongestDelayBetweenTwoSteps(t *testing.T) {
	for name, l := range map[string]clientgo.TypedRateLimiter[string]{
		"upstream": clientgo.NewTypedItemExponentialFailureRateLimiter[string](3, 7),
		"chapters": NewItemExponentialFailureRateLimiter[string](3, 7),
	} {
		t.Run(name, func(t *testing.T) {
			for _, want := range []time.Duration{3, 6, 7, 7} {
				assert.Equal(t, want, l.When("x"))
			}
		})
	}
}
