package controller_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/metrics"
)

var noop = reconcile.Func(func(context.Context, request) (result, error) { return result{}, nil })

// counter is the value of a metric of this controller. That the collectors are
// those of the registry is a test of package metrics.
func (w *world) counter(t *testing.T, metric string) float64 {
	t.Helper()
	counters := map[string]*prometheus.CounterVec{
		"controller_runtime_reconcile_errors_total":          metrics.ReconcileErrors,
		"controller_runtime_terminal_reconcile_errors_total": metrics.TerminalReconcileErrors,
		"controller_runtime_reconcile_panics_total":          metrics.ReconcilePanics,
		"controller_runtime_reconcile_timeouts_total":        metrics.ReconcileTimeouts,
	}
	require.Contains(t, counters, metric)
	return testutil.ToFloat64(counters[metric].WithLabelValues(w.name))
}

// testLog is a log that can be read.
type testLog struct {
	logr.Logger
	mu    sync.Mutex // guards lines
	lines []string
}

func newTestLog() *testLog {
	l := &testLog{}
	l.Logger = funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, args)
	}, funcr.Options{})
	return l
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
