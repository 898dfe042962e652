// Package reflectordeltafifo is the layer that brings what the API server says
// into the process: package reflector lists and watches, package deltafifo
// queues what it was told until the informer works it off.
//
//	API server ─list, watch→ Reflector ─Add, Update, Delete, Replace, Resync→ DeltaFIFO ─Pop→ (chapter 5)
//
// # Construct
//
//	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
//	queue := deltafifo.New(deltafifo.Options{KnownObjects: store, EmitDeltaTypeReplaced: true})
//	lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything())
//	r := reflector.New(lw, &corev1.Pod{}, queue, reflector.Options{})
//
// Each of the two works without the other. A reflector fills any
// cache.ReflectorStore, for example the store above, directly; client-go's
// reflector fills our queues; client-go's controllers take them (cache.Config).
//
// # The loop
//
//	go func() {
//		r.RunWithContext(ctx) // returns when ctx ends and nothing writes any more
//		queue.Close()         // makes PopAll return ErrFIFOClosed once it is empty
//	}()
//	for {
//		err := queue.PopAll(func(deltas []cache.Delta, isInInitialList bool) error {
//			for _, d := range deltas {
//				switch d.Type {
//				case cache.Deleted: // d.Object may be a cache.DeletedFinalStateUnknown
//					err = store.Delete(d.Object)
//				default: // Added, Updated, Replaced, Sync: the store knows which it is
//					err = store.Update(d.Object)
//				}
//			}
//			return err
//		})
//		if errors.Is(err, cache.ErrFIFOClosed) {
//			return
//		}
//	}
//
// # What you owe it
//
//   - A reflector runs once. It writes to the store from one goroutine, and calls
//     Resync from a second one.
//   - A lister-watcher should end its requests with their context. One that
//     doesn't is left behind, and its answer dropped.
//   - A fake lister-watcher must answer SendInitialEvents with the annotated
//     bookmark, or say IsWatchListSemanticsUnSupported; internal/lwtest does.
//   - What was popped is in KnownObjects when the process function returns, and
//     that function never calls the queue.
//   - One transform: the reflector's or the queue's, not both.
//
// # What you can rely on
//
//   - After HasSynced the store holds a state that the API server was in, and it
//     follows from there: each event reaches the queue once, in the order in
//     which the server sent it, as long as one watch follows on another.
//   - When a watch can't go on, Replace tells the queue the new state, and the
//     queue says what is gone, with the last state that was known.
//   - The store is never taken back in time, unless the API server was.
//   - A server that is busy or away is asked again after pauses that grow, and no
//     fault of a server or a proxy makes the reflector ask in a loop without them.
//   - Whatever takes longer than ten seconds is named in the log every ten seconds.
package reflectordeltafifo
