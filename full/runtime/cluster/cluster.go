package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	crrecorder "sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/recorder"
)

// one is the only implementation of controller-runtime's Cluster here; it stands for the unexported
// struct of controller-runtime's package cluster. It is immutable after New, but for started: whatever
// has a lock is inside its parts.
type one struct {
	config     *rest.Config
	httpClient *http.Client
	scheme     *runtime.Scheme
	mapper     meta.RESTMapper
	logger     logr.Logger

	cache     cache.Cache
	client    client.Client
	apiReader client.Reader
	recorder  *recorder.Provider
	started   atomic.Bool
}

var _ cluster.Cluster = (*one)(nil)

// New makes a cluster of its parts; nothing runs before Start. With the default MapperProvider it asks
// the API server for its version first, so that a wrong address or a refused certificate is an error
// here and not an endless retry later.
func New(config *rest.Config, opts ...cluster.Option) (cluster.Cluster, error) {
	if config == nil {
		return nil, errors.New("cluster: must specify Config: the *rest.Config is nil; make one with ctrl.GetConfig()")
	}
	given := config
	config = withUserAgent(config)

	options := cluster.Options{}
	for _, opt := range opts {
		opt(&options)
	}
	if err := setDefaults(&options, config); err != nil {
		return nil, fmt.Errorf("cluster: defaults of the options: %w", err)
	}

	mapper, err := options.MapperProvider(config, options.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("cluster: REST mapper: %w", err)
	}
	cacheOptions := cacheOptions(options, mapper)
	cache, err := options.NewCache(config, cacheOptions)
	if err != nil {
		return nil, fmt.Errorf("cluster: cache: %w", err)
	}
	if err := checkReadYourWrites(options.Client, cacheOptions, cache); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	cl, err := options.NewClient(config, clientOptions(options, mapper, cache))
	if err != nil {
		return nil, fmt.Errorf("cluster: client: %w", err)
	}
	apiReader, err := client.New(config, client.Options{HTTPClient: options.HTTPClient, Scheme: options.Scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("cluster: API reader: %w", err)
	}
	//nolint:staticcheck // deprecated, and still an option that users have
	events, err := recorder.New(config, options.HTTPClient, options.Scheme, options.Logger.WithName("events"), options.EventBroadcaster)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}

	return &one{
		config:     given,
		httpClient: options.HTTPClient,
		scheme:     options.Scheme,
		mapper:     mapper,
		logger:     options.Logger,
		cache:      cache,
		client:     cl,
		apiReader:  apiReader,
		recorder:   events,
	}, nil
}

// Start runs the cache until ctx ends. The recorder stops after the cache, because what the cache calls
// may still emit events.
func (c *one) Start(ctx context.Context) error {
	if c.started.Swap(true) {
		return fmt.Errorf("%s already started: Start was called a second time; a cluster runs once, make a new one", c)
	}
	defer c.recorder.Stop()
	return c.cache.Start(ctx)
}

// String names the cluster where a manager says what it waits for.
func (c *one) String() string { return "cluster " + c.config.Host }

func (c *one) GetConfig() *rest.Config              { return c.config }
func (c *one) GetHTTPClient() *http.Client          { return c.httpClient }
func (c *one) GetScheme() *runtime.Scheme           { return c.scheme }
func (c *one) GetRESTMapper() meta.RESTMapper       { return c.mapper }
func (c *one) GetLogger() logr.Logger               { return c.logger }
func (c *one) GetCache() cache.Cache                { return c.cache }
func (c *one) GetFieldIndexer() client.FieldIndexer { return c.cache }
func (c *one) GetClient() client.Client             { return c.client }
func (c *one) GetAPIReader() client.Reader          { return c.apiReader }

// GetEventRecorderFor returns a recorder of the deprecated core/v1 event API.
func (c *one) GetEventRecorderFor(name string) record.EventRecorder {
	return c.recorder.GetEventRecorderFor(name)
}

// GetEventRecorder returns a recorder of the events.k8s.io/v1 API.
func (c *one) GetEventRecorder(name string) crrecorder.EventRecorder {
	return c.recorder.GetEventRecorder(name)
}
