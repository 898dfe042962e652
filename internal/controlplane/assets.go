package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Assets says where the binaries are.
type Assets struct {
	Etcd, APIServer string
	// ControllerManager is empty unless it was asked for.
	ControllerManager string
}

// Bring finds the binaries or gets them, and writes to progress what it does
// while that takes time; kube-controller-manager only if wanted. A bring-up that
// ctx ends goes on where it was when it is called again.
func Bring(ctx context.Context, progress io.Writer, controllerManager bool) (Assets, error) {
	a, err := newAssetFinder(progress).bring(ctx, controllerManager)
	if err != nil && ctx.Err() != nil {
		return Assets{}, fmt.Errorf("control plane binaries: %w", context.Cause(ctx))
	}
	if err != nil {
		// One line, whatever the tools below had to say.
		return Assets{}, fmt.Errorf("control plane binaries: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
	return a, nil
}

const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
)

// assetFinder knows the four places of the package comment. Each is a field, so
// that a test can lead it elsewhere.
type assetFinder struct {
	// override is the value of KUBEBUILDER_ASSETS, a folder or nothing.
	override string
	// cache is where what was brought is kept, by version.
	cache func() (string, error)
	// indexURL is envtest's list of downloads.
	indexURL string
	// pins is the folder of the Go module that requires what is built.
	pins func() (string, error)
	// progress takes lines for a person to read.
	progress io.Writer
}

func newAssetFinder(progress io.Writer) *assetFinder {
	return &assetFinder{
		override: os.Getenv("KUBEBUILDER_ASSETS"),
		cache:    cacheFolder,
		indexURL: defaultIndexURL,
		pins:     pinsFolder,
		progress: progress,
	}
}

// cacheFolder is keyed by all that makes one binary differ from another, since a
// home directory may be shared by machines.
func cacheFolder() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep them in: %w: set HOME, or KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver %s", err, Version)
	}
	return filepath.Join(dir, "informer-walkthrough", "controlplane", Version+"-"+runtime.GOOS+"-"+runtime.GOARCH), nil
}

func (f *assetFinder) bring(ctx context.Context, withControllerManager bool) (Assets, error) {
	var a Assets
	want := map[string]*string{etcd: &a.Etcd, apiServer: &a.APIServer}
	if withControllerManager {
		want[controllerManager] = &a.ControllerManager
	}
	if f.override != "" {
		if err := f.fromOverride(ctx, want); err != nil {
			return Assets{}, err
		}
	}
	if len(want) == 0 {
		return a, nil
	}
	dir, err := f.cache()
	if err != nil {
		return Assets{}, err
	}
	if takeFrom(dir, want); len(want) == 0 {
		return a, nil
	}

	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Assets{}, err
	}
	lock, err := waitForLock(ctx, dir+".lock", func() {
		fmt.Fprintln(f.progress, "control plane: waiting for another process that brings the binaries")
	})
	if err != nil {
		return Assets{}, fmt.Errorf("another process brings them: %w", err)
	}
	defer lock.Close()
	if takeFrom(dir, want); len(want) == 0 {
		return a, nil
	}
	if err := removeUnfinished(dir); err != nil {
		return Assets{}, err
	}

	var failures []error
	if want[etcd] != nil || want[apiServer] != nil {
		if err := f.download(ctx, dir); err != nil {
			failures = append(failures, fmt.Errorf("download: %w", err))
		}
		takeFrom(dir, want)
	}
	for _, name := range []string{etcd, apiServer, controllerManager} {
		if want[name] == nil {
			continue
		}
		if err := f.build(ctx, name, dir); err != nil {
			return Assets{}, fmt.Errorf("none in %s, and no way to get them: %w (or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver %s)",
				dir, errors.Join(append(failures, err)...), Version)
		}
	}
	if takeFrom(dir, want); len(want) > 0 {
		return Assets{}, fmt.Errorf("%s was changed meanwhile by someone else: try again", dir)
	}
	return a, nil
}

// fromOverride takes what KUBEBUILDER_ASSETS names. Its etcd and kube-apiserver
// have to be there: whoever sets it wants these and no others.
func (f *assetFinder) fromOverride(ctx context.Context, want map[string]*string) error {
	takeFrom(f.override, want)
	for _, name := range []string{etcd, apiServer} {
		if want[name] != nil {
			return fmt.Errorf("KUBEBUILDER_ASSETS=%s has no %s: correct it or unset it", f.override, name)
		}
	}
	server := filepath.Join(f.override, apiServer)
	out, err := exec.CommandContext(ctx, server, "--version").Output()
	if err != nil {
		return fmt.Errorf("KUBEBUILDER_ASSETS: %s does not run on this machine: %w", server, err)
	}
	fields := strings.Fields(string(out)) // "Kubernetes v1.37.2"
	if len(fields) < 2 {
		return fmt.Errorf("KUBEBUILDER_ASSETS: %s --version says %q, no version", server, strings.TrimSpace(string(out)))
	}
	major, minor := majorMinor(fields[1])
	if wantMajor, wantMinor := majorMinor(Version); major != wantMajor || minor != wantMinor {
		return fmt.Errorf("KUBEBUILDER_ASSETS=%s holds Kubernetes %s, but v%s.%s is needed: point it to that version or unset it",
			f.override, fields[1], wantMajor, wantMinor)
	}
	return nil
}

// takeFrom writes the paths of the wanted binaries that dir has and takes them
// off the list. What is there is whole: files get their names when they are.
func takeFrom(dir string, want map[string]*string) {
	for name, path := range want {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			*path = p
			delete(want, name)
		}
	}
}

// unfinished begins the names of what is not whole yet. The folder is the same,
// so that a rename suffices in the end.
const unfinished = ".unfinished-"

// removeUnfinished removes what a bring-up that was killed had made so far.
func removeUnfinished(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), unfinished) {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
