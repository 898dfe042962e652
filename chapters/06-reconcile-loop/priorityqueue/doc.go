// Package priorityqueue is a workqueue that hands out the most important item
// first. It is what controller-runtime's controllers use by default: what changed
// goes before what was only listed at the start.
//
// New takes controller-runtime's options and returns its interface. What differs
// from its queue:
//
//   - A second ShutDown does nothing (upstream's panics).
//   - Everything is done when a call returns: NumRequeues knows of an
//     AddRateLimited at once, where upstream's has a buffer in between.
//   - An item in work costs the others nothing. Upstream's walks past it in its tree.
package priorityqueue
