package informer

import (
	"context"
	"time"

	"k8s.io/klog/v2"
)

// await waits for done and says every ten seconds what it waits for. It reports
// false if ctx ended first.
func await(ctx context.Context, what string, done <-chan struct{}) bool {
	start := time.Now()
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return true
		case <-ctx.Done():
			return false
		case <-ticker.C:
			klog.FromContext(ctx).Info("Still waiting", "for", what, "since", time.Since(start).Round(time.Second))
		}
	}
}
