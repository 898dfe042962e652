// Package assembly puts the layers of all chapters together: from the watch to Reconcile, no part of
// upstream's machinery is left unless you choose it.
//
//	mgr, err := assembly.NewManager(cfg, manager.Options{}, assembly.Layers{})
//	err = assembly.ControllerManagedBy(mgr, assembly.Layers{}).For(&v1.Pod{}).Complete(reconciler)
//
// [Layers] has one field per seam, and each field is the constructor itself (or, for queues, a
// constructor and what one has to know of it). To swap a layer is to set its field; to wrap one is to
// take the constructor out and put a function around it:
//
//	l := assembly.Layers{}.WithDefaults()
//	newIndexer := l.NewIndexer
//	l.NewIndexer = func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return loud(newIndexer(k, i)) }
//
// Give the same Layers to NewManager and to ControllerManagedBy.
package assembly
