// Package deltafifo holds the queues between a reflector, which writes what the
// API server said, and an informer, which works it off.
//
// DeltaFIFO keeps a list of deltas per key and hands out key after key: whoever
// pops a key sees all that happened to it since it was popped last. InOrder
// keeps one list and hands out delta after delta. Both are cache.Queue, so
// client-go's controllers run on them (cache.Config.Queue), and both have
// PopAll, which takes everything at once.
//
// # Construct
//
//	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
//	queue := deltafifo.New(deltafifo.Options{KnownObjects: store, EmitDeltaTypeReplaced: true})
//
// # The loop
//
//	go reflector.RunWithContext(ctx) // Add, Update, Delete, Replace, Resync
//	for {
//		err := queue.PopAll(func(deltas []cache.Delta, isInInitialList bool) error {
//			return apply(store, deltas) // store is what the queue knows as KnownObjects
//		})
//		if errors.Is(err, cache.ErrFIFOClosed) {
//			return
//		}
//	}
//
// # What you owe it
//
// One consumer. What was popped must be in KnownObjects when the process
// function returns: Replace finds deletions by comparing with it. A process
// function must not call the queue: Pop holds its lock, and PopAll makes those
// calls wait that have to see its result. Deltas handed to PopAll are the
// caller's until process returns; an error of process doesn't put them back.
package deltafifo
