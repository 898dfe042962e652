// Package chapter05 is the layer between the queue and everybody who wants to
// know: deltas become the state of a store, and calls of handlers. It has no
// code of its own; the layer is its three subpackages.
//
//	            handledeltas            indexer
//	DeltaFIFO ──→ HandleDeltas ──Apply──→ Indexer ──→ who reads: listers, CacheReader
//	                   │
//	                   └─OnAdd, OnUpdate, OnDelete──→ Processor ──Flush──→ listener ──→ who is told:
//	                                                              └──────→ listener ──→ handlers
//	                                                  processor
//
// # Construct
//
//	store := indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{
//		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
//	})
//	events := processor.New(10 * time.Hour)
//	registration := events.Add(handler, cache.HandlerOptions{}, "my handler", nil, false)
//
// The store is a cache.Indexer and stands wherever upstream takes one. The
// processor is chapter 3's informer.Processor. HandleDeltas takes any cache.Store
// and any cache.ResourceEventHandler.
//
// # The full loop
//
// This is what an informer does around the layer:
//
//	go events.Run(ctx)
//	for {
//		err := queue.PopAll(func(deltas []cache.Delta, isInInitialList bool) error {
//			blockDeltas.Lock()
//			defer blockDeltas.Unlock()
//			err := handledeltas.HandleDeltas(events, store, deltas, isInInitialList)
//			events.Flush()
//			return err
//		})
//		…
//	}
//
// and once the queue has given away its initial list, under the same lock:
//
//	events.Synced()
//
// # What you owe it
//
//   - One lock (here blockDeltas) around everything that is reported, flushed or
//     added. It is what makes a late handler's initial list and its first event
//     fit together: Add(handler, options, name, store.List(), hasSynced).
//   - A Flush after each HandleDeltas, also after one that returned an error.
//   - The error. What it names is neither in the store nor told to anybody, and
//     stays so until the next list.
//   - Objects that nobody changes. Store, handlers and readers share them.
//     processor.NewMutationDetector finds who does not keep to it.
//
// # What it promises
//
//   - An object is in the store before a handler hears of it.
//   - Every handler gets the same events in the same order, at its own pace: a
//     handler that blocks costs memory and nothing else.
//   - A registration has synced when its handler has returned from everything
//     that came before the mark: the mark waits in the handler's own queue.
//   - A reader never waits for an index function or for a handler, only for one
//     short write: at most a thousand objects, or one Replace.
//   - An update is a resync if the resourceVersion stayed the same, whatever the
//     delta is called. Resyncs go to those handlers whose resync is due.
//
// # Where the time goes
//
// Upstream pays per event and handler: one channel send to the listener, one from
// its first goroutine to its second, and a ring buffer between them. Here an
// event is written once into a list, and a whole list changes hands under one
// short lock per handler. Upstream's indices hold keys, so that reading by index
// looks up each object again, and its updates ask the index functions about the
// old object too; here they hold the entries, and an entry knows where it is.
package chapter05
