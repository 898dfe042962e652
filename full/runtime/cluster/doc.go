// Package cluster holds everything that is needed to talk to one API server: a cache to read from, a
// client that reads from the cache and writes to the server, a reader that goes to the server, a REST
// mapper, event recorders.
//
// [New] has the signature of controller-runtime's cluster.New and takes its options; only the cache is
// ours by default (chapter 1's, over the informer of chapters 3 to 5).
//
//	c, err := cluster.New(cfg, func(o *cluster.Options) { o.Scheme = scheme })
//	go c.Start(ctx)              // runs the cache; blocks until ctx ends
//	c.GetCache().WaitForCacheSync(ctx)
//
// What you owe it: call Start once (a manager does it for its own cluster and for every cluster that is
// added to it), and cancel its context to stop it.
package cluster
