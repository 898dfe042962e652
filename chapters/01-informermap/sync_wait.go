package informermap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// reportEvery is how often a wait says what it waits for.
const reportEvery = 10 * time.Second

var (
	errStopped = errors.New("the cache was stopped")
	errRemoved = errors.New("the informer was removed with RemoveInformer")
)

// waitForStarted blocks until Start was called or ctx ends.
func (ip *specificInformersMap) waitForStarted(ctx context.Context) bool {
	report := time.NewTicker(reportEvery)
	defer report.Stop()
	for {
		select {
		case <-ip.startWait:
			return true
		case <-ctx.Done():
			return false
		case <-report.C:
			log.FromContext(ctx).WithName("cache").Info("Still waiting for the cache to be started: call Start, or add the cache to a manager")
		}
	}
}

// waitForAll blocks until every informer has synced, also those that are added
// meanwhile. The map must be started.
func (ip *specificInformersMap) waitForAll(ctx context.Context) bool {
	for {
		var waiting []*MapEntry
		ip.mu.RLock()
		for _, i := range ip.informersByGVK {
			if !toolscache.IsDone(i.Informer.HasSyncedChecker()) {
				waiting = append(waiting, i)
			}
		}
		ip.mu.RUnlock()
		if len(waiting) == 0 {
			return true
		}
		if err := ip.waitForSync(ctx, waiting...); err != nil && !errors.Is(err, errRemoved) {
			return false
		}
	}
}

// waitForSync blocks until all entries have synced, and says every ten seconds
// which have not, and why. It listens on the channels that informers close, so
// there is no polling and nothing that could be missed. The map must be started.
func (ip *specificInformersMap) waitForSync(ctx context.Context, entries ...*MapEntry) error {
	report := time.NewTicker(reportEvery)
	defer report.Stop()
	for n, i := range entries {
		synced := i.Informer.HasSyncedChecker().Done()
		for !toolscache.IsDone(i.Informer.HasSyncedChecker()) {
			select {
			case <-synced:
			case <-ip.ctx.Done():
				return fmt.Errorf("waiting for %s: %w", i.gvk, errStopped)
			case <-i.gone:
				if ip.ctx.Err() != nil {
					return fmt.Errorf("waiting for %s: %w", i.gvk, errStopped)
				}
				return fmt.Errorf("waiting for %s: %w", i.gvk, errRemoved)
			case <-ctx.Done():
				return timeout(ctx, i)
			case <-report.C:
				log.FromContext(ctx).WithName("cache").Info("Still waiting for informers to sync", "waitingFor", describe(entries[n:]))
			}
		}
	}
	return nil
}

// timeout is an error that apierrors.IsTimeout knows, as upstream's, and that
// also says what the API server had answered.
func timeout(ctx context.Context, i *MapEntry) error {
	err := fmt.Errorf("%w: %w", apierrors.NewTimeoutError(fmt.Sprintf("failed waiting for the informer of %s to sync", i.gvk), 0), ctx.Err())
	if last := *i.lastErr.Load(); last != nil {
		err = fmt.Errorf("%w: last error: %w", err, last)
	}
	return err
}

func describe(entries []*MapEntry) string {
	var waiting []string
	for _, i := range entries {
		if toolscache.IsDone(i.Informer.HasSyncedChecker()) {
			continue
		}
		why := "no answer yet"
		if last := *i.lastErr.Load(); last != nil {
			why = last.Error()
		}
		waiting = append(waiting, fmt.Sprintf("%s (%s)", i.gvk, why))
	}
	return strings.Join(waiting, "; ")
}
