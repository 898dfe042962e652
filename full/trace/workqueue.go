package trace

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// requests remembers for each request that is enqueued which events made it so.
type requests struct {
	mu     sync.Mutex // guards causes
	causes map[reconcile.Request][]identity
}

func (r *requests) add(req reconcile.Request, cause identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.causes == nil {
		r.causes = map[reconcile.Request][]identity{}
	}
	for _, known := range r.causes[req] {
		if known == cause {
			return
		}
	}
	r.causes[req] = append(r.causes[req], cause)
}

func (r *requests) take(req reconcile.Request) []identity {
	r.mu.Lock()
	defer r.mu.Unlock()
	causes := r.causes[req]
	delete(r.causes, req)
	return causes
}

// workqueue tells of every request that is added. It is a PriorityQueue over any
// queue: a controller makes one of a queue without priorities in the same way,
// and handlers would not see through it to the traced one below.
type workqueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	tracer   *Tracer
	requests *requests
	// cause is the event that a handler is called for, nil outside of handlers.
	cause *identity
}

func newWorkqueue(q requestQueue, t *Tracer, r *requests) *workqueue {
	p, ok := q.(priorityqueue.PriorityQueue[reconcile.Request])
	if !ok {
		p = plainQueue{q}
	}
	return &workqueue{PriorityQueue: p, tracer: t, requests: r}
}

// because returns the same queue for the time of one call of a handler.
func (q *workqueue) because(cause identity) *workqueue {
	copied := *q
	copied.cause = &cause
	return &copied
}

func (q *workqueue) Add(req reconcile.Request) {
	q.added("Add", req)
	q.PriorityQueue.Add(req)
}

func (q *workqueue) AddAfter(req reconcile.Request, after time.Duration) {
	q.added("AddAfter", req)
	q.PriorityQueue.AddAfter(req, after)
}

func (q *workqueue) AddRateLimited(req reconcile.Request) {
	q.added("AddRateLimited", req)
	q.PriorityQueue.AddRateLimited(req)
}

func (q *workqueue) AddWithOpts(o priorityqueue.AddOpts, reqs ...reconcile.Request) {
	verb := "Add"
	switch {
	case o.RateLimited:
		verb = "AddRateLimited"
	case o.After > 0:
		verb = "AddAfter"
	}
	for _, req := range reqs {
		q.added(verb, req)
	}
	q.PriorityQueue.AddWithOpts(o, reqs...)
}

func (q *workqueue) added(verb string, req reconcile.Request) {
	name := nameOf(req)
	if q.cause != nil {
		q.requests.add(req, *q.cause)
		q.tracer.step(Workqueue, verb, *q.cause, name)
		return
	}
	retry := identity{key: name}.withDashes()
	q.requests.add(req, retry)
	q.tracer.enter(Workqueue, verb, retry)
}

func nameOf(req reconcile.Request) string {
	if req.Namespace == "" {
		return field(req.Name)
	}
	return field(req.String())
}

// plainQueue forgets priorities.
type plainQueue struct{ requestQueue }

func (q plainQueue) AddWithOpts(o priorityqueue.AddOpts, reqs ...reconcile.Request) {
	for _, req := range reqs {
		switch {
		case o.RateLimited:
			q.AddRateLimited(req)
		case o.After > 0:
			q.AddAfter(req, o.After)
		default:
			q.Add(req)
		}
	}
}

func (q plainQueue) GetWithPriority() (reconcile.Request, int, bool) {
	req, shutdown := q.Get()
	return req, 0, shutdown
}
