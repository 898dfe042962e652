package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

var (
	mu      sync.Mutex
	running *envtest.Environment
	config  *rest.Config
)

// Main is the TestMain of a package whose tests may ask for a control plane: it
// runs the tests, stops the control plane if one was started, and fails when a
// goroutine is left.
func Main(m *testing.M) {
	code := m.Run()
	mu.Lock()
	defer mu.Unlock()
	if running != nil {
		if err := running.Stop(); err != nil {
			println("controlplane: stop:", err.Error())
			code = 1
		}
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// Config returns a configuration of its own for the control plane of this test
// binary, as administrator; the first call starts the control plane.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if running == nil {
		cache, err := os.UserCacheDir()
		require.NoError(t, err)
		env := &envtest.Environment{
			BinaryAssetsDirectory: filepath.Join(cache, "informer-walkthrough", "controlplane", "v1.37.2-linux-amd64"),
			UseExistingCluster:    ptr.To(false),
		}
		cfg, err := env.Start()
		require.NoError(t, err)
		running, config = env, cfg
	}
	return rest.CopyConfig(config)
}

// Namespace makes a namespace for one test and returns its name.
func Namespace(t testing.TB, cfg *rest.Config) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	base := strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, t.Name()))
	if len(base) > 50 {
		base = base[:50]
	}
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: strings.Trim(base, "-") + "-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return ns.Name
}
