package controller

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	crsource "sigs.k8s.io/controller-runtime/pkg/source"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

// Controller takes requests from its queue and calls the reconciler with them. Its
// sources fill the queue. It stands for controller-runtime's
// internal/controller.Controller.
//
// It lives once: Warmup or Start makes the queue and starts the sources, Start
// starts the workers and ends with them.
type Controller[request comparable] struct {
	name    string
	options controller.TypedOptions[request] // with defaults
	log     logr.Logger
	metrics func() *controllerMetrics // makes them with the first call
	watches source.Watches[request]

	started atomic.Bool

	mu        sync.Mutex // guards the fields below until they are set, once
	queue     priorityqueue.PriorityQueue[request]
	shutQueue func()
}

var (
	_ controller.Controller          = &Controller[reconcile.Request]{}
	_ manager.LeaderElectionRunnable = &Controller[reconcile.Request]{}
)

func newController[request comparable](name string, options controller.TypedOptions[request]) *Controller[request] {
	log := options.LogConstructor(nil)
	return &Controller[request]{
		name:    name,
		options: options,
		log:     log,
		metrics: sync.OnceValue(func() *controllerMetrics { return newControllerMetrics(name, options.MaxConcurrentReconciles) }),
		watches: source.Watches[request]{Name: name, SyncTimeout: options.CacheSyncTimeout, Log: log},
	}
}

// Watch adds a source. It may be called at any time, also from the reconciler: a
// running controller starts the source at once and doesn't wait for its sync.
func (c *Controller[request]) Watch(src crsource.TypedSource[request]) error {
	return c.watches.Watch(src)
}

// GetLogger is the log without a request.
func (c *Controller[request]) GetLogger() logr.Logger { return c.log }

// NeedLeaderElection says whether Start has to wait until this process leads.
func (c *Controller[request]) NeedLeaderElection() bool {
	return isTrue(c.options.NeedLeaderElection, true)
}

// Warmup starts the sources before Start, if EnableWarmup is set: a process that
// may lead later has its caches filled by then, and its queue too.
func (c *Controller[request]) Warmup(ctx context.Context) error {
	if !isTrue(c.options.EnableWarmup, false) {
		return nil
	}
	return c.startSources(ctx)
}

// Start runs the controller until ctx ends and the last reconcile has returned. It
// fails if a source doesn't start or doesn't sync in time.
func (c *Controller[request]) Start(ctx context.Context) error {
	if c.started.Swap(true) {
		return fmt.Errorf("controller %q was started already: add it to one manager, and once", c.name)
	}
	c.metrics()
	if err := c.startSources(ctx); err != nil {
		c.shutQueue()
		return err
	}

	c.log.Info("Starting Controller")
	c.log.Info("Starting workers", "worker count", c.options.MaxConcurrentReconciles)
	workers := make([]worker[request], c.options.MaxConcurrentReconciles)
	var running sync.WaitGroup
	for i := range workers {
		workers[i].controller = c
		running.Go(func() {
			for workers[i].processNextWorkItem(ctx) {
			}
		})
	}

	<-ctx.Done()
	c.log.Info("Shutdown signal received, waiting for all workers to finish")
	c.await(&running, workers)
	c.log.Info("All workers finished")
	return nil
}

// startSources makes the queue, if there is none yet, and returns when the sources
// have synced. The queue is shut down with the first context to end, whether the
// warm-up's or the start's: the workers' end must not depend on the other.
func (c *Controller[request]) startSources(ctx context.Context) error {
	c.mu.Lock()
	if c.queue == nil {
		c.queue = withPriorities(c.options.NewQueue(c.name, c.options.RateLimiter))
		// Once, because upstream's priority queue panics on the second time.
		c.shutQueue = sync.OnceFunc(c.queue.ShutDown)
	}
	c.mu.Unlock()
	context.AfterFunc(ctx, c.shutQueue)
	return c.watches.Start(ctx, c.queue)
}

// reportEvery is how often a wait says what it is waiting for.
const reportEvery = 10 * time.Second

// await waits for the workers, and says from time to time what they still do.
func (c *Controller[request]) await(running *sync.WaitGroup, workers []worker[request]) {
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	report := time.NewTicker(reportEvery)
	defer report.Stop()
	for {
		select {
		case <-done:
			return
		case <-report.C:
			var busy []request
			for i := range workers {
				if req := workers[i].current.Load(); req != nil {
					busy = append(busy, *req)
				}
			}
			c.log.Info("Still waiting for reconciles that don't return after their context was cancelled", "requests", busy)
		}
	}
}
