package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	crelection "sigs.k8s.io/controller-runtime/pkg/leaderelection"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/recorder"
)

// errLeaderElectionLost ends the manager: another one may already be at work.
var errLeaderElectionLost = errors.New("leader election lost")

// election is the manager's bid for the lease; the protocol is client-go's.
type election struct {
	elector  *leaderelection.LeaderElector
	recorder *recorder.Provider
	logger   logr.Logger
	lock     resourcelock.Interface

	// lost ends when the lease is no longer held; lose ends it. client-go says so after a clean stop as
	// well, but that comes when all groups have stopped, and nobody minds any more.
	lost context.Context
	lose context.CancelFunc
	// ended is closed when the elector has returned, after it gave the lease back.
	ended chan struct{}

	// ctx ends when the manager steps down of its own will. start sets both before the elector runs.
	ctx    context.Context
	cancel context.CancelFunc
}

// newElection checks the settings, so that bad ones are an error of New. onElected runs when the lease
// is won.
func newElection(o manager.Options, config *rest.Config, onElected func()) (*election, error) {
	e := &election{logger: o.Logger, ended: make(chan struct{})}
	e.lost, e.lose = context.WithCancel(context.Background())
	var err error
	if e.lock, err = e.newLock(o, config); err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	e.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            e.lock,
		LeaseDuration:   *o.LeaseDuration,
		RenewDeadline:   *o.RenewDeadline,
		RetryPeriod:     *o.RetryPeriod,
		ReleaseOnCancel: o.LeaderElectionReleaseOnCancel,
		Name:            o.LeaderElectionID,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { onElected() },
			OnStoppedLeading: e.lose,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("leader election: LeaseDuration %s, RenewDeadline %s, RetryPeriod %s: %w",
			*o.LeaseDuration, *o.RenewDeadline, *o.RetryPeriod, err)
	}
	return e, nil
}

func (e *election) newLock(o manager.Options, config *rest.Config) (resourcelock.Interface, error) {
	if o.LeaderElectionResourceLockInterface != nil {
		return o.LeaderElectionResourceLockInterface, nil
	}
	if o.LeaderElectionConfig != nil {
		config = rest.CopyConfig(o.LeaderElectionConfig)
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	// The events are about Leases, which the user's scheme need not know. The recorder can't be the
	// cluster's: that one stops with the caches, before the lease is given back.
	//nolint:staticcheck // deprecated, and still an option that users have
	e.recorder, err = recorder.New(config, httpClient, scheme.Scheme, o.Logger.WithName("events"), o.EventBroadcaster)
	if err != nil {
		return nil, err
	}
	return crelection.NewResourceLock(config, e.recorder, crelection.Options{
		LeaderElection:             true,
		LeaderElectionResourceLock: o.LeaderElectionResourceLock,
		LeaderElectionID:           o.LeaderElectionID,
		LeaderElectionNamespace:    o.LeaderElectionNamespace,
		RenewDeadline:              *o.RenewDeadline,
		LeaderLabels:               o.LeaderElectionLabels,
	})
}

// start bids for the lease until stop. The context gives values only: a lease that ends with it would be
// given back while the runnables still work.
func (e *election) start(values context.Context, elected <-chan struct{}) {
	ctx := logr.NewContext(context.WithoutCancel(values), e.logger.WithName("leaderelection"))
	e.ctx, e.cancel = context.WithCancel(ctx)
	go func() {
		defer close(e.ended)
		e.elector.Run(e.ctx)
	}()
	go func() {
		_ = await(e.ctx, elected, func() {
			e.logger.Info("Still waiting to become the leader", "lease", e.lock.Describe(), "leader", e.elector.GetLeader())
		})
	}()
}

// stop steps down and waits until the lease is given back. The same goroutine calls start, if it gets
// that far, and stop.
func (e *election) stop() {
	if e.cancel != nil {
		e.cancel()
		<-e.ended
	}
	if e.recorder != nil {
		e.recorder.Stop()
	}
}

// leaseDefaults are those of Kubernetes' own components.
func leaseDefaults(o *manager.Options) {
	setDefault(&o.LeaseDuration, 15*time.Second)
	setDefault(&o.RenewDeadline, 10*time.Second)
	setDefault(&o.RetryPeriod, 2*time.Second)
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
