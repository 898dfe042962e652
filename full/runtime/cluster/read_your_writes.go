package cluster

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InOrder marks the caches that newCache makes as fed by a queue that keeps the order of the watch:
// chapter 4's in-order queue or client-go's RealFIFO. A cluster allows
// Client.Cache.EnableReadYourWritesConsistency over a marked cache only.
func InOrder(newCache cache.NewCacheFunc) cache.NewCacheFunc {
	return func(config *rest.Config, options cache.Options) (cache.Cache, error) {
		c, err := newCache(config, options)
		if err != nil {
			return nil, err
		}
		return inOrderCache{c}, nil
	}
}

// inOrderCache is the mark. It passes on the one method that a manager looks for beside cache.Cache's.
type inOrderCache struct{ cache.Cache }

// NeedLeaderElection is the cache's own: without it a manager would fill a cache that was added to it
// only after it leads.
func (c inOrderCache) NeedLeaderElection() bool {
	own, ok := c.Cache.(interface{ NeedLeaderElection() bool })
	return !ok || own.NeedLeaderElection() // silence means yes, as a manager takes it
}

var (
	errReordered = errors.New("Client.Cache.EnableReadYourWritesConsistency needs a queue that keeps the order of the watch: " +
		"it waits until the cache has seen one resourceVersion, and DeltaFIFO moves a later change of an object before " +
		"earlier changes of others, so the cache can have seen that version and still lack your write; " +
		"choose the in-order queue (assembly.Layers, or NewCache wrapped in cluster.InOrder) or switch the option off")
	errManyNamespaces = "Client.Cache.EnableReadYourWritesConsistency and a cache of several namespaces exclude each other (%s): " +
		"the option compares one resourceVersion per kind, and such a cache has one per namespace; use one namespace, or switch the option off"
)

// checkReadYourWrites refuses read-your-writes where reads would be stale all the same.
// A reader that the caller brought is the caller's to judge.
func checkReadYourWrites(given client.Options, opts cache.Options, made cache.Cache) error {
	if given.Cache == nil || given.Cache.Reader != nil || !ptr.Deref(given.Cache.EnableReadYourWritesConsistency, false) {
		return nil
	}
	if _, inOrder := made.(inOrderCache); !inOrder {
		return errReordered
	}
	if len(opts.DefaultNamespaces) > 1 {
		return fmt.Errorf(errManyNamespaces, "Cache.DefaultNamespaces")
	}
	for obj, by := range opts.ByObject {
		if len(by.Namespaces) > 1 {
			return fmt.Errorf(errManyNamespaces, fmt.Sprintf("Cache.ByObject of %T", obj))
		}
	}
	return nil
}
