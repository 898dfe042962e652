// Package trace shows the way of every event through the layers, one line per
// step:
//
//	layers := trace.Wrap(assembly.Layers{}, trace.New(trace.Printer(os.Stdout)))
//	mgr, err := assembly.NewManager(cfg, manager.Options{}, layers)
//	err = assembly.ControllerManagedBy(mgr, layers).For(&v1.Pod{}).Complete(r)
//
// A line is written when an event comes to a layer, before the layer touches it:
//
//	Reflector     the API server sent it, in a list or on a watch
//	DeltaFIFO     the reflector puts it into its store, which is the queue
//	HandleDeltas  it was popped
//	Indexer       it is applied to the store that readers read
//	Processor     it is reported to the listeners
//	Kind          it passed the predicates and comes to a source's handler
//	workqueue     the handler enqueues a request because of it
//	Reconcile     the request is reconciled
//
// An event is told from others by type, key and resourceVersion. Requests are
// merged in the workqueue, so one call of Reconcile answers several events; each
// of them gets its line.
//
// The layers know nothing of this: Wrap puts a function around their
// constructors. So there is a price, a clock read and a line per step, under one
// lock, and only for who wants to watch.
package trace
