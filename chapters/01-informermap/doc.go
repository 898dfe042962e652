// Package informermap is the cache that a manager's client reads from: one
// informer per kind, kept in a map, so that everybody who reads or watches a
// kind shares one list, one watch and one store.
//
// # Construct
//
// New fits manager.Options.NewCache:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: informermap.New})
//
// or stands alone:
//
//	c, err := informermap.New(config, cache.Options{})
//	go c.Start(ctx)               // runs informers until ctx ends, and waits for them
//	if !c.WaitForCacheSync(ctx) { … }
//	err = c.Get(ctx, key, &pod)   // makes the informer of Pods, waits for it, reads its store
//
// # From New to a read
//
//	New ─ cache.Options ─→ planFor ─→ informerCache                one for all kinds, or
//	                                  delegatingCache              one per kind in ByObject, and
//	                                  multiNamespaceCache          one per namespace of a kind
//	informerCache ─→ InformersMap ─→ specificInformersMap ×3       structured, unstructured, metadata
//	specificInformersMap ─→ MapEntry ─→ Informer (chapter 3)       made by cache.Options.NewInformer
//	                                 └→ CacheReader                over the informer's store
//
// The map is empty at first. The first Get for a kind makes the list/watch pair
// for its representation, the informer and the reader, and, if the map has been
// started, runs the informer at once. Under a manager that is the rule and not
// the exception: the cache starts first, controllers ask for their informers
// afterwards.
//
// # What it promises
//
//   - A read waits until the informer has synced. Before the initial list is in
//     the store nothing is ever "not found".
//   - Readers get copies, with their kind filled in, unless deep copies are
//     disabled for the call or by option. Event handlers always get the objects
//     of the store, and must not write to them.
//   - Looking up one kind never waits for another: discovery and lists happen
//     outside the map's lock.
//   - Start returns when every informer has stopped. RemoveInformer stops one.
//   - Whoever waits for a sync says so every ten seconds, with the kind and the
//     API server's last answer.
//
// # What you owe it
//
//   - Call Start once.
//   - Do not change objects that a handler, or a read without deep copy, gave you.
//   - Add indexes with IndexField before lists ask for them. At any time will do,
//     but an informer that is removed takes its indexes along.
//   - A cached read is as old as the last event that has come in: see your own
//     write only after its event, or use client.CacheOptions'
//     EnableReadYourWritesConsistency, for which this cache has all it takes.
//
// # Errors to tell apart
//
//	cache.ErrCacheNotStarted      Start was not called yet
//	cache.ErrResourceNotCached    ReaderFailOnMissingInformer, and nobody has asked for an informer
//	apierrors.IsTimeout           the context ended before the informer had synced
//	meta.IsNoMatchError           the API server does not serve the kind: install the CRD
//	runtime.IsNotRegisteredError  the scheme does not know the Go type
package informermap
