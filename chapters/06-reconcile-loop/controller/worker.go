package controller

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// worker works off one request after the other. That no two workers have the same
// request is the queue's promise, kept as long as Done comes after the reconcile.
type worker[request comparable] struct {
	controller *Controller[request]
	current    atomic.Pointer[request] // nil between two requests
}

// processNextWorkItem works off one request, and says false if there are no more.
func (w *worker[request]) processNextWorkItem(ctx context.Context) bool {
	c := w.controller
	req, priority, shutdown := c.queue.GetWithPriority()
	if shutdown {
		return false
	}
	// Also if the reconciler panics, or the queue would hold the request for ever.
	defer c.queue.Done(req)

	w.current.Store(&req)
	defer w.current.Store(nil)
	active := c.metrics().activeWorkers
	active.Inc()
	defer active.Dec()

	c.reconcileHandler(ctx, req, priority)
	return true
}

// reconcileHandler calls the reconciler and does with the request what its answer
// says:
//
//	error           again, later and later
//	terminal error  not again
//	RequeueAfter    again after that time; earlier failures are forgotten
//	Requeue         again, later and later
//	nothing         not again; earlier failures are forgotten
//
// With an error the rest of the answer does not count. A request keeps its
// priority unless the answer gives it another.
func (c *Controller[request]) reconcileHandler(ctx context.Context, req request, priority int) {
	start, metrics := time.Now(), c.metrics()
	defer func() { metrics.duration.Observe(time.Since(start).Seconds()) }()

	id := uuid.NewUUID()
	log := c.options.LogConstructor(&req).WithValues("reconcileID", id)
	ctx = withReconcileID(logf.IntoContext(ctx, log), id)

	log.V(5).Info("Reconciling")
	result, err := c.Reconcile(ctx, req)
	if result.Priority != nil {
		priority = *result.Priority
	}
	retry := priorityqueue.AddOpts{RateLimited: true, Priority: &priority}
	switch {
	case err != nil:
		metrics.errors.Inc()
		metrics.resultError.Inc()
		if errors.Is(err, reconcile.TerminalError(nil)) {
			metrics.terminalErrors.Inc()
		} else {
			c.queue.AddWithOpts(retry, req)
		}
		logFailure(log, result, err)
	case result.RequeueAfter > 0:
		log.V(5).Info("Reconcile done, requeueing", "after", result.RequeueAfter)
		c.queue.Forget(req)
		c.queue.AddWithOpts(priorityqueue.AddOpts{After: result.RequeueAfter, Priority: &priority}, req)
		metrics.resultRequeueAfter.Inc()
	case result.Requeue: //nolint:staticcheck // deprecated, and still in use
		log.V(5).Info("Reconcile done, requeueing")
		c.queue.AddWithOpts(retry, req)
		metrics.resultRequeue.Inc()
	default:
		log.V(5).Info("Reconcile successful")
		c.queue.Forget(req)
		metrics.resultSuccess.Inc()
	}
}

func logFailure(log logr.Logger, result reconcile.Result, err error) {
	if result.RequeueAfter > 0 || result.Requeue { //nolint:staticcheck // deprecated, and still in use
		log.Info("Warning: the reconciler returned an error and also RequeueAfter or Requeue: with an error these are ignored, the rate limiter says when to retry")
	}
	log.Error(err, "Reconciler error")
}
