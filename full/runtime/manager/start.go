package manager

import (
	"context"
	"errors"
)

// Start runs the groups one after the other, then waits until ctx ends, which is no error, or a runnable
// fails. It returns when everything has stopped or the grace period is over.
func (m *controllerManager) Start(ctx context.Context) error {
	m.mu.Lock()
	again := m.started
	m.started = true
	m.mu.Unlock()
	if again {
		return errors.New("manager already started: Start was called a second time; a manager runs once, make a new one")
	}

	defer context.AfterFunc(ctx, func() { m.endWith(context.Canceled) })()
	if m.election != nil {
		defer context.AfterFunc(m.election.lost, func() { m.endWith(errLeaderElectionLost) })()
	}

	err := m.startGroups(ctx)
	if err == nil {
		<-m.ending.Done()
		err = context.Cause(m.ending)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	stopErr := m.stop(err)
	switch {
	case stopErr == nil:
		return err
	case err == nil:
		return stopErr
	default:
		return errors.Join(err, stopErr)
	}
}

// startGroups returns when everything runs that may run before the lease is won. ctx gives values only.
func (m *controllerManager) startGroups(ctx context.Context) error {
	if err := m.groups.Add(m.Cluster); err != nil {
		return err
	}
	if err := m.addHTTPServers(ctx); err != nil {
		return err
	}
	for _, g := range []*runnableGroup{
		// Probes first: a kubelet that gets no answer while the caches fill kills the pod.
		m.groups.httpServers,
		// Webhooks before caches: listing a kind may need our own conversion webhook.
		m.groups.webhooks,
		m.groups.caches,
		m.groups.others,
		m.groups.warmup,
	} {
		if err := g.Start(m.ending); err != nil {
			return err
		}
	}
	if m.election == nil {
		m.onElected()
		return nil
	}
	m.election.start(ctx, m.elected)
	return nil
}

// onElected starts what only the leader may do. It does nothing when the manager stops already: an
// election that is won late must not begin what was just ended.
func (m *controllerManager) onElected() {
	if m.ending.Err() != nil {
		return
	}
	if err := m.groups.leaderElection.Start(m.ending); err == nil {
		close(m.elected)
	}
}

// endWith makes the manager stop, and says whether cause is the reason or something came before it.
func (m *controllerManager) endWith(cause error) (first bool) {
	m.endOnce.Do(func() {
		first = true
		m.end(cause)
	})
	return first
}

// runnableFailed ends the manager with the first error; later ones are only logged, because by then
// everything is being stopped.
func (m *controllerManager) runnableFailed(err error) {
	if !m.endWith(err) && !errors.Is(err, context.Canceled) {
		m.logger.Error(err, "A runnable failed while the manager was stopping")
	}
}
