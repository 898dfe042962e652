// Package source is the layer between a cache and a controller's workqueue. It
// says which kinds a controller watches, puts a handler on the informer of each,
// and turns what the informers tell into requests in the queue.
//
//	informer ──OnAdd/OnUpdate/OnDelete──→ eventHandler ──→ predicates ──→ handler ──Add──→ workqueue
//	   ↑                                  (the bridge)                   (the user's)          │
//	   └── Kind finds it in the cache, adds the bridge, waits for its sync                     ↓
//	         ↑                                                                              workers
//	       Watches keeps the sources until the controller starts, then starts them all
//	         ↑
//	       DoWatch makes them of what a builder's For, Owns and Watches recorded
//
// # Parts, in reading order
//
//   - DoWatch: For, Owns and Watches become sources.
//   - Watches: remembers sources, starts them side by side, waits for their sync.
//   - Kind, TypedKind: one source, from the lookup of its informer to its sync.
//   - eventHandler: the bridge, which checks types, opens tombstones and asks the
//     predicates.
//
// # Construct
//
// Kind and TypedKind have the signatures of controller-runtime's and stand
// wherever those stand, over any cache.Cache:
//
//	builder.ControllerManagedBy(mgr).Named("pods").
//		WatchesRawSource(source.Kind(mgr.GetCache(), &corev1.Pod{},
//			&handler.TypedEnqueueRequestForObject[*corev1.Pod]{}))
//
// A controller keeps a Watches. Its zero value works:
//
//	w := source.Watches[reconcile.Request]{Name: name, SyncTimeout: time.Minute, Log: log}
//	_ = w.Watch(src)                // remembered
//	err := w.Start(ctx, queue)      // all have synced, or err names those that have not
//	_ = w.Watch(another)            // started at once
//
// # What a source owes, and what it is owed
//
//   - Start must not block, and WaitForSync must end with its context. Watches
//     leaves a source behind that breaks this, and says which one.
//   - The context of Start is the source's life, that of WaitForSync only a wait.
//   - A source may call Watch from its Start; a reconciler may, too. No lock is
//     held while a source is called.
//   - When the life of a Kind ends, its handler is taken off the informer, which
//     lives on with the cache.
//   - After WaitForSync the initial list is in the queue: not only the cache has
//     synced but this handler has seen all of it.
//
// # When a kind is not there
//
// The lookup of an informer fails while its CRD is not installed, its type not in
// the scheme, or discovery does not answer. Kind tries every 10 s and logs what
// is missing each time; the timeout of the wait decides when that is an error,
// and the error says it again. A lookup may also block: a cache that runs does not
// give an informer away before it has synced, and one that may not list its kind
// never syncs. That is why Start leaves the lookup to a goroutine.
//
// # Then and now
//
// In the article the cache is injected into a source, handler and predicates are
// arguments of Watch, and sources start one after the other. Today all three
// belong to the source when it is made, object and request types are parameters,
// sources start side by side, and the handler itself has to sync.
package source
