package manager

import (
	"context"
	"errors"
	"fmt"
)

// stop stops the groups in their order and then gives the lease back. After a lost lease nothing is
// waited for: another manager may be at work already.
func (m *controllerManager) stop(reason error) error {
	grace := *m.options.GracefulShutdownTimeout
	if errors.Is(reason, errLeaderElectionLost) {
		grace = 0
	}
	ctx, giveUp := context.WithCancelCause(context.Background())
	defer giveUp(nil)
	if grace >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, grace)
		defer cancel()
	}
	if m.election != nil {
		// The lease can still be lost while the leader's runnables finish.
		defer context.AfterFunc(m.election.lost, func() { giveUp(errLeaderElectionLost) })()
	}

	err := m.stopGroups(ctx)
	if m.election != nil {
		m.election.stop()
	}
	switch {
	case err == nil || grace == 0:
		return nil
	case errors.Is(err, errLeaderElectionLost):
		return fmt.Errorf("while stopping: %w", err)
	default:
		return fmt.Errorf("failed waiting for all runnables to end within grace period of %s: %w", grace, err)
	}
}

// stopGroups cancels every group, also when those before it have not ended in time.
func (m *controllerManager) stopGroups(ctx context.Context) error {
	warmup := make(chan error, 1)
	go func() {
		// Beside the others: a warm-up and the controller that it belongs to may wait for each other.
		warmup <- m.groups.warmup.Stop(ctx)
	}()
	var errs []error
	for _, g := range []*runnableGroup{
		m.groups.others,
		m.groups.leaderElection,
		// Caches after those who read them: a reconcile that still runs shall find its objects.
		m.groups.caches,
		// Servers last: they may still serve the requests of those before.
		m.groups.webhooks,
		m.groups.httpServers,
	} {
		m.logger.V(1).Info("Stopping runnables", "group", g.name)
		errs = append(errs, g.Stop(ctx))
	}
	return errors.Join(append(errs, <-warmup)...)
}
