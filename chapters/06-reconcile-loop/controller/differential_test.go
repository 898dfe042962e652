package controller_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/metrics"
)

// programs is how many random programs a run of the tests makes.
const programs = 500

// answer is what a reconcile does.
type answer struct {
	result result
	err    error
	panics bool
	takes  time.Duration
}

// addition is a request that comes from outside.
type addition struct {
	pause    time.Duration // before it
	name     string
	priority int
	after    time.Duration
}

// program is a controller's life.
type program struct {
	options   upstream.Options
	answers   map[string][]answer // by request; success when they are used up
	additions []addition
}

var requestNames = []string{"a", "b", "c", "d"}

func drawProgram(rt *rapid.T) program {
	p := program{
		options: upstream.Options{
			UsePriorityQueue:        rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(rt, "priority queue"),
			MaxConcurrentReconciles: rapid.IntRange(0, 3).Draw(rt, "workers"),
			ReconciliationTimeout:   rapid.SampledFrom([]time.Duration{0, 3500 * time.Microsecond}).Draw(rt, "timeout"),
		},
		answers: map[string][]answer{},
	}
	milliseconds := func(label string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(rt, label)) * time.Millisecond
	}
	for _, name := range requestNames {
		for range rapid.IntRange(0, 6).Draw(rt, "answers") {
			a := answer{takes: milliseconds("takes", 5)}
			if rapid.IntRange(0, 2).Draw(rt, "with priority") == 0 {
				a.result.Priority = new(rapid.IntRange(-2, 2).Draw(rt, "priority"))
			}
			if rapid.IntRange(0, 2).Draw(rt, "again") == 0 {
				a.result.RequeueAfter = milliseconds("after", 20)
			}
			switch rapid.IntRange(0, 7).Draw(rt, "kind") {
			case 0, 1:
				a.err = errors.New("fails")
			case 2:
				a.err = reconcile.TerminalError(errors.New("fails for good"))
			case 3:
				a.panics = true
			case 4:
				a.result.Requeue = true
			}
			p.answers[name] = append(p.answers[name], a)
		}
	}
	for range rapid.IntRange(1, 12).Draw(rt, "additions") {
		p.additions = append(p.additions, addition{
			pause:    milliseconds("pause", 10),
			name:     rapid.SampledFrom(requestNames).Draw(rt, "name"),
			priority: rapid.IntRange(-2, 2).Draw(rt, "priority"),
			after:    milliseconds("later", 10),
		})
	}
	return p
}

// run runs the program in virtual time and returns each reconcile with its time,
// and what is left of it.
func (p program) run(t *testing.T, impl string) (trace []string) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		start := time.Now()
		calls := map[string]int{}
		options := p.options
		options.Reconciler = reconcile.Func(func(ctx context.Context, r request) (result, error) {
			mu.Lock()
			call := calls[r.Name]
			calls[r.Name]++
			a := answer{}
			if call < len(p.answers[r.Name]) {
				a = p.answers[r.Name][call]
			}
			at := time.Since(start)
			mu.Unlock()
			time.Sleep(a.takes + jitter(r.Name, call))
			mu.Lock()
			trace = append(trace, fmt.Sprintf("%12d %s call %d, timed out %t", at, r.Name, call, ctx.Err() != nil))
			mu.Unlock()
			if a.panics {
				panic("no good")
			}
			return a.result, a.err
		})
		w := newWorld(t, impl, constructors[impl], options).start()
		for _, a := range p.additions {
			time.Sleep(a.pause + time.Microsecond)
			w.queue.(priorityqueue.PriorityQueue[request]).AddWithOpts(priorityqueue.AddOpts{Priority: &a.priority, After: a.after}, named(a.name))
			synctest.Wait()
		}
		time.Sleep(5 * time.Second) // the longest retry waits 160 ms
		synctest.Wait()
		// Workers that ran side by side wrote in no order.
		slices.Sort(trace)
		for _, name := range requestNames {
			trace = append(trace, fmt.Sprintf("%s: %d requeues", name, w.queue.NumRequeues(named(name))))
		}
		trace = append(trace, fmt.Sprintf("errors %v, terminal %v, panics %v, timeouts %v, active %v, workers %v",
			testutil.ToFloat64(metrics.ReconcileErrors.WithLabelValues(w.name)),
			testutil.ToFloat64(metrics.TerminalReconcileErrors.WithLabelValues(w.name)),
			testutil.ToFloat64(metrics.ReconcilePanics.WithLabelValues(w.name)),
			testutil.ToFloat64(metrics.ReconcileTimeouts.WithLabelValues(w.name)),
			testutil.ToFloat64(metrics.ActiveWorkers.WithLabelValues(w.name)),
			testutil.ToFloat64(metrics.WorkerCount.WithLabelValues(w.name))))
		for _, label := range []string{"success", "error", "requeue", "requeue_after"} {
			trace = append(trace, fmt.Sprintf("%s %v", label, testutil.ToFloat64(metrics.ReconcileTotal.WithLabelValues(w.name, label))))
		}
		trace = append(trace, fmt.Sprint("stopped: ", w.stop()))
	})
	return trace
}

// jitter keeps apart what would otherwise be due, or end, at one time: which of
// these comes first is nobody's promise. It is the same for both sides.
func jitter(name string, call int) time.Duration {
	h := fnv.New32a()
	fmt.Fprint(h, name, call)
	return 1 + time.Duration(h.Sum32()%100_000)
}

// TestSameAsControllerRuntime runs random programs on both controllers, each on its
// own queues, and compares which requests came when.
func TestSameAsControllerRuntime(t *testing.T) {
	for run := 0; run < programs; {
		rapid.Check(t, func(rt *rapid.T) {
			run++
			p := drawProgram(rt)
			want, got := p.run(t, "upstream"), p.run(t, "chapters")
			if !slices.Equal(want, got) {
				rt.Fatalf("upstream:\n%s\n\nours:\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}
