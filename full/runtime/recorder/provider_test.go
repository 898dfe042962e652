package recorder_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/recorder"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server takes events and remembers their reasons.
type server struct {
	mu      sync.Mutex
	reasons []string
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var event struct{ Reason string }
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reasons = append(s.reasons, event.Reason)
	return &http.Response{
		StatusCode: http.StatusCreated,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(string(body))),
		Request:    req,
	}, nil
}

func (s *server) has(reason string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reasons {
		if r == reason {
			return true
		}
	}
	return false
}

var object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cm"}}

func newProvider(t *testing.T, s *server, shared record.EventBroadcaster) *recorder.Provider {
	t.Helper()
	cfg := &rest.Config{Host: "http://unused.invalid", ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	p, err := recorder.New(cfg, &http.Client{Transport: s}, scheme.Scheme, logr.Discard(), shared)
	require.NoError(t, err)
	return p
}

func eventually(t *testing.T, s *server, reason string) {
	t.Helper()
	require.Eventually(t, func() bool { return s.has(reason) }, 30*time.Second, time.Millisecond, "event %s has to reach the server", reason)
}

func TestEventsAfterStopAreDropped(t *testing.T) {
	s := &server{}
	p := newProvider(t, s, nil)
	old, events := p.GetEventRecorderFor("old"), p.GetEventRecorder("new")
	old.Event(object, corev1.EventTypeNormal, "Old", "message")
	events.Eventf(object, nil, corev1.EventTypeNormal, "New", "Test", "note")
	eventually(t, s, "Old")
	eventually(t, s, "New")

	p.Stop()
	p.Stop()
	old.Event(object, corev1.EventTypeNormal, "Late", "message")
	events.Eventf(object, nil, corev1.EventTypeNormal, "Late", "Test", "note")
	p.GetEventRecorderFor("another").Event(object, corev1.EventTypeNormal, "Late", "message")
	assert.False(t, s.has("Late"))
}

// goleak in TestMain would see what an unused provider had started.
func TestUnusedProviderNeedsNoStop(t *testing.T) {
	p := newProvider(t, &server{}, nil)
	p.GetEventRecorderFor("old")
	p.GetEventRecorder("new")
}

func TestStopBeforeTheFirstEventStartsNothing(t *testing.T) {
	s := &server{}
	p := newProvider(t, s, nil)
	p.Stop()
	p.GetEventRecorderFor("old").Event(object, corev1.EventTypeNormal, "Late", "message")
	assert.False(t, s.has("Late"))
}

func TestSharedBroadcasterOutlivesStop(t *testing.T) {
	shared := record.NewBroadcaster()
	defer shared.Shutdown()
	first, second := &server{}, &server{}
	a, b := newProvider(t, first, shared), newProvider(t, second, shared)
	a.GetEventRecorderFor("a").Event(object, corev1.EventTypeNormal, "One", "message")
	eventually(t, first, "One")
	a.Stop()

	b.GetEventRecorderFor("b").Event(object, corev1.EventTypeNormal, "Two", "message")
	eventually(t, second, "Two")
	assert.False(t, first.has("Two"), "what the stopped provider had attached is gone")
	b.Stop()
}

func TestStopWhileEventsAreEmitted(t *testing.T) {
	for range 20 {
		p := newProvider(t, &server{}, nil)
		var emitters sync.WaitGroup
		for range 4 {
			old, events := p.GetEventRecorderFor("old"), p.GetEventRecorder("new")
			emitters.Go(func() {
				for range 20 {
					old.Event(object, corev1.EventTypeNormal, "Old", "message")
					events.Eventf(object, nil, corev1.EventTypeNormal, "New", "Test", "note")
				}
			})
		}
		p.Stop()
		emitters.Wait()
	}
}

func TestNewRefusesNilClient(t *testing.T) {
	_, err := recorder.New(&rest.Config{}, nil, scheme.Scheme, logr.Discard(), nil)
	assert.ErrorContains(t, err, "the HTTP client is nil")
}
