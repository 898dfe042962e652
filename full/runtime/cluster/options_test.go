package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/cluster"
)

// The mark must not hide what a manager asks a cache: one that needs leadership is empty on every replica
// that does not lead.
func TestInOrderKeepsNeedLeaderElection(t *testing.T) {
	for name, tc := range map[string]struct {
		cache cache.Cache
		want  bool
	}{
		"needs none":   {replicated{leaderOnly: false}, false},
		"needs it":     {replicated{leaderOnly: true}, true},
		"does not say": {&informertest.FakeInformers{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ours.InOrder(func(*rest.Config, cache.Options) (cache.Cache, error) { return tc.cache, nil })(nil, cache.Options{})
			require.NoError(t, err)
			asked, ok := c.(interface{ NeedLeaderElection() bool })
			require.True(t, ok)
			assert.Equal(t, tc.want, asked.NeedLeaderElection())
		})
	}
}

type replicated struct {
	cache.Cache
	leaderOnly bool
}

func (r replicated) NeedLeaderElection() bool { return r.leaderOnly }

// Events go to the caller's broadcaster. (Upstream's cluster does the same, but only its manager stops
// what that started.)
func TestEventBroadcasterOption(t *testing.T) {
	shared := record.NewBroadcaster()
	defer shared.Shutdown()
	got := make(chan *corev1.Event, 10)
	defer shared.StartEventWatcher(func(e *corev1.Event) { got <- e }).Stop()
	running := &runningCache{started: make(chan struct{})} // a cluster whose cache has ended drops events
	c, err := ours.New(&rest.Config{Host: "http://unused.invalid"}, offline, func(o *cluster.Options) {
		o.EventBroadcaster = shared //nolint:staticcheck // deprecated, and still an option
		o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return running, nil }
	})
	require.NoError(t, err)
	start(t, c)
	<-running.started
	c.GetEventRecorderFor("me").Event(&corev1.Pod{}, corev1.EventTypeNormal, "Reason", "message") //nolint:staticcheck // deprecated
	select {
	case e := <-got:
		assert.Equal(t, []string{"me", "Reason", "message"}, []string{e.Source.Component, e.Reason, e.Message})
	case <-time.After(patience):
		t.Fatal("the event did not come to the caller's broadcaster")
	}
}
