package informermap

import (
	"math/rand/v2"
	"time"
)

// resyncPeriod is resync with up to ten percent taken off or put on, so that the
// informers of a process do not all resync in the same moment.
//
// It stands for controller-runtime's resyncPeriod, today calculateResyncPeriod.
func resyncPeriod(resync time.Duration) time.Duration {
	return time.Duration(float64(resync) * (0.9 + 0.2*rand.Float64()))
}
