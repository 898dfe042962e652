package manager

import (
	"context"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// runnables are the six groups, in the order in which they start.
type runnables struct {
	httpServers    *runnableGroup
	webhooks       *runnableGroup
	caches         *runnableGroup
	others         *runnableGroup
	warmup         *runnableGroup
	leaderElection *runnableGroup
}

func newRunnables(base manager.BaseContextFunc, logger logr.Logger, fail func(error)) *runnables {
	group := func(name string) *runnableGroup { return newRunnableGroup(name, base(), logger, fail) }
	return &runnables{
		// manager.Server logs with the logger of its context.
		httpServers:    newRunnableGroup("HTTPServers", logr.NewContext(base(), logger), logger, fail),
		webhooks:       group("Webhooks"),
		caches:         group("Caches"),
		others:         group("Others"),
		warmup:         group("Warmup"),
		leaderElection: group("LeaderElection"),
	}
}

// Add puts r into the group that its methods speak for. What says nothing of itself is taken for a
// controller: it runs only on the leader.
func (r *runnables) Add(runnable manager.Runnable) error {
	switch known := runnable.(type) {
	case *manager.Server:
		if !known.NeedLeaderElection() {
			return r.httpServers.Add(runnable, nil)
		}
		return r.leaderElection.Add(runnable, nil)
	case interface{ GetCache() cache.Cache }:
		return r.caches.Add(runnable, func(ctx context.Context) bool { return known.GetCache().WaitForCacheSync(ctx) })
	case webhook.Server:
		return r.webhooks.Add(webhookServer{known}, nil)
	}

	if w, ok := runnable.(interface{ Warmup(context.Context) error }); ok {
		if err := r.warmup.Add(warmup{runnable, w.Warmup}, nil); err != nil {
			return err
		}
	}
	if l, ok := runnable.(manager.LeaderElectionRunnable); ok && !l.NeedLeaderElection() {
		return r.others.Add(runnable, nil)
	}
	return r.leaderElection.Add(runnable, nil)
}

// warmup is what a runnable does while it is not yet the leader.
type warmup struct {
	of  manager.Runnable
	run func(context.Context) error
}

func (w warmup) Start(ctx context.Context) error { return w.run(ctx) }
func (w warmup) String() string                  { return "warm-up of " + describe(w.of) }
