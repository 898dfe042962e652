package controller

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// withPriorities makes any queue one that takes priorities: the workers then need
// to know one kind only.
func withPriorities[request comparable](q workqueue.TypedRateLimitingInterface[request]) priorityqueue.PriorityQueue[request] {
	if p, ok := q.(priorityqueue.PriorityQueue[request]); ok {
		return p
	}
	return plainQueue[request]{q}
}

// plainQueue is a queue that forgets priorities. It stands for controller-runtime's
// priorityQueueWrapper.
type plainQueue[request comparable] struct {
	workqueue.TypedRateLimitingInterface[request]
}

// AddWithOpts adds items; the limiter goes before a delay.
func (q plainQueue[request]) AddWithOpts(o priorityqueue.AddOpts, items ...request) {
	for _, item := range items {
		switch {
		case o.RateLimited:
			q.AddRateLimited(item)
		case o.After > 0:
			q.AddAfter(item, o.After)
		default:
			q.Add(item)
		}
	}
}

// GetWithPriority is Get with priority 0.
func (q plainQueue[request]) GetWithPriority() (item request, priority int, shutdown bool) {
	item, shutdown = q.Get()
	return item, 0, shutdown
}
