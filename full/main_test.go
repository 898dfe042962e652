package main

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	controlplane.Main(m, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop")) // controller-runtime's cache leaves it
}

// quiet serves nothing.
var quiet = settings{metrics: "0", probes: "0", runtime: "chapters"}

func TestRunRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	address := taken.Addr().String()

	for name, tc := range map[string]struct {
		change func(*settings)
		want   []string
	}{
		"unknown runtime":   {func(s *settings) { s.runtime = "none" }, []string{`--runtime="none" is unknown; choose one of chapters, controller-runtime`}},
		"port in use":       {func(s *settings) { s.probes = address }, []string{address, "in use", "HealthProbeBindAddress"}},
		"CRD not installed": {func(*settings) {}, []string{"Mirror", "install it"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := quiet
			tc.change(&s)
			err := run(t.Context(), controlplane.Config(t), s)
			for _, want := range tc.want {
				assert.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "\n", "one line")
		})
	}
}

func TestStartRefusesAnUnreadableKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "nothing"))
	err := start(quiet)
	assert.ErrorContains(t, err, "no usable kubeconfig: ")
	assert.ErrorContains(t, err, "--kubeconfig or $KUBECONFIG")
}

// The program as it is started in a cluster, on each runtime: ready, and gone when it is told to go.
func TestRun(t *testing.T) {
	cfg := controlplane.Config(t)
	_, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{"config/crd"}})
	require.NoError(t, err)
	for name := range runtimes {
		t.Run(name, func(t *testing.T) {
			s := quiet
			s.runtime, s.probes = name, freeAddress(t)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- run(ctx, rest.CopyConfig(cfg), s) }()
			for _, probe := range []string{"/healthz", "/readyz"} {
				require.Eventually(t, func() bool { return ok(t, "http://"+s.probes+probe) }, time.Minute, 20*time.Millisecond, "%s has to answer", probe)
			}
			cancel()
			require.NoError(t, <-done)
		})
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func ok(t *testing.T, url string) bool {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		return false
	}
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode == http.StatusOK
}
