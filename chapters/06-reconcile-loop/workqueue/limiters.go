package workqueue

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// DefaultTypedControllerRateLimiter is the limiter of the article: each item waits
// 5 ms, 10 ms, 20 ms, … up to 1000 s after its failures, and all failures together
// get 100 retries at once and then 10 a second.
func DefaultTypedControllerRateLimiter[T comparable]() workqueue.TypedRateLimiter[T] {
	return NewMaxOfRateLimiter(
		NewItemExponentialFailureRateLimiter[T](5*time.Millisecond, 1000*time.Second),
		NewBucketRateLimiter[T](rate.NewLimiter(10, 100)),
	)
}

// bucketRateLimiter limits all items together. It knows no single item. It stands
// for client-go's TypedBucketRateLimiter.
//
// Each When takes a token, and none is given back: after a burst of failures an
// item that fails for the first time waits behind all of them. Where that hurts,
// put NewWithMaxWaitRateLimiter around it.
type bucketRateLimiter[T comparable] struct {
	*rate.Limiter
}

// NewBucketRateLimiter makes a limiter from a token bucket.
func NewBucketRateLimiter[T comparable](bucket *rate.Limiter) workqueue.TypedRateLimiter[T] {
	return bucketRateLimiter[T]{bucket}
}

func (l bucketRateLimiter[T]) When(T) time.Duration { return l.Reserve().Delay() }
func (l bucketRateLimiter[T]) NumRequeues(T) int    { return 0 }
func (l bucketRateLimiter[T]) Forget(T)             {}

// maxOfRateLimiter asks all its limiters and takes the worst answer. It stands for
// client-go's TypedMaxOfRateLimiter.
type maxOfRateLimiter[T comparable] []workqueue.TypedRateLimiter[T]

// NewMaxOfRateLimiter joins limiters.
func NewMaxOfRateLimiter[T comparable](limiters ...workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimiter[T] {
	return maxOfRateLimiter[T](limiters)
}

// When asks every limiter even if the first is the worst: they all count.
func (l maxOfRateLimiter[T]) When(item T) (longest time.Duration) {
	for _, limiter := range l {
		longest = max(longest, limiter.When(item))
	}
	return longest
}

func (l maxOfRateLimiter[T]) NumRequeues(item T) (most int) {
	for _, limiter := range l {
		most = max(most, limiter.NumRequeues(item))
	}
	return most
}

func (l maxOfRateLimiter[T]) Forget(item T) {
	for _, limiter := range l {
		limiter.Forget(item)
	}
}

// withMaxWaitRateLimiter cuts what another limiter says. It stands for client-go's
// TypedWithMaxWaitRateLimiter.
type withMaxWaitRateLimiter[T comparable] struct {
	workqueue.TypedRateLimiter[T]
	maxWait time.Duration
}

// NewWithMaxWaitRateLimiter makes nobody wait longer than maxWait.
func NewWithMaxWaitRateLimiter[T comparable](limiter workqueue.TypedRateLimiter[T], maxWait time.Duration) workqueue.TypedRateLimiter[T] {
	return withMaxWaitRateLimiter[T]{limiter, maxWait}
}

func (l withMaxWaitRateLimiter[T]) When(item T) time.Duration {
	return min(l.TypedRateLimiter.When(item), l.maxWait)
}
