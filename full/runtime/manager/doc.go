// Package manager starts and stops everything that an operator is made of, in the right order.
//
// [New] has the signature of controller-runtime's manager.New and takes its options; it stands for
// controller-runtime's controllerManager.
//
//	mgr, err := manager.New(cfg, manager.Options{Scheme: scheme})
//	err = mgr.Add(runnable)      // before, during or after Start
//	err = mgr.Start(ctx)         // blocks until ctx ends or a runnable fails
//
// Runnables live in six groups. They start in this order, each group when the one before it is ready,
//
//	HTTPServers → Webhooks → Caches (until they are synced) → Others → Warmup → LeaderElection (once elected)
//
// because a probe must answer while caches fill, a cache may need a conversion webhook to list its kind,
// and a controller needs its caches. They stop in the order
//
//	Others → LeaderElection → Caches → Webhooks → HTTPServers, with Warmup beside them
//
// and only then is the lease given back, so that the next leader never meets the work of the old one.
//
// What you owe it: call Start once; end the process soon after Start has returned, because a lost lease
// and an expired grace period leave runnables behind.
//
// The files in reading order: manager.go (New), start.go, runnables.go (which group), runnable_group.go
// (one group), leader_election.go, stop.go, await.go (no silent waiting), servers.go.
package manager
