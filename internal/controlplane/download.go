package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

var defaultIndexURL = envtest.DefaultBinaryAssetsIndexURL

// connectLimit is short because a machine without that way out, which may drop
// packets instead of refusing them, should get to the build soon.
const connectLimit = 4 * time.Second

// download lets envtest fetch its newest binaries of our minor version. envtest
// does so only as the first part of starting a control plane; that start then
// shows that what came runs on this machine.
func (f *assetFinder) download(ctx context.Context, dir string) (err error) {
	defer http.DefaultClient.CloseIdleConnections()
	if err := reachable(ctx, f.indexURL); err != nil {
		return err
	}
	major, minor := majorMinor(Version)
	s := startStep(f.progress, fmt.Sprintf("downloading envtest's binaries for v%s.%s", major, minor))
	defer func() { s.end(err) }()
	tmp, err := os.MkdirTemp(dir, unfinished)
	if err != nil {
		return err
	}
	finished := make(chan error, 1)
	go func() { // envtest takes no context; what it still does then is harmless
		defer os.RemoveAll(tmp)
		finished <- f.downloadTo(ctx, tmp, dir)
	}()
	select {
	case err := <-finished:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *assetFinder) downloadTo(ctx context.Context, tmp, dir string) error {
	major, minor := majorMinor(Version)
	env := &envtest.Environment{
		DownloadBinaryAssets:         true,
		DownloadBinaryAssetsVersion:  major + "." + minor,
		DownloadBinaryAssetsIndexURL: f.indexURL,
		BinaryAssetsDirectory:        tmp,
	}
	c, err := launch(ctx, env)
	if err != nil {
		return err
	}
	if err := c.Stop(); err != nil {
		return err
	}
	for _, path := range []string{env.ControlPlane.Etcd.Path, env.ControlPlane.APIServer.Path} {
		if ctx.Err() != nil { // the lock is another's by now
			return context.Cause(ctx)
		}
		if err := os.Rename(path, filepath.Join(dir, filepath.Base(path))); err != nil {
			return err
		}
	}
	return nil
}

// reachable asks for the index's head.
func reachable(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%s does not answer within %s", url, connectLimit)
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, strings.ToLower(resp.Status))
	}
	return nil
}
