package controlplane

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// releases serves envtest's index with the archive as the release of v1.37.1.
func releases(t *testing.T, archive []byte) *httptest.Server {
	t.Helper()
	name := fmt.Sprintf("envtest-v1.37.1-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/index.yaml", func(w http.ResponseWriter, _ *http.Request) {
		for _, version := range []string{"v1.36.9", "v1.37.0", "v1.37.1", "v1.38.0"} {
			link := server.URL + "/wrong"
			if version == "v1.37.1" {
				link = server.URL + "/archive"
			}
			if version == "v1.36.9" {
				fmt.Fprintln(w, "releases:")
			}
			fmt.Fprintf(w, "  %s:\n    %s: {hash: %x, selfLink: %q}\n", version, name, sha512.Sum512(archive), link)
		}
	})
	mux.HandleFunc("/archive", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	return server
}

// archiveOf has programs that run the real ones, with a mark of their own: the real ones
// take seconds to pack.
func archiveOf(t *testing.T, a Assets) []byte {
	t.Helper()
	var archive bytes.Buffer
	gz := gzip.NewWriter(&archive)
	w := tar.NewWriter(gz)
	for name, path := range map[string]string{etcd: a.Etcd, apiServer: a.APIServer, "kubectl": "/bin/true"} {
		text := fmt.Sprintf("#!/bin/sh\n# downloaded\nexec %s \"$@\"\n", path)
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "controller-tools/envtest/" + name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, gz.Close())
	return archive.Bytes()
}

func TestBringDownloads(t *testing.T) {
	real, err := Bring(t.Context(), Terminal(), false)
	require.NoError(t, err)
	server := releases(t, archiveOf(t, real))
	cache := filepath.Join(t.TempDir(), "cache")
	var progress bytes.Buffer
	f := &assetFinder{
		cache: fixed(cache), indexURL: server.URL + "/index.yaml", progress: &progress,
		pins: func() (string, error) { return "", errors.New("there should be nothing left to build") },
	}
	a, err := f.bring(t.Context(), false)
	require.NoError(t, err)
	assert.Equal(t, Assets{Etcd: filepath.Join(cache, etcd), APIServer: filepath.Join(cache, apiServer)}, a)
	text, err := os.ReadFile(a.APIServer)
	require.NoError(t, err)
	assert.Contains(t, string(text), "# downloaded")
	assert.Contains(t, progress.String(), "downloading envtest's binaries for v1.37")
}

func TestDownloadThatDoesNotRunIsNotKept(t *testing.T) {
	server := releases(t, archiveOf(t, Assets{Etcd: "/bin/false", APIServer: "/bin/false"}))
	cache := filepath.Join(t.TempDir(), "cache")
	f := &assetFinder{cache: fixed(cache), indexURL: server.URL + "/index.yaml", pins: fixed(smallPins(t, goodSource)), progress: &bytes.Buffer{}}
	a, err := f.bring(t.Context(), false)
	require.NoError(t, err, "what can't be downloaded should be built")
	text, err := os.ReadFile(a.Etcd)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "# downloaded")
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			close(reached)
			<-release // envtest waits for the index without a limit
		}
	}))
	defer server.Close()
	defer close(release)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-reached
		cancel(errors.New("out of time"))
	}()
	f := &assetFinder{indexURL: server.URL, progress: &bytes.Buffer{}}
	assert.EqualError(t, f.download(ctx, t.TempDir()), "out of time")
}
