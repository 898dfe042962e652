package workqueue

import "k8s.io/client-go/util/workqueue"

// rateLimitingQueue is the third floor: it asks a limiter how long an item that
// failed has to wait. It stands for client-go's rate limiting queue.
type rateLimitingQueue[T comparable] struct {
	*delayingQueue[T]
	limiter workqueue.TypedRateLimiter[T]
}

var _ workqueue.TypedRateLimitingInterface[string] = &rateLimitingQueue[string]{}

// NewRateLimiting makes a queue with all three floors. A nil limiter means
// DefaultTypedControllerRateLimiter.
func NewRateLimiting[T comparable](limiter workqueue.TypedRateLimiter[T], config Config) workqueue.TypedRateLimitingInterface[T] {
	if limiter == nil {
		limiter = DefaultTypedControllerRateLimiter[T]()
	}
	return &rateLimitingQueue[T]{delayingQueue: newDelayingQueue[T](config), limiter: limiter}
}

// AddRateLimited queues item when the limiter lets it.
func (q *rateLimitingQueue[T]) AddRateLimited(item T) { q.AddAfter(item, q.limiter.When(item)) }

// Forget ends the limiter's account of item; what is queued stays queued.
func (q *rateLimitingQueue[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues is how often the limiter was asked about item since it was forgotten.
func (q *rateLimitingQueue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }
