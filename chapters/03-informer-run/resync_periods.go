package informer

import (
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// minimumResyncPeriod is the least that a handler can have.
const minimumResyncPeriod = time.Second

// resyncPeriods settles how often whom to resync. A handler's period is rounded
// up to the next check, so the check has to be as short as the shortest period
// that was asked for before the start.
type resyncPeriods struct {
	// fallback is the period of a handler that asks for none in particular.
	fallback time.Duration
	// check is how often it is considered whose period is over. Zero: this
	// informer does not resync.
	check time.Duration
}

// grant returns the period that a handler gets: zero for no resyncs, else at
// least the minimum and the check period. Before the start a shorter wish makes
// the check period shorter.
func (r *resyncPeriods) grant(logger klog.Logger, wish *time.Duration, started bool) time.Duration {
	period := ptr.Deref(wish, r.fallback)
	if period <= 0 {
		return 0
	}
	if r.check == 0 {
		logger.Info("Warning: no resyncs for this handler, because its informer has none; give the informer a resync period", "resyncPeriod", period)
		return 0
	}
	if period < minimumResyncPeriod {
		logger.Info("Warning: resync period is below the minimum; using the minimum", "resyncPeriod", period, "minimum", minimumResyncPeriod)
		period = minimumResyncPeriod
	}
	if period < r.check && !started {
		r.check = period
	}
	if period < r.check {
		logger.Info("Warning: resync period is below the informer's check period, which can't change after the start; using the check period", "resyncPeriod", period, "checkPeriod", r.check)
		period = r.check
	}
	return period
}
