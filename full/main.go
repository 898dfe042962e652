// Command full runs the Mirror operator on a cluster. Fork it: the operator's own
// part is api/ and controller/; runtime/ is the machinery of the chapters.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
)

// runtimes are what --runtime can name.
var runtimes = map[string]assembly.Layers{
	"chapters":           {},
	"controller-runtime": assembly.ControllerRuntime,
}

// settings are what the flags say.
type settings struct {
	metrics, probes, pprof string
	leaderElect            bool
	leaseNamespace         string
	runtime                string
}

// layers are those of the runtime that --runtime names.
func (s settings) layers() (assembly.Layers, error) {
	layers, ok := runtimes[s.runtime]
	if !ok {
		return layers, fmt.Errorf("--runtime=%q is unknown; choose one of %s", s.runtime, names())
	}
	return layers, nil
}

func main() {
	var s settings
	flag.StringVar(&s.metrics, "metrics-bind-address", ":8080", "Where metrics are served; 0 serves none.")
	flag.StringVar(&s.probes, "health-probe-bind-address", ":8081", "Where /healthz and /readyz are served; 0 serves none.")
	flag.StringVar(&s.pprof, "pprof-bind-address", "", "Where /debug/pprof is served, for example 127.0.0.1:6060; nowhere, if not given.")
	flag.BoolVar(&s.leaderElect, "leader-elect", false, "Hold a lease while running, so that of several replicas one works.")
	flag.StringVar(&s.leaseNamespace, "leader-election-namespace", "", "Namespace of the lease; inside a cluster the operator's own, if not given.")
	flag.StringVar(&s.runtime, "runtime", "chapters", "Machinery to run on: "+names()+".")
	logging := zap.Options{}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	if err := start(s); err != nil {
		fmt.Fprintln(os.Stderr, "mirror-operator:", err)
		os.Exit(1)
	}
}

func start(s settings) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; there are flags only, see --help", flag.Arg(0))
	}
	if _, err := s.layers(); err != nil {
		return err
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	return run(ctrl.SetupSignalHandler(), cfg, s)
}

// run runs the operator until ctx ends.
func run(ctx context.Context, cfg *rest.Config, s settings) error {
	layers, err := s.layers()
	if err != nil {
		return err
	}
	scheme, err := controller.NewScheme()
	if err != nil {
		return err
	}
	mgr, err := assembly.NewManager(cfg, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         controller.CacheOptions(),
		Metrics:                       metricsserver.Options{BindAddress: s.metrics},
		HealthProbeBindAddress:        s.probes,
		PprofBindAddress:              s.pprof,
		LeaderElection:                s.leaderElect,
		LeaderElectionID:              "mirror-operator.walkthrough.example.com",
		LeaderElectionNamespace:       s.leaseNamespace,
		LeaderElectionReleaseOnCancel: true, // main returns when the manager has stopped
	}, layers)
	if err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	r := &controller.Reconciler{
		Client:   mgr.GetClient(),
		Live:     mgr.GetAPIReader(),
		Recorder: mgr.GetEventRecorder(controller.FieldManager),
	}
	if err := r.SetupWithManager(mgr, layers); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func names() string {
	return strings.Join(slices.Sorted(maps.Keys(runtimes)), ", ")
}
