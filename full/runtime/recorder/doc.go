// Package recorder hands out event recorders that write to one API server, and stops them all at once.
//
// controller-runtime has the same thing as an internal package, so a cluster and a manager of our own
// need one of their own. Make a [Provider] with [New], give its recorders to whoever asks, and call
// [Provider.Stop] when everything that emits events has ended: events that come later are dropped
// instead of crashing on a closed broadcaster.
package recorder
