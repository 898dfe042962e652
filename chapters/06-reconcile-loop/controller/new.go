package controller

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	crpriorityqueue "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/priorityqueue"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
)

// New makes a controller and adds it to mgr, which starts it after the caches and,
// unless told otherwise, when this process leads.
//
// Options mean what they mean upstream. Without NewQueue the controller takes
// this chapter's priority queue, or with UsePriorityQueue false its workqueue;
// without RateLimiter, the limiter that upstream takes for that queue.
func New(name string, mgr manager.Manager, options controller.Options) (controller.Controller, error) {
	return NewTyped(name, mgr, options)
}

// NewTyped is New for any type of request.
func NewTyped[request comparable](name string, mgr manager.Manager, options controller.TypedOptions[request]) (controller.TypedController[request], error) {
	if mgr == nil {
		return nil, fmt.Errorf("controller %q needs a manager: pass one, or use NewTypedUnmanaged", name)
	}
	options.DefaultFromConfig(mgr.GetControllerOptions())
	c, err := NewTypedUnmanaged(name, options)
	if err != nil {
		return nil, err
	}
	return c, mgr.Add(c)
}

// NewUnmanaged makes a controller that the caller starts.
func NewUnmanaged(name string, options controller.Options) (controller.Controller, error) {
	return NewTypedUnmanaged(name, options)
}

// NewTypedUnmanaged is NewUnmanaged for any type of request.
func NewTypedUnmanaged[request comparable](name string, options controller.TypedOptions[request]) (controller.TypedController[request], error) {
	if name == "" {
		return nil, errors.New("a controller needs a name: its metrics and logs are found by it")
	}
	if options.Reconciler == nil {
		return nil, fmt.Errorf("controller %q has nothing to call: set Options.Reconciler", name)
	}
	if !isTrue(options.SkipNameValidation, false) {
		if err := claimName(name); err != nil {
			return nil, err
		}
	}
	return newController(name, withDefaults(name, options)), nil
}

func withDefaults[request comparable](name string, o controller.TypedOptions[request]) controller.TypedOptions[request] {
	if o.LogConstructor == nil {
		o.LogConstructor = logConstructor[request](o.Logger.WithValues("controller", name))
	}
	if o.MaxConcurrentReconciles <= 0 {
		o.MaxConcurrentReconciles = 1
	}
	if o.CacheSyncTimeout == 0 {
		o.CacheSyncTimeout = 2 * time.Minute
	}
	byPriority := isTrue(o.UsePriorityQueue, true)
	if o.RateLimiter == nil && byPriority {
		o.RateLimiter = workqueue.NewItemExponentialFailureRateLimiter[request](5*time.Millisecond, 1000*time.Second)
	}
	if o.RateLimiter == nil {
		o.RateLimiter = workqueue.DefaultTypedControllerRateLimiter[request]()
	}
	switch {
	case o.NewQueue != nil:
	case byPriority:
		o.NewQueue = func(name string, limiter clientgo.TypedRateLimiter[request]) clientgo.TypedRateLimitingInterface[request] {
			return priorityqueue.New(name, func(q *crpriorityqueue.Opts[request]) {
				q.RateLimiter = limiter
				q.Log = o.Logger.WithValues("controller", name)
			})
		}
	default:
		o.NewQueue = func(name string, limiter clientgo.TypedRateLimiter[request]) clientgo.TypedRateLimitingInterface[request] {
			return workqueue.NewRateLimiting(limiter, workqueue.Config{Name: name})
		}
	}
	return o
}

// logConstructor adds the object to the log of each request. It is also asked for
// a log without a request.
func logConstructor[request comparable](log logr.Logger) func(*request) logr.Logger {
	return func(r *request) logr.Logger {
		req, ok := any(r).(*reconcile.Request)
		if !ok || req == nil {
			return log
		}
		return log.WithValues("object", klog.KRef(req.Namespace, req.Name), "namespace", req.Namespace, "name", req.Name)
	}
}

func isTrue(b *bool, unset bool) bool {
	if b == nil {
		return unset
	}
	return *b
}
