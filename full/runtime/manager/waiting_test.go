package manager_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/manager"
)

// Nothing hangs without saying every ten seconds what it waits for.
func TestSaysWhatItWaitsFor(t *testing.T) {
	// said is how often the line came in a minute of waiting.
	said := func(j *journal, parts ...string) int {
		n := 0
		for _, line := range j.all() {
			all := true
			for _, p := range parts {
				all = all && strings.Contains(line, p)
			}
			if all {
				n++
			}
		}
		return n
	}
	loud := func(j *journal) func(*manager.Options) {
		return func(o *manager.Options) { o.Logger = j.logger() }
	}

	t.Run("a cache that does not sync", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{}
			mgr := make1(t, ours.New, offline(loud(j), withCache(&fakeCache{synced: make(chan struct{})})))
			r := start(t, mgr)
			time.Sleep(61 * time.Second)
			assert.Equal(t, 6, said(j, "Still waiting for runnables to be ready", `"group"="Caches"`, `"runnables"=["cluster http://unused.invalid"]`))
			require.NoError(t, r.stop())
		})
	})
	t.Run("a runnable that does not stop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			j, grace := &journal{}, time.Hour
			mgr := make1(t, ours.New, offline(loud(j), func(o *manager.Options) { o.GracefulShutdownTimeout = &grace }))
			require.NoError(t, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				<-ctx.Done()
				time.Sleep(61 * time.Second)
				return nil
			})))
			r := start(t, mgr)
			<-mgr.Elected()
			require.NoError(t, r.stop())
			assert.Equal(t, 6, said(j, "Still waiting for runnables to stop", `"group"="LeaderElection"`, `"runnables"=["manager.RunnableFunc"]`))
		})
	})
	t.Run("a lease that another one holds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{}
			mgr := make1(t, ours.New, offline(loud(j), withLock(heldByOther())))
			r := start(t, mgr)
			time.Sleep(61 * time.Second)
			assert.Equal(t, 6, said(j, "Still waiting to become the leader", `"lease"="fake/lease"`, `"leader"="other"`))
			require.NoError(t, r.stop())
		})
	})
	t.Run("silent once nothing is waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{}
			mgr := make1(t, ours.New, offline(loud(j), withLock(&fakeLock{})))
			r := start(t, mgr)
			time.Sleep(time.Hour)
			assert.Zero(t, said(j, "Still waiting"))
			require.NoError(t, r.stop())
		})
	})
}
