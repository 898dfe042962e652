// Package reconcileloop is the last layer: what happens between the handler that
// an event reaches and the reconciler.
//
//	handler ─Add→ workqueue ─Get→ worker ─Reconcile→ your code
//	                  ↑                        │
//	                  └── AddRateLimited, AddAfter, Forget ── by its answer
//
// # Parts
//
//   - workqueue: three floors. A queue that hands each item to one worker at a
//     time; AddAfter over it; AddRateLimited over that, with the limiters.
//   - priorityqueue: one queue for all of that, which also knows priorities. It is
//     what controller-runtime has used by default since v0.23.
//   - controller: takes sources and a reconciler, and runs the workers.
//   - metrics: controller-runtime's collectors under their names.
//   - heap: what all waiting items wait in.
//   - queuetest: runs a program on any queue, for tests that compare two.
//
// # How to put it together
//
//	c, err := controller.New("mirror", mgr, controller.Options{Reconciler: r})
//	err = c.Watch(source.Kind(mgr.GetCache(), &corev1.ConfigMap{}, &handler.EnqueueRequestForObject{}))
//	err = mgr.Start(ctx)
//
// The manager may be controller-runtime's. Options are its controller.Options;
// NewQueue there takes any of the queues:
//
//	NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
//		return ours.NewRateLimiting(limiter, ours.Config{Name: name})
//	}
//
// # What you owe it
//
// Whoever calls Get calls Done, after each item. Whoever calls AddRateLimited calls
// Forget when the item is well again. Whoever makes a queue shuts it down; the
// controller does all three. A reconciler returns when its context ends.
package reconcileloop
