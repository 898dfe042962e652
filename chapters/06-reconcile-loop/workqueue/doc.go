// Package workqueue is the queue between the handlers of events and the workers of
// a controller, in three floors that each stand on the one below:
//
//	New             Add, Get, Done: each item once, and to one worker at a time
//	NewDelaying     AddAfter: later
//	NewRateLimiting AddRateLimited, Forget: later and later after failures
//
// They return client-go's interfaces, and take any of its limiters; the limiters
// here are limiters there. What differs from client-go's:
//
//   - ShutDownWithDrain also waits for what is queued, and says every 10 s what for;
//     two drains are both released.
//   - Done of an item that is not in work does nothing.
//   - With Config.AddReplacesDelayed, an Add calls off the AddAfter that waits.
//   - With a name but without a MetricsProvider, the metrics are controller-runtime's.
//   - The order is first in, first out: there is no Queue to put in its place. Take
//     the priority queue for another order.
package workqueue
