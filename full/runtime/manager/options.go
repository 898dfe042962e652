package manager

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func setDefaults(o *manager.Options) {
	if o.Logger.GetSink() == nil {
		o.Logger = log.Log
	}
	if o.Controller.Logger.GetSink() == nil {
		o.Controller.Logger = o.Logger
	}
	if o.BaseContext == nil {
		o.BaseContext = context.Background
	}
	if o.WebhookServer == nil {
		o.WebhookServer = webhook.NewServer(webhook.Options{})
	}
	if o.ReadinessEndpointName == "" {
		o.ReadinessEndpointName = "/readyz"
	}
	if o.LivenessEndpointName == "" {
		o.LivenessEndpointName = "/healthz"
	}
	setDefault(&o.GracefulShutdownTimeout, 30*time.Second)
	leaseDefaults(o)
}

// checkAddresses finds two servers that were given one port: each alone would be right.
func checkAddresses(o manager.Options) error {
	metrics := o.Metrics.BindAddress
	if metrics == "" {
		metrics = metricsserver.DefaultBindAddress
	}
	taken := map[string]string{}
	for _, server := range []struct{ option, address string }{
		{"Metrics.BindAddress", metrics},
		{"HealthProbeBindAddress", o.HealthProbeBindAddress},
		{"PprofBindAddress", o.PprofBindAddress},
	} {
		if isOff(server.address) || isAnyPort(server.address) {
			continue
		}
		if other, twice := taken[server.address]; twice {
			return fmt.Errorf(`options %s and %s are both %q; give each its own port, or switch one off with "0"`, other, server.option, server.address)
		}
		taken[server.address] = server.option
	}
	return nil
}
