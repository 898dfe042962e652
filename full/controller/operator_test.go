package controller

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/config/configtest"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
)

// operator is one that runs, with the rights of the generated roles and no others,
// and what is seen of it from outside.
type operator struct {
	*traffic
	log *logged
	mgr manager.Manager
	// objects is the second cache.
	objects client.Reader
	// kill ends it at once: its requests fail, and it writes nothing more.
	kill func()
	done chan error
}

// start starts the operator.
func (w *world) start(edit ...func(*manager.Options)) {
	w.Helper()
	require.Nil(w, w.op, "one operator at a time")
	var err error
	op := &operator{traffic: &traffic{}, log: &logged{}, done: make(chan error, 1)}
	cfg := configtest.AsOperator(w.cfg)
	op.traffic.watch(cfg)
	o := manager.Options{
		Scheme: w.Scheme(), Cache: CacheOptions(), Logger: op.log.logger(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	}
	o.Cache.ByObject[&v1alpha1.Mirror{}] = cache.ByObject{Label: w.mine()}
	for _, e := range edit {
		e(&o)
	}
	op.mgr, err = assembly.NewManager(cfg, o, w.layers)
	require.NoError(w, err)
	r := &Reconciler{Client: op.mgr.GetClient(), Live: op.mgr.GetAPIReader(), Recorder: op.mgr.GetEventRecorder(FieldManager)}
	require.NoError(w, r.SetupWithManager(op.mgr, w.layers))
	op.objects = r.Objects
	ctx, cancel := context.WithCancel(context.Background())
	op.kill = func() {
		op.refuse(func(*http.Request) bool { return true }, http.StatusServiceUnavailable)
		cancel()
	}
	w.op = op
	go func() { op.done <- op.mgr.Start(logr.NewContext(ctx, o.Logger)) }()
	op.stopGracefully = cancel
}

// stop stops the operator, if one runs.
func (w *world) stop() {
	w.Helper()
	if w.op == nil {
		return
	}
	w.op.stopGracefully()
	require.NoError(w, <-w.op.done)
	w.op.closeAll()
	assert.Empty(w, w.op.deniedAll(), "the generated roles have to allow what the operator does")
	w.op = nil
}

// traffic is what the operator sends to the API server; a test may look at it, and
// step in.
type traffic struct {
	stopGracefully func()

	mu       sync.Mutex
	sent     []*sent
	denied   []string // what the API server said to requests that the roles do not allow
	handlers []func(*http.Request) *http.Response
	conns    map[net.Conn]struct{}
}

// sent is one request.
type sent struct {
	method, path string
	body         []byte
	status       int // 0 while it runs
	at           time.Time
}

func (s *sent) write() bool { return s.method != http.MethodGet }

// event tells whether it reports an event, which follows a change of state, and
// comes when it likes.
func (s *sent) event() bool { return strings.Contains(s.path, "/apis/events.k8s.io/") }

// watch makes the clients of cfg go through t.
func (t *traffic) watch(cfg *rest.Config) {
	t.conns = map[net.Conn]struct{}{}
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, network, address)
		if err == nil {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.conns[c] = struct{}{}
		}
		return c, err
	}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return t.pass(next, r) })
	})
	configtest.Denied(cfg, func(message string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.denied = append(t.denied, message)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (t *traffic) pass(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	s := &sent{method: r.Method, path: r.URL.Path, at: time.Now()}
	if r.Body != nil {
		var err error
		if s.body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(s.body))
	}
	t.mu.Lock()
	t.sent = append(t.sent, s)
	handlers := t.handlers
	t.mu.Unlock()
	for _, h := range handlers {
		if answer := h(r); answer != nil {
			answer.Request = r
			return t.note(s, answer, nil)
		}
	}
	answer, err := next.RoundTrip(r)
	return t.note(s, answer, err)
}

func (t *traffic) note(s *sent, answer *http.Response, err error) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.status = -1; err == nil {
		s.status = answer.StatusCode
	}
	return answer, err
}

func (t *traffic) deniedAll() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.denied)
}

// handle lets h see every request before it is sent; what it returns is the answer.
func (t *traffic) handle(h func(*http.Request) *http.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handlers = append(t.handlers[:len(t.handlers):len(t.handlers)], h)
}

// refuse answers the requests that match with a status.
func (t *traffic) refuse(match func(*http.Request) bool, status int) {
	t.handle(func(r *http.Request) *http.Response {
		if match(r) {
			return answer(status)
		}
		return nil
	})
}

// answer is an API server's refusal.
func answer(status int) *http.Response {
	reason := map[int]string{http.StatusConflict: "Conflict", http.StatusNotFound: "NotFound"}[status]
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"so says the test","reason":"` + reason + `"}`
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body))}
}

// pause holds the first request that matches. reached is closed when it comes, and
// it is sent when the test calls goOn.
func (t *traffic) pause(match func(*http.Request) bool) (reached <-chan struct{}, goOn func()) {
	came, release := make(chan struct{}), make(chan struct{})
	var once, end sync.Once
	t.handle(func(r *http.Request) *http.Response {
		if match(r) {
			once.Do(func() {
				close(came)
				select {
				case <-release:
				case <-r.Context().Done():
				}
			})
		}
		return nil
	})
	return came, func() { end.Do(func() { close(release) }) }
}

// cut closes every connection, as a load balancer does, and returns how many.
func (t *traffic) cut() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.conns)
	for c := range t.conns {
		_ = c.Close()
	}
	clear(t.conns)
	return n
}

func (t *traffic) closeAll() { t.cut() }

// count counts the requests that match.
func (t *traffic) count(match func(*sent) bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, s := range t.sent {
		if match(s) {
			n++
		}
	}
	return n
}

// writes counts all writes but events.
func (t *traffic) writes() int {
	return t.count(func(s *sent) bool { return s.write() && !s.event() })
}

// on matches requests by method and end of the path.
func on(method, pathEnd string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, pathEnd) }
}

// quiet waits until every request of the operator is answered, and it has sent none
// for a quarter of a second.
func (w *world) quiet() {
	w.Helper()
	all, unanswered := func(*sent) bool { return true }, func(s *sent) bool { return s.status == 0 }
	for last, since := w.op.count(all), time.Now(); time.Since(since) < 250*time.Millisecond; <-time.After(20 * time.Millisecond) {
		if now := w.op.count(all); now != last || w.op.count(unanswered) > 0 {
			last, since = now, time.Now()
		}
	}
}

// logged is what an operator logs, up to the verbosity from which on client-go
// writes out the bodies of requests, which is what it is for.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.text.WriteString(prefix + " " + args + "\n")
	}, funcr.Options{Verbosity: 7})
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// errors are the lines that report an error.
func (l *logged) errors() []string {
	var found []string
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, `"error"=`) {
			found = append(found, line)
		}
	}
	return found
}
