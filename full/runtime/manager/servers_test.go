package manager_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/manager"
)

// takenAddress is an address that somebody listens on until the test ends.
func takenAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// freeAddress is an address that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}

// get asks once and leaves no connection behind; an unreachable server has status 0.
func get(t *testing.T, url string) (code int, body string) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(b)
}

func status(t *testing.T, url string) int {
	t.Helper()
	code, _ := get(t, url)
	return code
}

func TestServers(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		probes, metrics, pprof := freeAddress(t), freeAddress(t), freeAddress(t)
		mgr := make1(t, n, offline(func(o *manager.Options) {
			o.HealthProbeBindAddress, o.Metrics.BindAddress, o.PprofBindAddress = probes, metrics, pprof
			o.ReadinessEndpointName = "/ready"
		}))
		require.NoError(t, mgr.AddHealthzCheck("ping", healthz.Ping))
		require.NoError(t, mgr.AddReadyzCheck("never", func(*http.Request) error { return errors.New("not yet") }))
		require.NoError(t, mgr.AddMetricsServerExtraHandler("/extra", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(w, "extra")
		})))
		r := start(t, mgr)
		<-mgr.Elected()
		require.Eventually(t, func() bool { return status(t, "http://"+metrics+"/metrics") == http.StatusOK },
			30*time.Second, 10*time.Millisecond, "the metrics server listens after the manager is elected")

		for url, want := range map[string]int{
			"http://" + probes + "/healthz":         http.StatusOK,
			"http://" + probes + "/healthz/ping":    http.StatusOK,
			"http://" + probes + "/healthz/unknown": http.StatusNotFound,
			"http://" + probes + "/ready":           http.StatusInternalServerError,
			"http://" + probes + "/ready/never":     http.StatusInternalServerError,
			"http://" + probes + "/readyz":          http.StatusNotFound,
			"http://" + metrics + "/extra":          http.StatusOK,
			"http://" + metrics + "/other":          http.StatusNotFound,
			"http://" + pprof + "/debug/pprof/":     http.StatusOK,
		} {
			assert.Equal(t, want, status(t, url), url)
		}
		_, body := get(t, "http://"+metrics+"/metrics")
		assert.Contains(t, body, "leader_election_master_status")

		late := "late"
		assert.Error(t, mgr.AddHealthzCheck(late, healthz.Ping))
		assert.Error(t, mgr.AddReadyzCheck(late, healthz.Ping))
		assert.Error(t, mgr.AddMetricsServerExtraHandler("/late", http.NotFoundHandler()))

		require.NoError(t, r.stop())
		for _, address := range []string{probes, metrics, pprof} {
			assert.Zero(t, status(t, "http://"+address+"/"), "nothing serves on %s after the stop", address)
		}
	})
}

func TestProbeWithoutChecksIsNotServed(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		probes := freeAddress(t)
		mgr := make1(t, n, offline(func(o *manager.Options) { o.HealthProbeBindAddress = probes }))
		start(t, mgr)
		<-mgr.Elected()
		assert.Equal(t, http.StatusNotFound, status(t, "http://"+probes+"/healthz"))
	})
}

func TestMetricsHandlers(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		off := make1(t, n, offline())
		assert.NoError(t, off.AddMetricsServerExtraHandler("/extra", http.NotFoundHandler()), "ignored when the server is off")

		on := make1(t, n, offline(func(o *manager.Options) { o.Metrics.BindAddress = freeAddress(t) }))
		require.NoError(t, on.AddMetricsServerExtraHandler("/extra", http.NotFoundHandler()))
		assert.Error(t, on.AddMetricsServerExtraHandler("/extra", http.NotFoundHandler()), "twice")
		assert.Error(t, on.AddMetricsServerExtraHandler("/metrics", http.NotFoundHandler()), "the built-in one")
	})
}

func TestWebhookServerIsMadeOnDemand(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		j := &journal{}
		given := &notedWebhooks{noted: noted{"webhooks", j, false}}
		mgr := make1(t, n, offline(func(o *manager.Options) { o.WebhookServer = given }))
		assert.Same(t, given, mgr.GetWebhookServer())
		assert.Same(t, given, mgr.GetWebhookServer())
		r := start(t, mgr)
		<-mgr.Elected()
		require.NoError(t, r.stop())
		assert.Equal(t, []string{"start webhooks", "stop webhooks"}, j.all(), "added once, however often it was asked for")

		unused := make1(t, n, offline(func(o *manager.Options) { o.WebhookServer = given }))
		r = start(t, unused)
		<-unused.Elected()
		require.NoError(t, r.stop())
		assert.Len(t, j.all(), 2, "nobody asked for it, so it does not run")

		assert.NotNil(t, make1(t, n, offline()).GetWebhookServer(), "upstream's default server")
		assert.NotNil(t, mgr.GetConverterRegistry())
	})
}

func TestPortInUse(t *testing.T) {
	tests := map[string]struct {
		set   func(*manager.Options, string)
		where string // New or Start
		want  []string
	}{
		"health probes": {func(o *manager.Options, a string) { o.HealthProbeBindAddress = a }, "New", []string{"HealthProbeBindAddress", `switch the server off with "0"`}},
		"pprof":         {func(o *manager.Options, a string) { o.PprofBindAddress = a }, "New", []string{"PprofBindAddress", `switch the server off with "0"`}},
		"metrics":       {func(o *manager.Options, a string) { o.Metrics.BindAddress = a }, "Start", []string{"Metrics.BindAddress", `switch the server off with "0"`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			address := takenAddress(t)
			mgr, err := ours.New(&rest.Config{}, offline(func(o *manager.Options) { tc.set(o, address) }))
			if tc.where == "Start" {
				require.NoError(t, err)
				err = mgr.Start(t.Context())
			}
			for _, want := range append(tc.want, address, "in use") {
				assert.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "\n", "one line")
		})
	}
	t.Run("webhooks", func(t *testing.T) {
		address := takenAddress(t)
		host, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		options := webhook.Options{Host: host, TLSOpts: []func(*tls.Config){func(c *tls.Config) {
			// With files upstream's server starts a watcher, which it leaves behind when it can't listen.
			c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("unused") }
		}}}
		_, err = fmt.Sscan(port, &options.Port)
		require.NoError(t, err)
		mgr := make1(t, ours.New, offline(func(o *manager.Options) { o.WebhookServer = webhook.NewServer(options) }))
		mgr.GetWebhookServer()
		err = mgr.Start(t.Context())
		assert.ErrorContains(t, err, fmt.Sprintf("WebhookServer: address %q is in use", address))
	})
	t.Run("an earlier port is given back", func(t *testing.T) {
		free, taken := freeAddress(t), takenAddress(t)
		_, err := ours.New(&rest.Config{}, offline(func(o *manager.Options) {
			o.HealthProbeBindAddress, o.PprofBindAddress = free, taken
		}))
		require.Error(t, err)
		l, err := net.Listen("tcp", free)
		require.NoError(t, err, "New failed, so it must not keep the port of the probes")
		require.NoError(t, l.Close())
	})
	t.Run("no address", func(t *testing.T) {
		_, err := ours.New(&rest.Config{}, offline(func(o *manager.Options) { o.PprofBindAddress = "nonsense" }))
		assert.ErrorContains(t, err, `PprofBindAddress: can't listen on address "nonsense"`)
		assert.False(t, strings.Contains(err.Error(), "in use"))
	})
}
