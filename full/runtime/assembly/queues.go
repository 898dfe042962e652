package assembly

import (
	"k8s.io/client-go/tools/cache"
	clientgo "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	crpriorityqueue "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/priorityqueue"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

// Queue is a choice for the queue between reflector and store.
type Queue struct {
	New func(known cache.KeyListerGetter) cache.Queue
	// InOrder: it keeps the order of the watch, without which a client can't wait for its own writes.
	InOrder bool
}

// The queues that carry deltas, ours and client-go's. Today's client-go runs on the last one.
var (
	OurDeltaFIFO           = Queue{New: parts.DeltaFIFO}
	OurInOrder             = Queue{New: parts.InOrder, InOrder: true}
	OurAtomicInOrder       = Queue{New: parts.AtomicInOrder, InOrder: true}
	ClientGoDeltaFIFO      = Queue{New: parts.ClientGoDeltaFIFO}
	ClientGoRealFIFO       = Queue{New: parts.ClientGoRealFIFO, InOrder: true}
	ClientGoAtomicRealFIFO = Queue{New: parts.ClientGoAtomicRealFIFO, InOrder: true}
)

// NewWorkqueueFunc is the seam of controller.Options.NewQueue.
type NewWorkqueueFunc = func(name string, limiter clientgo.TypedRateLimiter[reconcile.Request]) clientgo.TypedRateLimitingInterface[reconcile.Request]

// Workqueue is a choice for the queue of requests.
type Workqueue struct {
	New NewWorkqueueFunc
	// ByPriority: it hands out by priority, and wants the limiter that belongs to such a queue.
	ByPriority bool
}

// choose returns the options with this queue, unless they or the manager's ask for another.
func (w Workqueue) choose(m manager.Manager, o controller.Options) controller.Options {
	byPriority := o.UsePriorityQueue
	if byPriority == nil && m != nil {
		byPriority = m.GetControllerOptions().UsePriorityQueue
	}
	if o.NewQueue == nil && (byPriority == nil || *byPriority == w.ByPriority) {
		o.NewQueue, o.UsePriorityQueue = w.New, &w.ByPriority
	}
	return o
}

// The queues that carry requests. Today's controller-runtime runs on the last one.
var (
	OurWorkqueue = Workqueue{New: func(name string, limiter clientgo.TypedRateLimiter[reconcile.Request]) clientgo.TypedRateLimitingInterface[reconcile.Request] {
		return workqueue.NewRateLimiting(limiter, workqueue.Config{Name: name})
	}}
	OurPriorityQueue = Workqueue{ByPriority: true, New: func(name string, limiter clientgo.TypedRateLimiter[reconcile.Request]) clientgo.TypedRateLimitingInterface[reconcile.Request] {
		return priorityqueue.New(name, withLimiter(limiter))
	}}
	ClientGoWorkqueue = Workqueue{New: func(name string, limiter clientgo.TypedRateLimiter[reconcile.Request]) clientgo.TypedRateLimitingInterface[reconcile.Request] {
		return clientgo.NewTypedRateLimitingQueueWithConfig(limiter, clientgo.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name})
	}}
	ControllerRuntimePriorityQueue = Workqueue{ByPriority: true, New: func(name string, limiter clientgo.TypedRateLimiter[reconcile.Request]) clientgo.TypedRateLimitingInterface[reconcile.Request] {
		return crpriorityqueue.New(name, withLimiter(limiter))
	}}
)

func withLimiter(limiter clientgo.TypedRateLimiter[reconcile.Request]) crpriorityqueue.Opt[reconcile.Request] {
	return func(o *crpriorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }
}
