package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// shared is the control plane of this test binary.
var shared = testControlPlane{interrupted: make(chan struct{})}

// bringLimit ends a bring-up before go test's own limit of ten minutes ends the
// test binary with a page of stacks.
const bringLimit = 8 * time.Minute

// testControlPlane starts a control plane when the first test asks for it.
type testControlPlane struct {
	// mu guards what is below, and makes all tests wait while one starts it.
	mu      sync.Mutex
	running *ControlPlane
	// err is why it could not be started; the next test fails by it at once.
	err error
	// interrupted is closed when the test binary has to end.
	interrupted chan struct{}
}

// Main is the TestMain of a package whose tests may ask for a control plane: it
// runs the tests, stops the control plane if one was started, also at Ctrl-C,
// and fails when a goroutine is left. The options are for goroutines that a
// library is known to leave.
func Main(m *testing.M, options ...goleak.Option) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-signals; ok {
			close(shared.interrupted)
			_ = shared.stop()
			os.Exit(130)
		}
	}()

	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	signal.Stop(signals)
	close(signals)
	if code == 0 {
		if err := goleak.Find(options...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Config returns a configuration of its own for the control plane of this test
// binary, as administrator; the first call starts the control plane.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	c, err := shared.get()
	require.NoError(t, err)
	return c.Config()
}

func (s *testControlPlane) get() (*ControlPlane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil && s.err == nil {
		s.running, s.err = s.start()
	}
	return s.running, s.err
}

func (s *testControlPlane) start() (*ControlPlane, error) {
	late := fmt.Errorf("not done after %s: run `make controlplane`, which goes on where this ended, and then test again", bringLimit)
	ctx, cancel := context.WithTimeoutCause(context.Background(), bringLimit, late)
	defer cancel()
	go func() {
		select {
		case <-s.interrupted:
			cancel()
		case <-ctx.Done():
		}
	}()
	return Start(ctx, Options{Progress: Terminal()})
}

func (s *testControlPlane) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return nil
	}
	running := s.running
	s.running, s.err = nil, fmt.Errorf("the control plane is stopped")
	return running.Stop()
}

// Namespace makes a namespace for one test and returns its name.
func Namespace(t testing.TB, cfg *rest.Config) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: namespacePrefix(t.Name())}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return ns.Name
}

// namespacePrefix makes of a test's name the beginning of a namespace's, so that
// a namespace tells whose it is.
func namespacePrefix(test string) string {
	name := strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, test))
	const limit = 50 // of 63, the server adds five more
	return strings.Trim(name[:min(len(name), limit)], "-") + "-"
}
