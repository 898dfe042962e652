package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
	"github.com/informer-walkthrough/informer-walkthrough/full/trace"
)

// startOperator runs the Mirror operator on the chapters' layers, which tell
// stdout of what passes them. The channel gets the error if it ends by itself.
func startOperator(ctx context.Context, cfg *rest.Config, scheme *runtime.Scheme, u *undo, stdout io.Writer) (failed <-chan error, err error) {
	fmt.Fprintln(stdout, "\n"+trace.Header)
	layers := trace.Wrap(assembly.Layers{}, trace.New(trace.Printer(stdout)))
	mgr, err := assembly.NewManager(cfg, ctrl.Options{
		Scheme:                  scheme,
		Cache:                   controller.CacheOptions(),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		GracefulShutdownTimeout: ptr.To(2 * time.Second),
		Controller:              config.Controller{SkipNameValidation: ptr.To(true)},
	}, layers)
	if err != nil {
		return nil, err
	}
	r := &controller.Reconciler{
		Client:   mgr.GetClient(),
		Live:     mgr.GetAPIReader(),
		Recorder: mgr.GetEventRecorder(controller.FieldManager),
	}
	if err := r.SetupWithManager(mgr, layers); err != nil {
		return nil, err
	}

	// It outlives ctx: the example is removed first, and the operator has a part in that.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended, errs := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(ended)
		if err := mgr.Start(ctx); err != nil {
			errs <- err
		}
	}()
	u.add(func(context.Context) error {
		cancel()
		<-ended
		return nil
	})
	return errs, nil
}
