package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// startLimit is generous: a start takes four seconds on an idle machine, but
	// the machine may be compiling something else.
	startLimit = 60 * time.Second
	// stopLimit lets a caller that has ten seconds keep its word.
	stopLimit = 2 * time.Second
)

// Options of Start. The zero value is silent, and starts no
// kube-controller-manager.
type Options struct {
	// Progress takes lines for a person to read while the binaries are brought.
	Progress io.Writer
	// ControllerManager adds kube-controller-manager: without it namespaces stay
	// in deletion and nothing is garbage-collected.
	ControllerManager bool
}

// ControlPlane is a running etcd and kube-apiserver. Its methods may be called by
// one goroutine at a time.
type ControlPlane struct {
	env     *envtest.Environment
	folder  *folder
	manager *process
}

// Start brings the binaries if they are missing, cleans up after processes that
// were killed, and starts a control plane, which the caller owes a Stop. Cancelling
// ctx ends the start, not a control plane that was returned.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	assets, err := Bring(ctx, o.Progress, o.ControllerManager)
	if err != nil {
		return nil, err
	}
	env := &envtest.Environment{}
	// Paths beat the environment variables that envtest knows.
	env.ControlPlane.GetAPIServer().Path = assets.APIServer
	env.ControlPlane.Etcd = &envtest.Etcd{Path: assets.Etcd}
	c, err := launch(ctx, env)
	if err != nil {
		return nil, err
	}
	if o.ControllerManager {
		if err := c.startControllerManager(assets.ControllerManager); err != nil {
			return nil, errors.Join(err, c.Stop())
		}
	}
	return c, nil
}

// launch starts env in a folder of its own.
func launch(ctx context.Context, env *envtest.Environment) (*ControlPlane, error) {
	if err := sweep(); err != nil {
		return nil, err
	}
	f, err := claimFolder()
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{env: env, folder: f}
	if err := c.start(ctx); err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w%s", err, c.lastWords())
		}
		return nil, errors.Join(fmt.Errorf("control plane: %w", err), c.Stop())
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) (err error) {
	server, store := c.env.ControlPlane.GetAPIServer(), c.env.ControlPlane.Etcd
	if store == nil {
		store = &envtest.Etcd{}
		c.env.ControlPlane.Etcd = store
	}
	if server.CertDir, err = c.folder.subfolder(apiServer); err != nil {
		return err
	}
	if store.DataDir, err = c.folder.subfolder(etcd); err != nil {
		return err
	}
	for name, out := range map[string]*io.Writer{apiServer: &server.Err, etcd: &store.Err} {
		log, err := os.Create(c.logFile(name))
		if err != nil {
			return err
		}
		defer log.Close() // the process has its own by then
		*out = log
	}
	c.env.UseExistingCluster = new(bool)
	c.env.ControlPlaneStartTimeout = startLimit
	c.env.ControlPlaneStopTimeout = stopLimit
	if err := c.startEnv(ctx); err != nil {
		return err
	}
	// envtest makes certificates for webhooks outside our folder, asked or not.
	if err := os.RemoveAll(c.env.WebhookInstallOptions.LocalServingCertDir); err != nil {
		return err
	}
	return os.WriteFile(c.Kubeconfig(), c.env.KubeConfig, 0o600)
}

// startEnv makes up for envtest's taking no context: without its processes it
// gives up, after some tries.
func (c *ControlPlane) startEnv(ctx context.Context) error {
	started := make(chan error, 1)
	go func() {
		_, err := c.env.Start()
		started <- err
	}()
	select {
	case err := <-started:
		return err
	case <-ctx.Done():
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_ = killProcesses(c.folder.path) // if it can't, the end of the folder will say so
		select {
		case <-started:
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Config returns a configuration of the caller's own, as administrator.
func (c *ControlPlane) Config() *rest.Config {
	return rest.CopyConfig(c.env.Config)
}

// Kubeconfig returns the path of a file for kubectl, which goes with Stop.
func (c *ControlPlane) Kubeconfig() string {
	return filepath.Join(c.folder.path, "kubeconfig")
}

// Stop ends the processes and removes all that they wrote.
func (c *ControlPlane) Stop() error {
	c.manager.stop()
	// A process that does not end in time is ended with the folder; that it did
	// not is no reason to fail.
	_ = c.env.Stop()
	return c.folder.remove()
}

func (c *ControlPlane) logFile(name string) string {
	return filepath.Join(c.folder.path, name+".log")
}

// lastWords returns the last line of each log: envtest only says that a process
// did not start.
func (c *ControlPlane) lastWords() string {
	var words strings.Builder
	for _, name := range []string{etcd, apiServer, controllerManager} {
		log, err := os.ReadFile(c.logFile(name))
		if err != nil || len(log) == 0 {
			continue
		}
		all := strings.Split(strings.TrimSpace(string(log)), "\n")
		fmt.Fprintf(&words, "; %s said last: %s", name, all[len(all)-1])
	}
	return words.String()
}
