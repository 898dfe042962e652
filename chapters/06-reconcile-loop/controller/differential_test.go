package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// programs is how many random programs a run of the tests makes.
const programs = 300

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
			// No two requests end at one time: what becomes due at one time has no order.
			time.Sleep(a.takes + time.Duration(8*call+slices.Index(requestNames, r.Name))*time.Nanosecond)
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
		time.Sleep(time.Hour)
		synctest.Wait()
		// Workers that ran side by side wrote in no order.
		slices.Sort(trace)
		for _, name := range requestNames {
			trace = append(trace, fmt.Sprintf("%s: %d requeues", name, w.queue.NumRequeues(named(name))))
		}
		for _, metric := range []string{"reconcile_errors_total", "terminal_reconcile_errors_total", "reconcile_panics_total", "reconcile_timeouts_total", "active_workers", "max_concurrent_reconciles"} {
			trace = append(trace, fmt.Sprintf("%s %v", metric, w.counter(t, "controller_runtime_"+metric)))
		}
		trace = append(trace, fmt.Sprint("stopped: ", w.stop()))
	})
	return trace
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
