package cluster_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/cluster"
)

func TestDefaults(t *testing.T) {
	onBoth(t, func(t *testing.T, n newCluster) {
		cfg := &rest.Config{Host: "http://unused.invalid"}
		c, err := n(cfg, offline)
		require.NoError(t, err)
		assert.Same(t, cfg, c.GetConfig(), "callers get their own config back")
		assert.Empty(t, cfg.UserAgent, "and it is not touched")
		assert.Same(t, scheme.Scheme, c.GetScheme())
		assert.NotNil(t, c.GetHTTPClient())
		assert.NotNil(t, c.GetRESTMapper())
		assert.NotNil(t, c.GetAPIReader())
		assert.NotNil(t, c.GetEventRecorder("name"))
		assert.NotNil(t, c.GetEventRecorderFor("name"))
		assert.Equal(t, c.GetCache(), c.GetFieldIndexer(), "indexes belong to the cache")
	})
}

// The options of a cluster become those of its cache and its client, unless these have their own.
func TestOptionsReachCacheAndClient(t *testing.T) {
	onBoth(t, func(t *testing.T, n newCluster) {
		ownScheme, httpClient := runtime.NewScheme(), &http.Client{}
		var mapper meta.RESTMapper
		var gotCache cache.Options
		var gotClient client.Options
		var gotConfig *rest.Config
		keep := func(o *cluster.Options) {
			o.Scheme, o.HTTPClient = ownScheme, httpClient
			o.Cache.SyncPeriod = ptr.To(time.Minute)
			o.Client.DryRun = ptr.To(true)
			o.Client.Cache = &client.CacheOptions{Unstructured: true}
			fake := o.NewCache
			o.NewCache = func(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
				gotConfig, gotCache = cfg, o
				return fake(cfg, o)
			}
			provider := o.MapperProvider
			o.MapperProvider = func(cfg *rest.Config, h *http.Client) (meta.RESTMapper, error) {
				assert.Same(t, httpClient, h)
				var err error
				mapper, err = provider(cfg, h)
				return mapper, err
			}
			o.NewClient = func(cfg *rest.Config, o client.Options) (client.Client, error) {
				gotClient = o
				return client.New(cfg, o)
			}
		}
		c, err := n(&rest.Config{Host: "http://unused.invalid"}, offline, keep)
		require.NoError(t, err)
		assert.NotEmpty(t, gotConfig.UserAgent)
		assert.Same(t, ownScheme, gotCache.Scheme)
		assert.Same(t, httpClient, gotCache.HTTPClient)
		assert.Equal(t, mapper, gotCache.Mapper)
		assert.Equal(t, time.Minute, *gotCache.SyncPeriod)
		assert.Same(t, ownScheme, gotClient.Scheme)
		assert.Same(t, httpClient, gotClient.HTTPClient)
		assert.Equal(t, mapper, gotClient.Mapper)
		assert.True(t, *gotClient.DryRun)
		assert.Same(t, c.GetCache(), gotClient.Cache.Reader, "reads come from the cache")
		assert.True(t, gotClient.Cache.Unstructured)

		otherScheme, other, reader := runtime.NewScheme(), &http.Client{}, &informertest.FakeInformers{}
		_, err = n(&rest.Config{Host: "http://unused.invalid"}, offline, keep, func(o *cluster.Options) {
			o.Cache.Scheme, o.Client.Scheme = otherScheme, otherScheme
			o.Cache.HTTPClient, o.Client.HTTPClient = other, other
			o.Client.Cache.Reader = reader
		})
		require.NoError(t, err)
		assert.Same(t, otherScheme, gotCache.Scheme)
		assert.Same(t, otherScheme, gotClient.Scheme)
		assert.Same(t, other, gotCache.HTTPClient)
		assert.Same(t, other, gotClient.HTTPClient)
		assert.Same(t, reader, gotClient.Cache.Reader)
	})
}

// Upstream writes its cache into the caller's CacheOptions, so that a second cluster made of the same
// options reads from the first one's cache.
func TestOptionsAreNotWrittenTo(t *testing.T) {
	shared := &client.CacheOptions{}
	for range 2 {
		_, err := ours.New(&rest.Config{Host: "http://unused.invalid"}, offline, func(o *cluster.Options) { o.Client.Cache = shared })
		require.NoError(t, err)
	}
	assert.Nil(t, shared.Reader)
}

// Upstream's second Start stops the recorder of the first.
func TestSecondStart(t *testing.T) {
	running := &runningCache{started: make(chan struct{})}
	c, err := ours.New(&rest.Config{Host: "http://unused.invalid"}, offline, func(o *cluster.Options) {
		o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return running, nil }
	})
	require.NoError(t, err)
	start(t, c)
	<-running.started // a second run would close it again, and panic
	err = c.Start(t.Context())
	assert.EqualError(t, err, "cluster http://unused.invalid already started: Start was called a second time; a cluster runs once, make a new one")
}

// runningCache runs until it is told to stop.
type runningCache struct {
	informertest.FakeInformers
	started chan struct{}
}

func (c *runningCache) Start(ctx context.Context) error {
	close(c.started)
	<-ctx.Done()
	return nil
}

func TestNewRefuses(t *testing.T) {
	broken := errors.New("broken")
	for name, change := range map[string]cluster.Option{
		"mapper": func(o *cluster.Options) {
			o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return nil, broken }
		},
		"cache": func(o *cluster.Options) {
			o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return nil, broken }
		},
		"client": func(o *cluster.Options) {
			o.NewClient = func(*rest.Config, client.Options) (client.Client, error) { return nil, broken }
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, n newCluster) {
				_, err := n(&rest.Config{}, offline, change)
				assert.ErrorIs(t, err, broken)
			})
			_, err := ours.New(&rest.Config{}, offline, change)
			assert.ErrorContains(t, err, name, "the error says which part")
		})
	}
	t.Run("config", func(t *testing.T) {
		onBoth(t, func(t *testing.T, n newCluster) {
			_, err := n(nil)
			assert.ErrorContains(t, err, "must specify Config")
		})
	})
	t.Run("unreadable certificate file", func(t *testing.T) {
		_, err := ours.New(&rest.Config{Host: "https://unused.invalid", TLSClientConfig: rest.TLSClientConfig{CAFile: "/no/such/file"}})
		assert.ErrorContains(t, err, "/no/such/file")
	})
}

func TestReadYourWritesIsRefused(t *testing.T) {
	enabled := func(o *cluster.Options) {
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}
	}
	inOrder := func(o *cluster.Options) { o.NewCache = ours.InOrder(o.NewCache) }
	tests := map[string]struct {
		options []cluster.Option
		want    string
	}{
		"over DeltaFIFO": {[]cluster.Option{offline, enabled},
			"EnableReadYourWritesConsistency needs a queue that keeps the order of the watch"},
		"over an in-order queue": {[]cluster.Option{offline, inOrder, enabled}, ""},
		"switched off": {[]cluster.Option{offline, func(o *cluster.Options) {
			o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(false)}
		}}, ""},
		"many default namespaces": {[]cluster.Option{offline, inOrder, enabled, func(o *cluster.Options) {
			o.Cache.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}}
		}}, "exclude each other (Cache.DefaultNamespaces)"},
		"one default namespace": {[]cluster.Option{offline, inOrder, enabled, func(o *cluster.Options) {
			o.Cache.DefaultNamespaces = map[string]cache.Config{"a": {}}
		}}, ""},
		"many namespaces of one kind": {[]cluster.Option{offline, inOrder, enabled, func(o *cluster.Options) {
			o.Cache.ByObject = map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: map[string]cache.Config{"a": {}, "b": {}}}}
		}}, "exclude each other (Cache.ByObject of *v1.Pod)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ours.New(&rest.Config{}, tc.options...)
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
	t.Run("the default cache stands on DeltaFIFO", func(t *testing.T) {
		_, err := ours.New(&rest.Config{}, offline, enabled, func(o *cluster.Options) { o.NewCache = nil })
		assert.ErrorContains(t, err, "DeltaFIFO")
	})
	t.Run("a cache that fails is not marked", func(t *testing.T) {
		broken := errors.New("broken")
		_, err := ours.InOrder(func(*rest.Config, cache.Options) (cache.Cache, error) { return nil, broken })(nil, cache.Options{})
		assert.ErrorIs(t, err, broken)
	})
}
