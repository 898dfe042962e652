// Command controlplane brings the control plane's binaries to this machine, with
// its progress in sight, and prints where they are.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func main() {
	controllerManager := flag.Bool("with-controller-manager", false, "bring kube-controller-manager, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *controllerManager); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, controllerManager bool) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: the only one is --with-controller-manager", flag.Arg(0))
	}
	assets, err := controlplane.Bring(ctx, os.Stderr, controllerManager)
	if err != nil {
		return err
	}
	for _, path := range []string{assets.Etcd, assets.APIServer, assets.ControllerManager} {
		if path != "" {
			fmt.Println(path)
		}
	}
	return nil
}
