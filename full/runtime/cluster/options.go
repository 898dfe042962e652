package cluster

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// withUserAgent copies the config, because callers go on using theirs.
func withUserAgent(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	return config
}

func setDefaults(o *cluster.Options, config *rest.Config) error {
	if o.HTTPClient == nil {
		httpClient, err := rest.HTTPClientFor(config)
		if err != nil {
			return err
		}
		o.HTTPClient = httpClient
	}
	if o.Scheme == nil {
		o.Scheme = scheme.Scheme
	}
	if o.MapperProvider == nil {
		o.MapperProvider = mapperOfReachableServer
	}
	if o.NewCache == nil {
		o.NewCache = NewCache
	}
	if o.NewClient == nil {
		o.NewClient = client.New
	}
	if o.Logger.GetSink() == nil {
		o.Logger = log.Log.WithName("cluster")
	}
	return nil
}

func mapperOfReachableServer(config *rest.Config, httpClient *http.Client) (meta.RESTMapper, error) {
	// The dynamic mapper asks nothing until it is used.
	if err := reach(config, httpClient); err != nil {
		return nil, err
	}
	return apiutil.NewDynamicRESTMapper(config, httpClient)
}

// cacheOptions lets the cache share what the cluster has already made.
func cacheOptions(o cluster.Options, mapper meta.RESTMapper) cache.Options {
	c := o.Cache
	if c.Scheme == nil {
		c.Scheme = o.Scheme
	}
	if c.Mapper == nil {
		c.Mapper = mapper
	}
	if c.HTTPClient == nil {
		c.HTTPClient = o.HTTPClient
	}
	return c
}

// clientOptions makes the client read from the cache unless the caller gave it another reader.
func clientOptions(o cluster.Options, mapper meta.RESTMapper, reader client.Reader) client.Options {
	c := o.Client
	if c.Scheme == nil {
		c.Scheme = o.Scheme
	}
	if c.Mapper == nil {
		c.Mapper = mapper
	}
	if c.HTTPClient == nil {
		c.HTTPClient = o.HTTPClient
	}
	cached := client.CacheOptions{}
	if c.Cache != nil {
		// A copy: one Options value may make several clusters, each with its own cache.
		cached = *c.Cache
	}
	if cached.Reader == nil {
		cached.Reader = reader
	}
	c.Cache = &cached
	return c
}
