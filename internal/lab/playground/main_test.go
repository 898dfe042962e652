package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
	"github.com/informer-walkthrough/informer-walkthrough/full/trace"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// helperVariable makes this test binary the playground itself.
const helperVariable = "INFORMER_WALKTHROUGH_PLAYGROUND"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		main()
	}
	ctrl.SetLogger(logr.Discard())
	controlplane.Main(m)
}

// output is a writer for several goroutines.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		args []string
		want options
		err  string
	}{
		"Nothing":        {nil, options{readyLimit: readyLimit}, ""},
		"Once":           {[]string{"--once"}, options{once: true, readyLimit: readyLimit}, ""},
		"Cluster":        {[]string{"--cluster=k", "--allow-writes"}, options{cluster: "k", allowWrites: true, readyLimit: readyLimit}, ""},
		"ClusterOnly":    {[]string{"--cluster=k"}, options{}, "allow it with --allow-writes (make run CLUSTER=k ALLOW_WRITES=1)"},
		"WritesToNobody": {[]string{"--allow-writes"}, options{}, "--allow-writes belongs to --cluster"},
		"Argument":       {[]string{"once"}, options{}, `unexpected argument "once"`},
		"UnknownFlag":    {[]string{"--twice"}, options{}, "not defined: -twice"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := parse(tc.args, io.Discard)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, o)
		})
	}
}

func TestOnceShowsTheWholeWay(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("KUBECONFIG", filepath.Join(tmp, "no such file"))
	var stdout, stderr output
	require.Equal(t, 0, run(t.Context(), []string{"--once"}, &stdout, &stderr), "%s%s", &stdout, &stderr)

	type state struct{ kind, key, version string }
	ways := map[state][]trace.Event{}
	for line := range strings.Lines(stdout.String()) {
		if e, err := trace.Parse(line); err == nil {
			ways[state{e.Kind, e.Key, e.ResourceVersion}] = append(ways[state{e.Kind, e.Key, e.ResourceVersion}], e)
		}
	}
	var whole []state
	for s, way := range ways {
		if isWhole(way) {
			whole = append(whole, s)
		}
	}
	require.NotEmpty(t, whole, "one key with one resourceVersion should pass every layer with rising times:\n%s", &stdout)
	assert.Contains(t, stdout.String(), "kubeconfig: "+tmp)
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left, "no temporary file should be left")
}

// isWhole reports whether the way leads through every layer, in order and with
// rising times.
func isWhole(way []trace.Event) bool {
	next := 0
	for i, e := range way {
		if i > 0 && e.Since <= way[i-1].Since {
			return false
		}
		if next < len(trace.Layers) && e.Layer == trace.Layers[next] {
			next++
		}
	}
	return next == len(trace.Layers)
}

func TestInterruptEndsIt(t *testing.T) {
	for name, wait := range map[string]string{"AtTheStart": "", "WhenReady": "The Mirror is Ready"} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), helperVariable+"=1", "TMPDIR="+tmp)
			cmd.Args = cmd.Args[:1]
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(stdout)
			for wait != "" && lines.Scan() && !strings.Contains(lines.Text(), wait) {
			}
			if wait == "" { // as soon as there is something to clean up
				require.Eventually(t, func() bool {
					entries, err := os.ReadDir(tmp)
					return err == nil && len(entries) > 0
				}, time.Minute, time.Millisecond, "the control plane's folder should appear")
			}
			begin := time.Now()
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			for lines.Scan() {
			}
			assert.NoError(t, cmd.Wait(), "Ctrl-C is how it is meant to end")
			assert.Less(t, time.Since(begin), 10*time.Second)
			left, err := os.ReadDir(tmp)
			require.NoError(t, err)
			assert.Empty(t, left, "no temporary file should be left")
			assert.Empty(t, processesIn(t, tmp), "no process should be left")
		})
	}
}

// processesIn returns the command lines that name the folder.
func processesIn(t *testing.T, folder string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-axww", "-o", "command=").Output()
	if err != nil {
		t.Skip("ps is missing")
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "="+folder) {
			found = append(found, line)
		}
	}
	return found
}

func TestNamedClusterIsLeftAsItWas(t *testing.T) {
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Progress: controlplane.Terminal()})
	require.NoError(t, err)
	defer func() { require.NoError(t, plane.Stop()) }()
	var stdout, stderr output
	require.Equal(t, 0, run(t.Context(), []string{"--once", "--allow-writes", "--cluster", plane.Kubeconfig()}, &stdout, &stderr), "%s%s", &stdout, &stderr)
	first, _, _ := strings.Cut(stdout.String(), "\n")
	assert.Regexp(t, `^cluster: context ".+", https://`, first, "the context should be named before anything is done")

	scheme, err := controller.NewScheme()
	require.NoError(t, err)
	c, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	require.NoError(t, err)
	e := newExample()
	err = c.Get(t.Context(), client.ObjectKeyFromObject(e.mirror), e.mirror)
	assert.Error(t, err, "the CRD should be gone, and the Mirror with it")
	for _, ns := range e.namespaces {
		var secrets corev1.SecretList
		require.NoError(t, c.List(t.Context(), &secrets, client.InNamespace(ns.Name)))
		assert.Empty(t, secrets.Items, "no Secret should be left in %s", ns.Name)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(ns), ns); !apierrors.IsNotFound(err) {
			require.NoError(t, err)
			assert.NotNil(t, ns.DeletionTimestamp, "%s should be deleted", ns.Name)
		}
	}

	// The namespaces are still there, since no controller finishes their deletion:
	// they are someone else's for the next run.
	stderr = output{}
	assert.Equal(t, 1, run(t.Context(), []string{"--once", "--allow-writes", "--cluster", plane.Kubeconfig()}, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "make the example's *v1.Namespace walkthrough-platform")
}

func TestBadClusters(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	cases := map[string]struct{ path, want string }{
		"Missing":     {filepath.Join(dir, "nothing"), "can't be read"},
		"NoYAML":      {file("text", "{"), "can't be read"},
		"Empty":       {file("empty", ""), "names no cluster to talk to"},
		"Unreachable": {file("unreachable", "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}], clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]}"), "connection refused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tc.path)
			var stdout, stderr output
			assert.Equal(t, 1, run(t.Context(), []string{"--cluster", tc.path, "--allow-writes"}, &stdout, &stderr))
			assert.Contains(t, stderr.String(), tc.want)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "%s", &stderr)
		})
	}
}

func TestNotReadyHasAReason(t *testing.T) {
	cfg := controlplane.Config(t)
	require.NoError(t, installCRDs(t.Context(), cfg, &undo{}, io.Discard))
	scheme, err := controller.NewScheme()
	require.NoError(t, err)
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	require.NoError(t, err)
	var u undo
	require.NoError(t, newExample().create(t.Context(), c, &u))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err = awaitReady(ctx, c, newExample().mirror.Name, 2*time.Minute)
	assert.EqualError(t, err, "Mirror registry-pull-secret is not Ready after 2m0s: the operator has not said anything about it")
	assert.NoError(t, u.run(t.Context()), "what was made should be undone")
}
