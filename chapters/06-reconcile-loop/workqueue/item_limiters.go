package workqueue

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// itemRateLimiter counts the failures of each item and makes a delay of the count.
// It stands for client-go's TypedItemExponentialFailureRateLimiter and
// TypedItemFastSlowRateLimiter, which differ in the delay only.
type itemRateLimiter[T comparable] struct {
	delay func(failures int) time.Duration // of the item's first failure: 0

	mu       sync.Mutex // guards failures
	failures map[T]int
	// failed is len(failures): a controller forgets after every success, and most of
	// the time there is nothing to forget and no reason to wait for the lock.
	failed atomic.Int64
}

func newItemRateLimiter[T comparable](delay func(failures int) time.Duration) *itemRateLimiter[T] {
	return &itemRateLimiter[T]{delay: delay, failures: map[T]int{}}
}

// NewItemExponentialFailureRateLimiter makes the n-th failure of an item wait
// base·2ⁿ⁻¹, but not longer than maxDelay.
func NewItemExponentialFailureRateLimiter[T comparable](base, maxDelay time.Duration) workqueue.TypedRateLimiter[T] {
	return newItemRateLimiter[T](func(failures int) time.Duration {
		// Shifting the limit down, not the base up, can't overflow.
		if base > maxDelay>>failures {
			return maxDelay
		}
		return base << failures
	})
}

// NewItemFastSlowRateLimiter makes the first failures of an item wait for fast, and
// those after attempts for slow.
func NewItemFastSlowRateLimiter[T comparable](fast, slow time.Duration, attempts int) workqueue.TypedRateLimiter[T] {
	return newItemRateLimiter[T](func(failures int) time.Duration {
		if failures < attempts {
			return fast
		}
		return slow
	})
}

// When counts a failure of item and says how long it has to wait.
func (l *itemRateLimiter[T]) When(item T) time.Duration {
	l.mu.Lock()
	failures := l.failures[item]
	l.failures[item] = failures + 1
	l.failed.Store(int64(len(l.failures)))
	l.mu.Unlock()
	return l.delay(failures)
}

// NumRequeues is the number of item's failures since it was forgotten.
func (l *itemRateLimiter[T]) NumRequeues(item T) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures[item]
}

// Forget sets the count of item to none.
func (l *itemRateLimiter[T]) Forget(item T) {
	if l.failed.Load() == 0 {
		return
	}
	l.mu.Lock()
	delete(l.failures, item)
	l.failed.Store(int64(len(l.failures)))
	l.mu.Unlock()
}
