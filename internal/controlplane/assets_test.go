package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersionIsThePinnedOne(t *testing.T) {
	pins, err := pinsFolder()
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(pins, "go.mod"))
	require.NoError(t, err)
	pinned := regexp.MustCompile(`(?m)^require k8s\.io/kubernetes (\S+)`).FindSubmatch(mod)
	require.NotNil(t, pinned, "tools/controlplane/go.mod should require k8s.io/kubernetes")
	assert.Equal(t, string(pinned[1]), Version)
	for name, pkg := range packages {
		assert.Contains(t, string(mod), "\n\t"+pkg+"\n", "%s should be a tool of tools/controlplane, or go mod tidy drops what it needs", name)
	}
}

// script is an executable that answers --version.
func script(t *testing.T, dir, name, version string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho Kubernetes "+version+"\n"), 0o755))
}

// smallPins is a module like tools/controlplane whose programs print that they
// were built, and with which version.
func smallPins(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	mod := "module pins\n\ngo 1.26\n"
	for _, m := range []string{"go.etcd.io/etcd/server/v3", "k8s.io/kubernetes", "k8s.io/component-base"} {
		version := "v0.0.0"
		if strings.HasSuffix(m, "/v3") {
			version = "v3.0.0"
		}
		mod += fmt.Sprintf("require %s %s\nreplace %s => ./%s\n", m, version, m, m)
		write(m+"/go.mod", "module "+m+"\n\ngo 1.26\n")
	}
	write("go.mod", mod)
	write("k8s.io/component-base/version/version.go", "package version\n\nvar gitVersion, gitMajor, gitMinor string\n\nfunc Get() string { return gitVersion + \" \" + gitMajor + \" \" + gitMinor }\n")
	write("go.etcd.io/etcd/server/v3/main.go", source)
	for _, name := range []string{apiServer, controllerManager} {
		write("k8s.io/kubernetes/cmd/"+name+"/main.go", source)
	}
	return dir
}

const (
	goodSource = "package main\n\nimport \"k8s.io/component-base/version\"\n\nfunc main() { println(\"built\", version.Get()) }\n"
	badSource  = "package main\n\nfunc main() { no such thing }\n"
)

func TestBring(t *testing.T) {
	nowhere := httptest.NewServer(http.NotFoundHandler())
	defer nowhere.Close()

	cases := map[string]struct {
		reason            string
		prepare           func(t *testing.T, f *assetFinder, cache string)
		controllerManager bool
		// want is the folder of the binaries: "override" or "cache"; else wantError.
		want, wantError string
		wantProgress    string
	}{
		"AssetsOfTheRightVersion": {
			reason: "KUBEBUILDER_ASSETS comes first, also when the cache has them",
			prepare: func(t *testing.T, f *assetFinder, cache string) {
				f.override = filepath.Join(filepath.Dir(cache), "override")
				for _, dir := range []string{f.override, cache} {
					script(t, dir, etcd, "")
					script(t, dir, apiServer, "v1.37.0")
				}
			},
			want: "override",
		},
		"AssetsOfAnotherVersion": {
			reason: "tests against another API server would fail in riddles",
			prepare: func(t *testing.T, f *assetFinder, cache string) {
				f.override = filepath.Join(filepath.Dir(cache), "override")
				script(t, f.override, etcd, "")
				script(t, f.override, apiServer, "v1.30.3")
			},
			wantError: "holds Kubernetes v1.30.3, but v1.37 is needed: point it to that version or unset it",
		},
		"AssetsIncomplete": {
			reason: "whoever set the variable should hear that it is wrong",
			prepare: func(t *testing.T, f *assetFinder, cache string) {
				f.override = filepath.Join(filepath.Dir(cache), "override")
				script(t, f.override, etcd, "")
			},
			wantError: "override has no kube-apiserver: correct it or unset it",
		},
		"AssetsOfAnotherMachine": {
			reason: "a binary of another processor does not run",
			prepare: func(t *testing.T, f *assetFinder, cache string) {
				f.override = filepath.Join(filepath.Dir(cache), "override")
				script(t, f.override, etcd, "")
				require.NoError(t, os.WriteFile(filepath.Join(f.override, apiServer), []byte("\x7fELF"), 0o755))
			},
			wantError: "does not run on this machine",
		},
		"Cached": {
			reason: "what is there is taken without a question to anyone",
			prepare: func(t *testing.T, f *assetFinder, cache string) {
				script(t, cache, etcd, "")
				script(t, cache, apiServer, "")
				f.pins = func() (string, error) { return "", errors.New("asked for the pins") }
			},
			want: "cache",
		},
		"NoCacheFolder": {
			reason: "without HOME there is no folder to keep the binaries in",
			prepare: func(t *testing.T, f *assetFinder, _ string) {
				t.Setenv("HOME", "")
				t.Setenv("XDG_CACHE_HOME", "")
				f.cache = cacheFolder
			},
			wantError: "set HOME, or KUBEBUILDER_ASSETS to a folder",
		},
		"Built": {
			reason:       "with no download in reach the pinned modules are built",
			wantProgress: "control plane: building kube-apiserver",
			want:         "cache",
		},
		"BuiltWithControllerManager": {
			reason:            "only who asks for it pays two minutes for it",
			controllerManager: true,
			prepare: func(t *testing.T, f *assetFinder, cache string) {
				script(t, cache, etcd, "")
				script(t, cache, apiServer, "")
			},
			wantProgress: "control plane: building kube-controller-manager",
			want:         "cache",
		},
		"BuiltInSpiteOfGoSettings": {
			reason: "settings for the reader's own builds should not break this one",
			prepare: func(t *testing.T, _ *assetFinder, _ string) {
				t.Setenv("GOFLAGS", "-mod=vendor -race")
				t.Setenv("GOOS", "plan9")
				t.Setenv("GOWORK", filepath.Join(t.TempDir(), "go.work"))
			},
			want: "cache",
		},
		"UnfinishedIsRemoved": {
			reason: "a file of a bring-up that was killed is not taken for a binary, and goes",
			prepare: func(t *testing.T, _ *assetFinder, cache string) {
				script(t, filepath.Join(cache, unfinished+"1"), apiServer, "")
			},
			want: "cache",
		},
		"NotExecutable": {
			reason: "a file that can't be run is no binary; it is replaced",
			prepare: func(t *testing.T, _ *assetFinder, cache string) {
				script(t, cache, apiServer, "")
				require.NoError(t, os.Chmod(filepath.Join(cache, apiServer), 0o644))
			},
			want: "cache",
		},
		"BuildFails": {
			reason:    "the error names every way that was tried, in one line",
			prepare:   func(t *testing.T, f *assetFinder, _ string) { f.pins = fixed(smallPins(t, badSource)) },
			wantError: "and no way to get them: download: " + nowhere.URL + " answers 404 not found build etcd: exit status 1: # go.etcd.io/etcd/server/v3",
		},
		"NoGo": {
			reason:    "a test binary may run where no Go is",
			prepare:   func(t *testing.T, _ *assetFinder, _ string) { t.Setenv("PATH", "") },
			wantError: "build: no go command: install Go",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			cache := filepath.Join(root, "cache")
			var progress bytes.Buffer
			f := &assetFinder{cache: fixed(cache), indexURL: nowhere.URL, pins: fixed(smallPins(t, goodSource)), progress: &progress}
			if tc.prepare != nil {
				tc.prepare(t, f, cache)
			}
			a, err := f.bring(t.Context(), tc.controllerManager)
			if tc.wantError != "" {
				require.Error(t, err, tc.reason)
				assert.Contains(t, strings.Join(strings.Fields(err.Error()), " "), tc.wantError, tc.reason)
				return
			}
			require.NoError(t, err, tc.reason)
			want := Assets{Etcd: filepath.Join(root, tc.want, etcd), APIServer: filepath.Join(root, tc.want, apiServer)}
			if tc.controllerManager {
				want.ControllerManager = filepath.Join(root, tc.want, controllerManager)
			}
			assert.Equal(t, want, a, tc.reason)
			assert.Contains(t, progress.String(), tc.wantProgress)
			left, err := filepath.Glob(filepath.Join(cache, unfinished+"*"))
			require.NoError(t, err)
			assert.Empty(t, left, "nothing unfinished should be left")
		})
	}
}

func fixed(dir string) func() (string, error) {
	return func() (string, error) { return dir, nil }
}

func TestBringErrorIsOneLine(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", t.TempDir()+"/two\nlines")
	_, err := Bring(t.Context(), &bytes.Buffer{}, false)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "\n")
}

func TestBuildSetsTheVersion(t *testing.T) {
	dir := t.TempDir()
	f := &assetFinder{pins: fixed(smallPins(t, goodSource)), progress: &bytes.Buffer{}}
	require.NoError(t, f.build(t.Context(), apiServer, dir))
	out, err := goCommand(t.Context(), filepath.Join(dir, apiServer), dir).CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "built v1.37.2 1 37\n", string(out))
}

func TestBringBuildsOnce(t *testing.T) {
	nowhere := httptest.NewServer(http.NotFoundHandler())
	defer nowhere.Close()
	cache := filepath.Join(t.TempDir(), "cache")
	pins := smallPins(t, goodSource)

	var wg sync.WaitGroup
	progress := make([]bytes.Buffer, 4)
	for i := range progress {
		f := &assetFinder{cache: fixed(cache), indexURL: nowhere.URL, pins: fixed(pins), progress: &progress[i]}
		wg.Go(func() {
			_, err := f.bring(t.Context(), false)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	var all strings.Builder
	for i := range progress {
		all.WriteString(progress[i].String())
	}
	assert.Equal(t, 2, strings.Count(all.String(), "done"), "etcd and kube-apiserver should be built once each:\n%s", all.String())
	assert.Equal(t, len(progress)-1, strings.Count(all.String(), "waiting for another process"), "the others should say that they wait:\n%s", all.String())
}

func TestBringEndsWithItsContext(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.MkdirAll(cache, 0o755))
	lock, err := tryLock(cache+".lock", os.O_CREATE)
	require.NoError(t, err)
	defer lock.Close()

	ctx, cancel := context.WithCancelCause(t.Context())
	waits := writerFunc(func(line string) {
		assert.Contains(t, line, "waiting for another process")
		cancel(errors.New("run `make controlplane`"))
	})
	f := &assetFinder{cache: fixed(cache), progress: waits}
	_, err = f.bring(ctx, false)
	assert.EqualError(t, err, "another process brings them: run `make controlplane`")
}

func TestBuildEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	dir := t.TempDir()
	f := &assetFinder{pins: fixed(smallPins(t, goodSource)), progress: writerFunc(func(string) { cancel(errors.New("out of time")) })}
	err := f.build(ctx, etcd, dir)
	assert.EqualError(t, err, "build etcd: out of time")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

type writerFunc func(string)

func (f writerFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}
