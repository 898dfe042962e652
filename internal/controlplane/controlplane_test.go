package controlplane

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func TestStartIgnoresTheEnvironment(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte("not for us"), 0o600))
	t.Setenv("KUBECONFIG", kubeconfig)
	t.Setenv("USE_EXISTING_CLUSTER", "true")
	t.Setenv("TEST_ASSET_ETCD", "/bin/false")
	t.Setenv("TEST_ASSET_KUBE_APISERVER", "/bin/false")

	c, err := Start(t.Context(), Options{Progress: Terminal()})
	require.NoError(t, err)
	folder := c.folder.path

	cfg, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	version, err := client.Discovery().ServerVersion()
	require.NoError(t, err, "the written kubeconfig should lead to the API server")
	assert.Equal(t, "1.37", version.Major+"."+version.Minor)

	pids, err := findProcesses(folder)
	require.NoError(t, err)
	assert.Len(t, pids, 2, "etcd and kube-apiserver should be found by their folder")

	begin := time.Now()
	require.NoError(t, c.Stop())
	assert.Less(t, time.Since(begin), 10*time.Second)
	assertGone(t, folder)
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left, "no temporary file should be left")
}

// assertGone asserts that neither the folder nor a process in it is left.
func assertGone(t *testing.T, folder string) {
	t.Helper()
	assert.Eventually(t, func() bool {
		pids, err := findProcesses(folder)
		_, statErr := os.Stat(folder)
		return err == nil && len(pids) == 0 && os.IsNotExist(statErr)
	}, 10*time.Second, 10*time.Millisecond, "%s should be empty and gone, if only after another test binary's sweep", folder)
}

func TestNextStartCleansUpAfterAKilledOwner(t *testing.T) {
	// Not where this process puts temporary files: TMPDIR may change between runs.
	owner, abandoned := startHelper(t, "owner", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	pids, err := findProcesses(abandoned)
	require.NoError(t, err)
	require.Len(t, pids, 2)
	require.NoError(t, owner.Process.Kill())
	require.Error(t, owner.Wait())
	alive, err := claimFolder()
	require.NoError(t, err)
	neighbour := fakeProcess(t, "etcd", alive.path)
	pager := fakeProcess(t, "less", abandoned)
	require.NoError(t, sweep())

	assertGone(t, abandoned)
	assert.DirExists(t, alive.path, "the folder of a process that lives should stay")
	assert.True(t, neighbour.answers(), "and so should what runs in it")
	assert.True(t, pager.answers(), "a process that only names the folder is not ours")

	require.NoError(t, alive.remove())
	assertGone(t, alive.path)
	assert.False(t, neighbour.answers(), "its owner should have ended it")
}

// fake is a process that answers each line with one, and ends after a minute at
// the latest.
type fake struct {
	in  io.Writer
	out *bufio.Scanner
}

// fakeProcess starts one of that name with a flag that names a file in the folder.
func fakeProcess(t *testing.T, name, folder string) *fake {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cmd := exec.CommandContext(ctx, "/bin/sh")
	cmd.Args = []string{"/some/where/" + name, "-c", "while read line; do echo alive; done", "--data-dir=" + folder + "/etcd"}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	return &fake{in, bufio.NewScanner(out)}
}

func (f *fake) answers() bool {
	_, err := fmt.Fprintln(f.in, "there?")
	return err == nil && f.out.Scan()
}

func TestSweepEndsProcessesWithoutAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), folderPrefix+"1")
	orphan := fakeProcess(t, "kube-apiserver", folder)
	require.True(t, orphan.answers())
	require.NoError(t, sweep())
	assert.False(t, orphan.answers(), "its folder is gone, so it has no owner")
}

func TestSweepKeeps(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		age    time.Duration
		keep   bool
	}{
		"JustMade":      {reason: "its process is about to write the owner", name: folderPrefix + "1", keep: true},
		"NeverOwned":    {reason: "its process ended before it wrote the owner", name: folderPrefix + "1", age: time.Hour},
		"OfAnotherName": {reason: "not a folder of ours", name: "informer-walkthrough-notes", age: time.Hour, keep: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			path := filepath.Join(tmp, tc.name)
			require.NoError(t, os.Mkdir(path, 0o700))
			then := time.Now().Add(-tc.age)
			require.NoError(t, os.Chtimes(path, then, then))
			require.NoError(t, sweep())
			if tc.keep {
				assert.DirExists(t, path, tc.reason)
			} else {
				assert.NoDirExists(t, path, tc.reason)
			}
		})
	}
}

func TestInterruptedTestBinaryStopsIt(t *testing.T) {
	tests, folder := startHelper(t, "tests", t.TempDir())
	require.NoError(t, tests.Process.Signal(os.Interrupt))
	err := tests.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 130, exit.ExitCode())
	assertGone(t, folder)
}

func TestStartEndsWithItsContext(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		assert.Eventually(t, func() bool {
			pids, err := findProcesses(tmp)
			return err == nil && len(pids) > 0
		}, time.Minute, time.Millisecond, "etcd should be started")
		cancel()
	}()
	_, err := Start(ctx, Options{})
	assert.EqualError(t, err, "control plane: context canceled")
	pids, err := findProcesses(tmp)
	require.NoError(t, err)
	assert.Empty(t, pids)
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestStartSaysWhyItFailed(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dir := t.TempDir()
	for _, name := range []string{etcd, apiServer} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo Kubernetes v1.37.2 && exit\necho no space left >&2\nexit 1\n"), 0o755))
	}
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	_, err := Start(t.Context(), Options{})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "etcd said last: no space left")
	assert.NotContains(t, err.Error(), "\n")
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestConfigIsOnesOwn(t *testing.T) {
	first, second := Config(t), Config(t)
	first.UserAgent = "changed"
	assert.NotEqual(t, first.UserAgent, second.UserAgent)
	assert.Equal(t, first.Host, second.Host, "there should be one control plane per test binary")
}

func TestNamespace(t *testing.T) {
	cfg := Config(t)
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	for _, name := range []string{"Short", "Ünusual/characters, and #much longer than the sixty-three characters of a namespace's name"} {
		t.Run(name, func(t *testing.T) {
			first, second := Namespace(t, cfg), Namespace(t, cfg)
			assert.NotEqual(t, first, second)
			_, err := client.CoreV1().Namespaces().Get(t.Context(), first, metav1.GetOptions{})
			assert.NoError(t, err)
		})
	}
}

// With kube-controller-manager a namespace is really deleted.
func TestControllerManager(t *testing.T) {
	cache, err := cacheFolder()
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(cache, controllerManager)); err != nil {
		t.Skip("kube-controller-manager takes two minutes to build: make controlplane CONTROLLER_MANAGER=1 brings it")
	}
	t.Setenv("TMPDIR", t.TempDir())
	c, err := Start(t.Context(), Options{ControllerManager: true})
	require.NoError(t, err)
	folder := c.folder.path
	client, err := kubernetes.NewForConfig(c.Config())
	require.NoError(t, err)
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "goes"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), ns.Name, metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err := client.CoreV1().Namespaces().Get(context.Background(), ns.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, time.Minute, 50*time.Millisecond, "the namespace should be deleted by kube-controller-manager%s", lazy(c.lastWords))
	require.NoError(t, c.Stop())
	assertGone(t, folder)
}

// lazy calls the function when its result is printed.
type lazy func() string

func (l lazy) String() string { return l() }

var _ fmt.Stringer = lazy(nil)
