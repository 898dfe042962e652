package recorder

import (
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	eventsv1client "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// Provider makes event recorders of both event APIs: core/v1, which is deprecated but still what
// leader election speaks, and events.k8s.io/v1. It stands for controller-runtime's internal
// recorder.Provider.
//
// Broadcasters own goroutines, so they are made by the first event and not by New: a provider that
// is never used needs no Stop.
type Provider struct {
	scheme *runtime.Scheme
	logger logr.Logger
	core   corev1client.EventInterface
	events eventsv1client.EventsV1Interface
	// shared is the caller's broadcaster for the core/v1 API; nil makes one of our own.
	shared record.EventBroadcaster

	// mu is held for reading while an event is handed over and for writing by Stop, which therefore
	// can't close a broadcaster under a recorder.
	mu      sync.RWMutex
	stopped bool
	start   sync.Once
	running *broadcasters
}

var _ recorder.Provider = (*Provider)(nil)

// New connects nothing yet. The shared broadcaster may be nil; if it isn't, it stays the caller's and
// outlives Stop.
func New(cfg *rest.Config, httpClient *http.Client, scheme *runtime.Scheme, logger logr.Logger, shared record.EventBroadcaster) (*Provider, error) {
	if httpClient == nil {
		return nil, errors.New("event recorder: the HTTP client is nil; make one with rest.HTTPClientFor(cfg)")
	}
	core, err := corev1client.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("event recorder: client of core/v1: %w", err)
	}
	events, err := eventsv1client.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("event recorder: client of events.k8s.io/v1: %w", err)
	}
	return &Provider{scheme: scheme, logger: logger, core: core.Events(""), events: events, shared: shared}, nil
}

// GetEventRecorderFor returns a recorder of the core/v1 event API.
func (p *Provider) GetEventRecorderFor(name string) record.EventRecorder {
	return &coreRecorder{provider: p, name: name}
}

// GetEventRecorder returns a recorder of the events.k8s.io/v1 API.
func (p *Provider) GetEventRecorder(name string) recorder.EventRecorder {
	return &eventsRecorder{provider: p, name: name}
}

// Stop ends what the recorders started. It may be called more than once.
func (p *Provider) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.stopped = true
	if p.running != nil {
		p.running.stop()
	}
}

// emit calls send unless Stop came first.
func (p *Provider) emit(send func(*broadcasters)) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.stopped {
		return
	}
	p.start.Do(func() { p.running = startBroadcasters(p) })
	send(p.running)
}
