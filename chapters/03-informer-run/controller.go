package informer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// config is all that a controller needs. It stands for client-go's cache.Config.
type config struct {
	// name says in logs whose controller it is.
	name string
	// queue is written by the reflector and popped by the process loop.
	queue cache.Queue
	// process is called with what was popped, by one goroutine.
	process func(deltas []cache.Delta, isInInitialList bool) error

	listerWatcher cache.ListerWatcher
	objectType    runtime.Object
	newReflector  func(cache.ListerWatcher, runtime.Object, cache.ReflectorStore, ReflectorOptions) Reflector
	reflector     ReflectorOptions
}

// controller moves events: its reflector from the API server into the queue, its
// process loop from the queue to process. It stands for client-go's low-level
// cache.Controller, which has nothing to do with the controllers that reconcile.
type controller struct {
	config    config
	reflector Reflector
}

func newController(c config) *controller {
	return &controller{
		config:    c,
		reflector: c.newReflector(c.listerWatcher, c.objectType, c.queue, c.reflector),
	}
}

// RunWithContext runs reflector and process loop until ctx is done, and waits for both.
//
// The wait for the reflector is a plain last statement. Were it deferred, a
// panic of the process loop would wait for a reflector that nobody stops: the
// program would neither work nor crash.
func (c *controller) RunWithContext(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, c.config.queue.Close) // wakes a Pop that waits

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.reflector.RunWithContext(ctx)
	}()
	wait.UntilWithContext(ctx, c.processLoop, time.Second)
	await(context.WithoutCancel(ctx), c.config.name+": the reflector to stop", ended)
}

// processLoop pops until the queue is closed. What fails is gone from the queue:
// the next list is what repairs the store, so the error must at least be seen.
func (c *controller) processLoop(ctx context.Context) {
	pop := popFrom(c.config.queue, c.config.process)
	for ctx.Err() == nil {
		err := pop()
		if errors.Is(err, cache.ErrFIFOClosed) {
			return
		}
		if err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Events could not be applied: until the next list, store and cluster may differ", "informer", c.config.name)
		}
	}
}

// allPopper is a queue that gives away all it has. Unlike a cache.QueueWithBatch
// it may hand out several deltas of one object at once, in order.
type allPopper interface {
	PopAll(process func(deltas []cache.Delta, isInInitialList bool) error) error
}

// popFrom finds the cheapest way to empty the queue.
func popFrom(queue cache.Queue, process func([]cache.Delta, bool) error) (pop func() error) {
	one := func(obj any, isInInitialList bool) error {
		deltas, ok := obj.(cache.Deltas)
		if !ok {
			return fmt.Errorf("queue %T gave a %T; the queue of an informer must give cache.Deltas", queue, obj)
		}
		return process(deltas, isInInitialList)
	}
	switch q := queue.(type) {
	case allPopper:
		return func() error { return q.PopAll(process) }
	case cache.QueueWithBatch:
		return func() error { return q.PopBatch(process, one) }
	default:
		return func() error {
			_, err := q.Pop(one)
			return err
		}
	}
}
