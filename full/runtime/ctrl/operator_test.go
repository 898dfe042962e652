package ctrl_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

const (
	theirs = `ctrl "sigs.k8s.io/controller-runtime"`
	ours   = `ctrl "github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"`
)

// An operator written for controller-runtime: one import is changed, nothing else.
func TestOperatorAfterOneImportIsChanged(t *testing.T) {
	cfg := controlplane.Config(t)
	program := build(t)

	ns := controlplane.Namespace(t, cfg)
	op := startProgram(t, program, "-namespace", ns, "-kubeconfig", kubeconfig(t, cfg))
	c, err := client.New(cfg, client.Options{})
	require.NoError(t, err)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "cm"}, Data: map[string]string{"k": "v"}}
	require.NoError(t, c.Create(t.Context(), cm))
	require.Eventually(t, func() bool {
		var secret corev1.Secret
		return c.Get(t.Context(), client.ObjectKeyFromObject(cm), &secret) == nil && string(secret.Data["k"]) == "v"
	}, time.Minute, 20*time.Millisecond, "the operator has to copy the ConfigMap into a Secret; it said:\n%s", &op.said)

	require.NoError(t, op.cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, op.cmd.Wait(), "a clean end; it said:\n%s", &op.said)

	t.Run("kubeconfig unreadable", func(t *testing.T) {
		out, err := exec.Command(program, "-kubeconfig", "/no/such/file").CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), "no usable kubeconfig: ")
	})
	t.Run("cluster unreachable", func(t *testing.T) {
		out, err := exec.Command(program, "-kubeconfig", kubeconfig(t, &rest.Config{Host: "https://127.0.0.1:1"})).CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), "API server https://127.0.0.1:1 unreachable: ")
	})
	t.Run("port in use", func(t *testing.T) {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = taken.Close() }()
		out, err := exec.Command(program, "-kubeconfig", kubeconfig(t, cfg), "-health-probe-bind-address", taken.Addr().String()).CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), "HealthProbeBindAddress: address")
	})
}

// build puts the changed operator into a folder of its own and lets the go command see it inside this
// module, where it finds its dependencies.
func build(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("testdata/operator/main.go.txt")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(source), theirs))
	dir := t.TempDir()
	changed := filepath.Join(dir, "main.go")
	require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(source), theirs, ours, 1)), 0o600))

	inModule, err := filepath.Abs("testdata/operator/main.go")
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, []byte(`{"Replace":{"`+inModule+`":"`+changed+`"}}`), 0o600))
	program := filepath.Join(dir, "operator")
	for _, args := range [][]string{{"vet", "-overlay", overlay, inModule}, {"build", "-overlay", overlay, "-o", program, inModule}} {
		out, err := exec.Command("go", args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return program
}

// running is a program with what it has said so far.
type running struct {
	cmd  *exec.Cmd
	said output
}

func startProgram(t *testing.T, program string, args ...string) *running {
	t.Helper()
	r := &running{cmd: exec.Command(program, args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() { _ = r.cmd.Process.Kill() }) // no more than an error if it has ended
	return r
}

// output may be read while it is written.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// kubeconfig writes cfg down.
func kubeconfig(t *testing.T, cfg *rest.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: cfg.Host, CertificateAuthorityData: cfg.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, path))
	return path
}
