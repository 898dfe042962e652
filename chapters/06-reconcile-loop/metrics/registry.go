// Package metrics gives chapter 6 the collectors of controller-runtime: the same
// time series whichever of the two runs, so that dashboards need not know.
//
// controller-runtime keeps its collectors in internal packages. But a Prometheus
// registry that is offered a collector with the name, help and labels of one it
// has answers with the one it has, and that is how this package gets at them.
package metrics

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	// Its init functions register upstream's collectors without looking first, so
	// they have to run before ours.
	_ "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// shared returns the collector that the registry holds under c's description: an
// older one, or c itself. It panics where the registry holds a different one of
// that name: then the pinned controller-runtime has changed it.
func shared[C prometheus.Collector](c C) C {
	err := metrics.Registry.Register(c)
	var known prometheus.AlreadyRegisteredError
	if errors.As(err, &known) {
		return known.ExistingCollector.(C)
	}
	if err != nil {
		panic(err)
	}
	return c
}
