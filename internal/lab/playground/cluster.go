package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// connect starts an API server, or finds the one that the user named, and returns
// how to reach it, also as a file for kubectl.
func connect(ctx context.Context, o options, u *undo, stdout, stderr io.Writer) (cfg *rest.Config, kubeconfig string, err error) {
	if o.cluster != "" {
		cfg, err := load(o.cluster, stdout)
		return cfg, o.cluster, err
	}
	fmt.Fprintf(stdout, "starting etcd and kube-apiserver %s …\n", controlplane.Version)
	plane, err := controlplane.Start(ctx, controlplane.Options{Progress: stderr})
	if err != nil {
		return nil, "", err
	}
	u.add(func(context.Context) error { return plane.Stop() })
	fmt.Fprintf(stdout, "cluster: etcd and kube-apiserver %s, for this run only\nkubeconfig: %s\n", controlplane.Version, plane.Kubeconfig())
	return plane.Config(), plane.Kubeconfig(), nil
}

// load reads this one file. client-go's usual loading rules would also look at
// KUBECONFIG, and at a cluster that this process may happen to run in.
func load(path string, stdout io.Writer) (*rest.Config, error) {
	file, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s can't be read: %w", path, err)
	}
	cfg, err := clientcmd.NewDefaultClientConfig(*file, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s names no cluster to talk to: %w", path, err)
	}
	fmt.Fprintf(stdout, "cluster: context %q, %s\nkubeconfig: %s\n", file.CurrentContext, cfg.Host, path)
	return cfg, nil
}
