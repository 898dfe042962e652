package informermap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// subCaches lets several caches start, sync and stop as one. The keys of all are
// for error messages.
type subCaches struct {
	all     map[string]cache.Cache
	started atomic.Bool
}

// Start runs the caches until ctx ends. If one fails the others are stopped:
// half a cache would answer "not found" for what it does not hold.
func (s *subCaches) Start(ctx context.Context) error {
	if !s.started.CompareAndSwap(false, true) {
		return errStartedTwice
	}
	group, ctx := errgroup.WithContext(ctx)
	for name, sub := range s.all {
		group.Go(func() error {
			if err := sub.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("failed to start the cache for %s: %w", name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// WaitForCacheSync waits for all at once, so that each can say what it waits for.
func (s *subCaches) WaitForCacheSync(ctx context.Context) bool {
	var failed atomic.Bool
	var done sync.WaitGroup
	for _, sub := range s.all {
		done.Go(func() {
			if !sub.WaitForCacheSync(ctx) {
				failed.Store(true)
			}
		})
	}
	done.Wait()
	return !failed.Load()
}

// NeedLeaderElection: see informerCache.
func (s *subCaches) NeedLeaderElection() bool { return false }
