package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	ourcluster "github.com/informer-walkthrough/informer-walkthrough/full/runtime/cluster"
)

// controllerManager runs the groups of runnables over one cluster; it stands for controller-runtime's
// controllerManager. It is a Cluster too: it lends its own.
type controllerManager struct {
	cluster.Cluster

	logger     logr.Logger
	options    manager.Options
	groups     *runnables
	converters conversion.Registry
	// election is nil without leader election.
	election *election
	// elected is closed once the leader's runnables run.
	elected chan struct{}
	// ending ends when the manager has to stop; its cause says why: the first error of a runnable, the
	// lost lease, or context.Canceled.
	ending  context.Context
	end     context.CancelCauseFunc
	endOnce sync.Once

	metrics metricsserver.Server // nil when off
	health  net.Listener         // nil when off
	pprof   net.Listener         // nil when off

	webhookOnce sync.Once

	// mu guards what may be called until Start.
	mu      sync.Mutex
	started bool
	healthz healthz.Handler
	readyz  healthz.Handler
}

var _ manager.Manager = (*controllerManager)(nil)

// New makes a manager; nothing runs before Start, but the ports of health probes and pprof are taken, so
// that one in use is an error here.
func New(config *rest.Config, options manager.Options) (_ manager.Manager, err error) {
	if config == nil {
		return nil, errors.New("manager: must specify Config: the *rest.Config is nil; make one with ctrl.GetConfig()")
	}
	setDefaults(&options)
	if err := checkAddresses(options); err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}

	m := &controllerManager{
		logger:     options.Logger,
		options:    options,
		converters: conversion.NewRegistry(),
		elected:    make(chan struct{}),
		healthz:    healthz.Handler{Checks: map[string]healthz.Checker{}},
		readyz:     healthz.Handler{Checks: map[string]healthz.Checker{}},
	}
	m.ending, m.end = context.WithCancelCause(context.Background())
	m.groups = newRunnables(options.BaseContext, options.Logger, m.runnableFailed)

	m.Cluster, err = ourcluster.New(config, func(o *cluster.Options) {
		o.Scheme = options.Scheme
		o.MapperProvider = options.MapperProvider
		o.Logger = options.Logger
		o.NewCache = options.NewCache
		o.NewClient = options.NewClient
		o.Cache = options.Cache
		o.Client = options.Client
		o.EventBroadcaster = options.EventBroadcaster //nolint:staticcheck // deprecated, and still an option that users have
	})
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}

	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if options.LeaderElection {
		if m.election, err = newElection(options, config, m.onElected); err != nil {
			return nil, fmt.Errorf("manager: %w", err)
		}
	}
	if m.metrics, err = metricsserver.NewServer(options.Metrics, config, m.GetHTTPClient()); err != nil {
		return nil, fmt.Errorf("manager: metrics server: %w", err)
	}
	if m.health, err = listen("HealthProbeBindAddress", options.HealthProbeBindAddress); err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	if m.pprof, err = listen("PprofBindAddress", options.PprofBindAddress); err != nil {
		if m.health != nil {
			_ = m.health.Close()
		}
		return nil, fmt.Errorf("manager: %w", err)
	}
	return m, nil
}

// Add hands a runnable to its group; it may be called before, during and after Start.
func (m *controllerManager) Add(r manager.Runnable) error {
	if r == nil {
		return errors.New("manager: Add: the runnable is nil; pass a value with a method Start(context.Context) error")
	}
	return m.groups.Add(r)
}

// AddMetricsServerExtraHandler serves one more path beside the metrics.
func (m *controllerManager) AddMetricsServerExtraHandler(path string, handler http.Handler) error {
	return m.beforeStart("metrics handler "+path, handler == nil, func() error {
		if m.metrics == nil {
			m.logger.Info("The metrics server is switched off, its extra handler is ignored", "path", path)
			return nil
		}
		return m.metrics.AddExtraHandler(path, handler)
	})
}

// AddHealthzCheck adds a condition to the liveness probe.
func (m *controllerManager) AddHealthzCheck(name string, check healthz.Checker) error {
	return m.beforeStart("healthz check "+name, check == nil, func() error {
		m.healthz.Checks[name] = check
		return nil
	})
}

// AddReadyzCheck adds a condition to the readiness probe.
func (m *controllerManager) AddReadyzCheck(name string, check healthz.Checker) error {
	return m.beforeStart("readyz check "+name, check == nil, func() error {
		m.readyz.Checks[name] = check
		return nil
	})
}

// beforeStart adds something to a server that must be complete when Start runs it.
func (m *controllerManager) beforeStart(what string, isNil bool, add func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if isNil {
		return fmt.Errorf("manager: %s is nil", what)
	}
	if m.started {
		return fmt.Errorf("manager: %s comes too late: its server is complete once Start was called; add it before", what)
	}
	return add()
}

// GetWebhookServer adds the webhook server to the manager the first time that somebody asks for it:
// without webhooks no port is opened and no certificate is needed.
func (m *controllerManager) GetWebhookServer() webhook.Server {
	m.webhookOnce.Do(func() {
		if err := m.Add(m.options.WebhookServer); err != nil {
			panic(fmt.Sprintf("manager: unable to add the webhook server: %s", err))
		}
	})
	return m.options.WebhookServer
}

func (m *controllerManager) GetConverterRegistry() conversion.Registry { return m.converters }
func (m *controllerManager) GetLogger() logr.Logger                    { return m.logger }
func (m *controllerManager) GetControllerOptions() config.Controller   { return m.options.Controller }

// Elected is closed when this manager leads, at once if there is no leader election.
func (m *controllerManager) Elected() <-chan struct{} { return m.elected }
