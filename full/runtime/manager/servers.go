package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func isOff(address string) bool     { return address == "" || address == "0" }
func isAnyPort(address string) bool { return strings.HasSuffix(address, ":0") }

// listen takes the port of a server before it starts; nil means that the server is off.
func listen(option, address string) (net.Listener, error) {
	if isOff(address) {
		return nil, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, addressError(option, address, err)
	}
	return l, nil
}

// addressError says which option named the address that can't be listened on.
func addressError(option, address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf(`%s: address %q is in use by another program or manager; choose another one, or switch the server off with "0": %w`, option, address, err)
	}
	return fmt.Errorf("%s: can't listen on address %q: %w", option, address, err)
}

// addHTTPServers adds what must answer before any cache is filled.
func (m *controllerManager) addHTTPServers(ctx context.Context) error {
	if m.metrics != nil {
		if err := m.groups.httpServers.Add(metricsServer{m.metrics, m.options.Metrics.BindAddress}, nil); err != nil {
			return err
		}
	}
	if m.health != nil {
		mux := http.NewServeMux()
		serveChecks(mux, m.options.LivenessEndpointName, &m.healthz, len(m.healthz.Checks))
		serveChecks(mux, m.options.ReadinessEndpointName, &m.readyz, len(m.readyz.Checks))
		if err := m.groups.Add(newServer(ctx, "health probe", mux, m.health)); err != nil {
			return err
		}
	}
	if m.pprof != nil {
		mux := http.NewServeMux()
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
		if err := m.groups.Add(newServer(ctx, "pprof", mux, m.pprof)); err != nil {
			return err
		}
	}
	return nil
}

// serveChecks serves the sum at path and each check below it. A probe that nobody gave a check is not
// served: it would report a health that nobody looked at.
func serveChecks(mux *http.ServeMux, path string, checks http.Handler, n int) {
	if n == 0 {
		return
	}
	mux.Handle(path, http.StripPrefix(path, checks))
	mux.Handle(path+"/", http.StripPrefix(path, checks))
}

// newServer has the limits that keep a slow client from holding a connection for ever.
func newServer(ctx context.Context, name string, handler http.Handler, l net.Listener) *manager.Server {
	return &manager.Server{
		Name:     name,
		Listener: l,
		Server: &http.Server{
			Handler:           handler,
			BaseContext:       func(net.Listener) context.Context { return ctx },
			MaxHeaderBytes:    1 << 20,
			IdleTimeout:       90 * time.Second,
			ReadHeaderTimeout: 32 * time.Second,
		},
	}
}

// metricsServer is upstream's, which listens only when it starts: its error gets the option's name here.
type metricsServer struct {
	metricsserver.Server
	address string
}

func (s metricsServer) String() string { return "metrics server" }

func (s metricsServer) Start(ctx context.Context) error {
	err := s.Server.Start(ctx)
	if errors.Is(err, syscall.EADDRINUSE) {
		return addressError("Metrics.BindAddress", s.address, err)
	}
	return err
}

// webhookServer is upstream's or the user's, with the same care for its port.
type webhookServer struct{ webhook.Server }

func (s webhookServer) String() string { return "webhook server" }

func (s webhookServer) Start(ctx context.Context) error {
	err := s.Server.Start(ctx)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	address := "of the webhook server"
	if known, ok := s.Server.(*webhook.DefaultServer); ok {
		address = net.JoinHostPort(known.Options.Host, fmt.Sprint(known.Options.Port))
	}
	return fmt.Errorf("WebhookServer: address %q is in use by another program or manager; choose another port with webhook.NewServer(webhook.Options{Port: …}): %w", address, err)
}
