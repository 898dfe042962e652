package cluster_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/cluster"
)

type newCluster func(*rest.Config, ...cluster.Option) (cluster.Cluster, error)

// onBoth runs a test on our cluster and on controller-runtime's.
func onBoth(t *testing.T, test func(*testing.T, newCluster)) {
	t.Run("ours", func(t *testing.T) { test(t, ours.New) })
	t.Run("upstream", func(t *testing.T) { test(t, cluster.New) })
}

// offline is an option for a cluster that never meets an API server.
func offline(o *cluster.Options) {
	o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
		return meta.NewDefaultRESTMapper([]schema.GroupVersion{}), nil
	}
	o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return &informertest.FakeInformers{}, nil }
}

// start runs the cluster until the test ends and waits for its cache.
func start(t *testing.T, c cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		c.GetHTTPClient().CloseIdleConnections()
	})
	require.True(t, c.GetCache().WaitForCacheSync(t.Context()))
}

// otherCA is a certificate authority that signed nothing.
func otherCA(t *testing.T) []byte {
	t.Helper()
	cert, _, err := certutil.GenerateSelfSignedCertKey("other", nil, nil)
	require.NoError(t, err)
	return cert
}
