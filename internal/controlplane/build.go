package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// packages names what go build makes each binary of.
var packages = map[string]string{
	etcd:              "go.etcd.io/etcd/server/v3",
	apiServer:         "k8s.io/kubernetes/cmd/kube-apiserver",
	controllerManager: "k8s.io/kubernetes/cmd/kube-controller-manager",
}

// linkerFlags give Kubernetes' binaries the version that its own release build
// would; without it kube-apiserver takes itself for v0.0.0 and refuses to start.
func linkerFlags() string {
	major, minor := majorMinor(Version)
	const version = "k8s.io/component-base/version."
	return fmt.Sprintf("-s -w -X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s", version, Version, major, minor)
}

// build makes one binary of the pinned modules and puts it into dir.
func (f *assetFinder) build(ctx context.Context, name, dir string) (err error) {
	pins, err := f.pins()
	if err != nil {
		return err
	}
	gocmd, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("build: no go command: install Go from https://go.dev/dl")
	}
	s := startStep(f.progress, "building "+name)
	defer func() { s.end(err) }()

	tmp, err := os.MkdirTemp(dir, unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, name)

	total := countPackages(ctx, gocmd, pins, packages[name])
	var compiled int
	var said []string
	cmd := goCommand(ctx, gocmd, pins, "build", "-v", "-ldflags", linkerFlags(), "-o", out, packages[name])
	cmd.Stderr = &lines{call: func(line string) {
		switch {
		case strings.HasPrefix(line, "go: downloading"):
			s.set("%s", strings.TrimPrefix(line, "go: "))
		case strings.ContainsAny(line, " \t:"): // no import path, so a message
			said = append(said, line)
		default:
			compiled++
			s.set("package %d of at most %d", compiled, max(total, compiled))
		}
	}}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build %s: %w", name, context.Cause(ctx))
		}
		return fmt.Errorf("build %s: %w: %s", name, err, strings.Join(said[max(0, len(said)-3):], "; "))
	}
	return os.Rename(out, filepath.Join(dir, name))
}

// countPackages says how many packages a program has, 0 if that can't be told.
func countPackages(ctx context.Context, gocmd, pins, pkg string) int {
	out, err := goCommand(ctx, gocmd, pins, "list", "-deps", pkg).Output()
	if err != nil {
		return 0
	}
	return bytes.Count(out, []byte("\n"))
}

// goCommand runs go in the folder of the pins, deaf to settings of the
// environment under which the result would be another one. It is interrupted,
// not killed, when ctx ends, so that go ends its compilers.
func goCommand(ctx context.Context, gocmd, pins string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, gocmd, args...)
	cmd.Dir = pins
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	// A group of its own: the terminal's Ctrl-C reaches it through ctx alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
