package manager_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/manager"
)

func TestNewRefuses(t *testing.T) {
	broken := errors.New("broken")
	tests := map[string]struct {
		options manager.Options
		want    string
	}{
		"one address for two servers": {
			offline(func(o *manager.Options) { o.HealthProbeBindAddress, o.Metrics.BindAddress = ":8080", ":8080" }),
			`options Metrics.BindAddress and HealthProbeBindAddress are both ":8080"; give each its own port`,
		},
		"the default address of the metrics": {
			offline(func(o *manager.Options) { o.PprofBindAddress, o.Metrics.BindAddress = ":8080", "" }),
			`options Metrics.BindAddress and PprofBindAddress are both ":8080"`,
		},
		"leader election without an ID": {
			offline(func(o *manager.Options) { o.LeaderElection, o.LeaderElectionNamespace = true, "default" }),
			"leader election: LeaderElectionID must be configured",
		},
		"leader election without a namespace": {
			offline(func(o *manager.Options) { o.LeaderElection, o.LeaderElectionID = true, "id" }),
			"please specify LeaderElectionNamespace",
		},
		"mapper fails": {
			offline(func(o *manager.Options) {
				o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return nil, broken }
			}), "broken",
		},
		"cache fails": {
			offline(func(o *manager.Options) {
				o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return nil, broken }
			}), "broken",
		},
		"client fails": {
			offline(func(o *manager.Options) {
				o.NewClient = func(*rest.Config, client.Options) (client.Client, error) { return nil, broken }
			}), "broken",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ours.New(&rest.Config{}, tc.options)
			assert.ErrorContains(t, err, tc.want)
		})
	}
	t.Run("no config", func(t *testing.T) {
		onBoth(t, func(t *testing.T, n newManager) {
			_, err := n(nil, manager.Options{})
			assert.ErrorContains(t, err, "must specify Config")
		})
	})
}

func TestNilIsRefusedWhereItComesIn(t *testing.T) {
	mgr := make1(t, ours.New, offline())
	assert.ErrorContains(t, mgr.Add(nil), "the runnable is nil")
	assert.ErrorContains(t, mgr.AddHealthzCheck("ping", nil), "healthz check ping is nil")
	assert.ErrorContains(t, mgr.AddReadyzCheck("ping", nil), "readyz check ping is nil")
	assert.ErrorContains(t, mgr.AddMetricsServerExtraHandler("/extra", nil), "metrics handler /extra is nil")
}

func TestDefaults(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		j := &journal{}
		mgr := make1(t, n, offline(func(o *manager.Options) { o.Logger = j.logger() }))
		mgr.GetControllerOptions().Logger.Info("hello")
		require.NotEqual(t, -1, j.index("hello"), "controllers log where the manager logs")
		assert.Equal(t, mgr.GetLogger(), mgr.GetControllerOptions().Logger)
		assert.NotNil(t, mgr.GetClient())
		assert.NotNil(t, mgr.GetAPIReader())
		assert.NotNil(t, mgr.GetCache())
		assert.NotNil(t, mgr.GetFieldIndexer())
		assert.NotNil(t, mgr.GetRESTMapper())
		assert.NotNil(t, mgr.GetScheme())
		assert.NotNil(t, mgr.GetHTTPClient())
		assert.Equal(t, "http://unused.invalid", mgr.GetConfig().Host)
		assert.Empty(t, mgr.GetConfig().UserAgent, "the caller's config is not touched")
	})
}
