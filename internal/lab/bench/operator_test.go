package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
)

// operatorVariable makes the test binary an operator: its CPU time and memory are
// then its own and not those of the benchmark around it.
const operatorVariable = "BENCH_OPERATOR"

func TestMain(m *testing.M) {
	if job := os.Getenv(operatorVariable); job != "" {
		runOperator(job)
		return
	}
	os.Exit(m.Run())
}

// job is what an operator is told.
type job struct {
	Impl       string
	Kubeconfig string
	Label      string // which ConfigMaps it reconciles
	Objects    int    // how many different ones
}

// report is a line of an operator's output.
type report struct {
	Event  string  // "ready", "first" or "all" reconciled
	Took   float64 // seconds since the start
	CPU    float64 // seconds
	PeakMB float64
}

// runOperator reconciles ConfigMaps, reports on stdout, and ends with its stdin.
func runOperator(text string) {
	var j job
	must(json.Unmarshal([]byte(text), &j))
	log.SetLogger(logr.Discard())
	cfg, err := clientcmd.BuildConfigFromFlags("", j.Kubeconfig)
	must(err)
	selector, err := labels.Parse(j.Label)
	must(err)
	cfg.QPS = -1

	start := time.Now()
	say := func(event string) {
		must(json.NewEncoder(os.Stdout).Encode(report{event, time.Since(start).Seconds(), cpuSeconds(), peakMB()}))
	}
	l := layers[j.Impl]
	mgr, err := assembly.NewManager(cfg, manager.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultLabelSelector: selector},
	}, l)
	must(err)
	var mu sync.Mutex
	seen := map[types.NamespacedName]bool{}
	reader := mgr.GetClient()
	must(assembly.ControllerManagedBy(mgr, l).For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		mu.Lock()
		if len(seen) == 0 {
			say("first")
		}
		if !seen[req.NamespacedName] {
			seen[req.NamespacedName] = true
			if len(seen) == j.Objects {
				say("all")
			}
		}
		mu.Unlock()
		return reconcile.Result{}, reader.Get(ctx, req.NamespacedName, &corev1.ConfigMap{})
	})))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	must(mgr.Add(manager.RunnableFunc(func(context.Context) error { // runs once the caches are synced
		say("ready")
		return nil
	})))
	must(mgr.Start(ctx))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// peakMB is the most memory that the process has had; without Linux's /proc, what Go
// has asked for. (The rusage of a child begins with that of its parent.)
func peakMB() float64 {
	if kB, err := strconv.Atoi(first(`VmHWM:\s*(\d+) kB`, "/proc/self/status")); err == nil {
		return float64(kB) / 1024
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys) / (1 << 20)
}

// operator is a running one, seen from the benchmark.
type operator struct {
	b       *testing.B
	cmd     *exec.Cmd
	stdin   io.Closer
	reports *bufio.Scanner
	errors  strings.Builder
}

func startOperator(b *testing.B, j job) *operator {
	text, err := json.Marshal(j)
	require.NoError(b, err)
	o := &operator{b: b, cmd: exec.Command(os.Args[0])}
	o.cmd.Env = append(os.Environ(), operatorVariable+"="+string(text))
	o.cmd.Stderr = &o.errors
	o.stdin, err = o.cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := o.cmd.StdoutPipe()
	require.NoError(b, err)
	o.reports = bufio.NewScanner(stdout)
	require.NoError(b, o.cmd.Start())
	return o
}

// await reads reports until one is of event.
func (o *operator) await(event string) report {
	for o.reports.Scan() {
		var r report
		if json.Unmarshal(o.reports.Bytes(), &r) == nil && r.Event == event {
			return r
		}
	}
	o.b.Fatalf("the operator ended before it said %q: %v\n%s", event, o.cmd.Wait(), o.errors.String())
	return report{}
}

func (o *operator) stop() {
	o.stdin.Close()
	require.NoError(o.b, o.cmd.Wait(), o.errors.String())
}
