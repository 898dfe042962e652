// Package informer is the third layer: a shared informer, from the constructor to
// the last handler that returns. It keeps a local copy of one kind of object and
// tells any number of handlers what changes in it.
//
//	API server ─list/watch→ Reflector ─→ Queue ─→ HandleDeltas ─┬→ Indexer   → who reads
//	                                                            └→ Processor → handlers
//	            └────── controller ──────┘        (blockDeltas)
//	            └───────────────────── sharedIndexInformer ─────────────────────┘
//
// # Construct
//
//	i := informer.NewSharedIndexInformer(lw, &corev1.Pod{}, resync, cache.Indexers{})
//
// is client-go's constructor with client-go's result, cache.SharedIndexInformer,
// so it goes where client-go's goes: into a factory's InformerFor, and as
// cache.Options.NewInformer into controller-runtime's cache or into chapter 1's.
//
//	i := informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, informer.Options{
//		NewQueue: func(known cache.KeyListerGetter) cache.Queue { … },
//	})
//
// says what it is made of. There are five parts, and each has a default:
//
//   - NewQueue: client-go's DeltaFIFO, the queue of the article. Any cache.Queue
//     that gives cache.Deltas will do, and client-go's RealFIFO in each of its modes.
//   - NewReflector: client-go's reflector, with an adapter around it.
//   - NewIndexer: client-go's indexer.
//   - HandleDeltas: naive, one delta at a time; client-go keeps its own to itself.
//   - NewProcessor: naive, the handlers are called in place.
//
// The two naive parts are right and slow, and one of them has a fault of
// character: a handler that takes its time stops the queue, the store and all
// other handlers. Chapter 5 replaces both, chapter 4 the queue and the reflector.
//
// # Use
//
//	registration, err := i.AddEventHandler(handler)   // before or after the start
//	go i.RunWithContext(ctx)                          // once
//	cache.WaitFor(ctx, "", registration.HasSyncedChecker())
//
// What you may rely on:
//
//   - When a handler hears of an event, the indexer has it already.
//   - Each handler gets every object that was there when it joined as OnAdd with
//     isInInitialList, and then everything that follows: nothing twice, nothing left out.
//   - i.HasSynced means that the first list is in the indexer,
//     registration.HasSynced that this handler has seen it all.
//   - When Run returns, no handler runs and none will be called. What they had not
//     seen yet is dropped.
//   - A panic in the store, in HandleDeltas or in a naive handler reaches the
//     caller of Run at once. Nothing hangs instead.
//   - Deltas that could not be applied are logged by utilruntime.HandleError. They
//     are gone: the next list repairs the store.
//   - What is waited for longer than ten seconds is named in the log: the first
//     list, a handler that does not return, a reflector that does not stop.
//
// What you owe it:
//
//   - Objects are shared. A handler that wants to change one copies it.
//   - OnDelete may get a cache.DeletedFinalStateUnknown: the deletion was seen only
//     by its absence from a list, and the object in it is the last that was known.
//   - SetTransform and SetWatchErrorHandler come before the start; later they return
//     an error. So does AddEventHandler after the end, and only then.
//   - RemoveEventHandler does not wait for a call that has begun;
//     cache.ShutDownEventHandler does, and so must not be called by the handler.
//
// # What happens in a run
//
// Run makes the queue, with the indexer as what it knows, and the reflector, with
// the queue as its store. It starts the processor, a goroutine that waits for the
// end of the first list, and the controller: the reflector in a goroutine, and the
// process loop right here. The loop takes deltas out of the queue, all it has if
// the queue can do that (PopAll), else a batch (cache.QueueWithBatch), else the
// deltas of one object, and gives them to HandleDeltas. This happens under the
// lock blockDeltas:
//
//	HandleDeltas(processor, indexer, deltas, isInInitialList)
//	processor.Flush()
//
// A handler that joins late takes the same lock, so that the indexer's objects are
// exactly what it has not been told yet:
//
//	processor.Add(handler, options, name, indexer.List(), informer.HasSynced())
//
// And so does the end of the first list. The queue says when its first objects
// were taken out; client-go's DeltaFIFO says so a moment before the last one was
// processed, but HasSynced, which needs the lock that the processing holds,
// answers after it. Then, under blockDeltas, the informer is synced, and
//
//	processor.Synced()
//
// puts the mark behind what each handler still has to see.
//
// When ctx ends, the controller stops first: queue closed, reflector and loop
// ended. Only then the processor is told, so that nobody reports to one that is gone.
//
// # Write a part
//
// The interfaces Reflector and Processor and the comments of Options say what a
// part has to do. Who owns what: the transform is the reflector's, exactly once for
// each object, so a queue in an informer has none; resyncs are the processor's, the
// reflector only asks ShouldResync at each tick; the names of registrations are
// the informer's. Package informertest plays some fifty scenarios with any
// informer, client-go's among them.
package informer
