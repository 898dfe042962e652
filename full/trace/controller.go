package trace

import (
	"context"

	clientgo "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
)

// wrapController returns the options with a workqueue and a reconciler that are
// traced, and share the knowledge which events a request is for.
func wrapController(o controller.Options, m manager.Manager, t *Tracer) controller.Options {
	r := &requests{}
	newQueue := o.NewQueue
	if newQueue == nil { // the one that a controller takes then
		newQueue = assembly.OurPriorityQueue.New
		if !byPriority(o, m) {
			newQueue = assembly.OurWorkqueue.New
		}
	}
	o.NewQueue = func(name string, limiter clientgo.TypedRateLimiter[reconcile.Request]) clientgo.TypedRateLimitingInterface[reconcile.Request] {
		return newWorkqueue(newQueue(name, limiter), t, r)
	}
	if o.Reconciler != nil { // else the controller says that it is missing
		o.Reconciler = &reconciler{o.Reconciler, t, r}
	}
	return o
}

func byPriority(o controller.Options, m manager.Manager) bool {
	choice := o.UsePriorityQueue
	if choice == nil && m != nil {
		choice = m.GetControllerOptions().UsePriorityQueue
	}
	return choice == nil || *choice
}

// reconciler tells of each reconciliation: that it starts, once for every event
// it is for, and how it ended.
type reconciler struct {
	reconcile.Reconciler
	tracer   *Tracer
	requests *requests
}

func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	name := nameOf(req)
	causes := r.requests.take(req)
	for _, cause := range causes {
		r.tracer.step(Reconcile, "Start", cause, name)
	}
	result, err := r.Reconciler.Reconcile(ctx, req)
	if len(causes) > 0 {
		r.tracer.step(Reconcile, outcome(result, err), causes[len(causes)-1], name)
	}
	return result, err
}

func outcome(result reconcile.Result, err error) string {
	switch {
	case err != nil:
		return "Error"
	case result.RequeueAfter > 0:
		return "RequeueAfter"
	default:
		return "Done"
	}
}
