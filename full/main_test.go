package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/config/configtest"
	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// beOperator in the environment makes the test binary the program.
const beOperator = "MIRROR_TEST_BE_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(beOperator) != "" {
		main()
		return
	}
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

// The program as the Deployment runs it, on each runtime, with the rights of the
// generated roles and no others: two replicas, both ready, of which one holds the
// lease; the other takes over when that one is told to go.
func TestRun(t *testing.T) {
	cfg := controlplane.Config(t)
	configtest.Install(t, cfg, "config")
	for name := range runtimes {
		t.Run(name, func(t *testing.T) {
			scheme, err := controller.NewScheme()
			require.NoError(t, err)
			c, err := client.New(cfg, client.Options{Scheme: scheme})
			require.NoError(t, err)
			holder := func() string {
				leases := &coordinationv1.LeaseList{}
				require.NoError(t, c.List(t.Context(), leases, client.InNamespace(configtest.Namespace)))
				if len(leases.Items) == 0 {
					return ""
				}
				return ptr.Deref(leases.Items[0].Spec.HolderIdentity, "")
			}
			kubeconfig := operatorKubeconfig(t, cfg)
			stopFirst := replica(t, kubeconfig, name)
			require.Eventually(t, func() bool { return holder() != "" }, time.Minute, 20*time.Millisecond, "somebody has to lead")
			first := holder()
			works(t, c)
			stopSecond := replica(t, kubeconfig, name)
			assert.Equal(t, first, holder(), "the other one waits")

			stopFirst()
			require.Eventually(t, func() bool { h := holder(); return h != "" && h != first }, time.Minute, 20*time.Millisecond, "the other one takes over")
			require.Eventually(t, func() bool {
				var events corev1.EventList
				require.NoError(t, c.List(t.Context(), &events, client.InNamespace(configtest.Namespace)))
				return slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
					return e.Reason == "LeaderElection" && strings.Contains(e.Message, holder()+" became leader")
				})
			}, time.Minute, 20*time.Millisecond, "an event says so")
			works(t, c)
			stopSecond()
			assert.Empty(t, holder(), "the lease is given back")
		})
	}
}

// works waits until a Mirror that comes is looked at, and one that goes may go.
func works(t *testing.T, c client.Client) {
	t.Helper()
	m := &v1alpha1.Mirror{ObjectMeta: metav1.ObjectMeta{GenerateName: "works-"}, Spec: v1alpha1.MirrorSpec{
		Source:            v1alpha1.SourceReference{Kind: v1alpha1.Secret, Namespace: "nowhere", Name: "x"},
		NamespaceSelector: metav1.LabelSelector{MatchLabels: map[string]string{"none": "has-it"}},
	}}
	require.NoError(t, c.Create(t.Context(), m))
	require.Eventually(t, func() bool {
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(m), m))
		return m.Status.ObservedGeneration == m.Generation
	}, time.Minute, 20*time.Millisecond, "it gets a status")
	require.NoError(t, c.Delete(t.Context(), m))
	require.Eventually(t, func() bool { return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(m), m)) },
		time.Minute, 20*time.Millisecond, "it goes")
}

// replica runs the program, as a process of its own, until stop is called, which is
// given when it is ready.
func replica(t *testing.T, kubeconfig, runtime string) (stop func()) {
	t.Helper()
	probes, pprof := freeAddress(t), freeAddress(t)
	log := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(log)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--kubeconfig="+kubeconfig, "--runtime="+runtime,
		"--metrics-bind-address=0", "--health-probe-bind-address="+probes, "--pprof-bind-address="+pprof,
		"--leader-elect", "--leader-election-namespace="+configtest.Namespace)
	cmd.Env = append(os.Environ(), beOperator+"=1")
	cmd.Stdout, cmd.Stderr = file, file
	require.NoError(t, cmd.Start())
	require.NoError(t, file.Close())
	said := func() string {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		return string(text)
	}
	for _, url := range []string{probes + "/healthz", probes + "/readyz", pprof + "/debug/pprof/"} {
		if !assert.Eventually(t, func() bool { return ok(t, "http://"+url) }, time.Minute, 20*time.Millisecond, "%s has to answer", url) {
			t.Fatal(said())
		}
	}
	return func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, cmd.Wait(), "an operator that is told to go ends well")
		assert.NotContains(t, said(), "forbidden", "the generated roles have to allow what it does")
	}
}

// operatorKubeconfig writes a kubeconfig of the operator's service account.
func operatorKubeconfig(t *testing.T, cfg *rest.Config) string {
	t.Helper()
	as := configtest.AsOperator(cfg)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"test": {Server: as.Host, CertificateAuthorityData: as.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"operator": {
			ClientCertificateData: as.CertData, ClientKeyData: as.KeyData,
			Impersonate: as.Impersonate.UserName, ImpersonateGroups: as.Impersonate.Groups,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "operator"}},
		CurrentContext: "test",
	}, path))
	return path
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
