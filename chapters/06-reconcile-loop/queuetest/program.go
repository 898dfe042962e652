// Package queuetest runs one program on several queues and says what could be seen
// of each, so that tests can compare them.
package queuetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// Queue is what is tested.
type Queue = workqueue.TypedRateLimitingInterface[string]

var named atomic.Int64

// Name is base with a number that no other call gets: a queue keeps the metrics
// that an older one of its name had.
func Name(base string) string { return fmt.Sprintf("%s-%d", base, named.Add(1)) }

// Op is what a step does.
type Op string

// The operations. Get waits in a goroutine of its own until something is handed
// out; Done ends the work on the item that was handed out Nth.
const (
	Add            Op = "Add"
	AddAfter       Op = "AddAfter"
	AddRateLimited Op = "AddRateLimited"
	AddWithOpts    Op = "AddWithOpts"
	Get            Op = "Get"
	Done           Op = "Done"
	Forget         Op = "Forget"
	Sleep          Op = "Sleep"
	ShutDown       Op = "ShutDown"
)

// Step is one call.
type Step struct {
	Op    Op
	Item  string
	Delay time.Duration
	Nth   int
	Opts  priorityqueue.AddOpts
}

// Program draws up to 60 steps. Steps with a priority are drawn only if asked for.
func Program(rt *rapid.T, priorities bool) []Step {
	ops := []Op{Add, Add, AddAfter, AddAfter, AddRateLimited, Get, Get, Get, Done, Done, Forget, Sleep, Sleep}
	if priorities {
		ops = append(ops, AddWithOpts, AddWithOpts, AddWithOpts, AddWithOpts)
	}
	steps := make([]Step, rapid.IntRange(1, 60).Draw(rt, "steps"))
	for i := range steps {
		steps[i] = Step{
			Op:    rapid.SampledFrom(ops).Draw(rt, "op"),
			Item:  rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(rt, "item"),
			Delay: rapid.SampledFrom([]time.Duration{-time.Second, 0, time.Millisecond, 3 * time.Millisecond, 7 * time.Millisecond, time.Minute}).Draw(rt, "delay"),
			Nth:   rapid.IntRange(0, 4).Draw(rt, "nth"),
		}
		if steps[i].Op == AddWithOpts {
			steps[i].Opts = priorityqueue.AddOpts{After: steps[i].Delay, RateLimited: rapid.Bool().Draw(rt, "limited")}
			if rapid.Bool().Draw(rt, "with priority") {
				steps[i].Opts.Priority = new(rapid.IntRange(-2, 2).Draw(rt, "priority"))
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(rt, "shut down early") == 0 {
		steps = slices.Insert(steps, rapid.IntRange(0, len(steps)).Draw(rt, "when"), Step{Op: ShutDown})
	}
	return steps
}

// Run runs the program in virtual time on a queue of its own, and returns what was
// seen after each step: the time, what was handed out, and what the queue says of
// itself.
func Run(t *testing.T, newQueue func() Queue, program []Step) (trace []string) {
	synctest.Test(t, func(*testing.T) {
		r := runner{queue: newQueue(), handedOut: make(chan string, len(program)), items: make(chan string, len(program)), start: time.Now()}
		for _, step := range program {
			// So that no two items become due at one time: their order is nobody's promise.
			time.Sleep(time.Microsecond)
			r.do(step)
			synctest.Wait()
			trace = append(trace, r.observe(step))
		}
		time.Sleep(20 * time.Minute) // no limiter makes an item wait longer
		trace = append(trace, r.observe(Step{Op: "later"}))
		if !r.shut {
			r.queue.ShutDown()
		}
		synctest.Wait()
		trace = append(trace, r.observe(Step{Op: "end"}))
	})
	return trace
}

type runner struct {
	queue     Queue
	start     time.Time
	handedOut chan string // as it is printed
	items     chan string // as it is given back
	inWork    []string
	shut      bool
}

func (r *runner) do(step Step) {
	switch step.Op {
	case Add:
		r.queue.Add(step.Item)
	case AddAfter:
		r.queue.AddAfter(step.Item, step.Delay)
	case AddRateLimited:
		r.queue.AddRateLimited(step.Item)
	case AddWithOpts:
		r.queue.(priorityqueue.PriorityQueue[string]).AddWithOpts(step.Opts, step.Item)
	case Get:
		go r.get()
	case Done:
		if len(r.inWork) > 0 {
			i := step.Nth % len(r.inWork)
			r.queue.Done(r.inWork[i])
			r.inWork = slices.Delete(r.inWork, i, i+1)
		}
	case Forget:
		r.queue.Forget(step.Item)
	case Sleep:
		time.Sleep(max(0, step.Delay))
	case ShutDown:
		r.shut = true
		r.queue.ShutDown()
	}
}

func (r *runner) get() {
	var item string
	var priority int
	var shutdown bool
	if p, ok := r.queue.(priorityqueue.PriorityQueue[string]); ok {
		item, priority, shutdown = p.GetWithPriority()
	} else {
		item, shutdown = r.queue.Get()
	}
	if !shutdown {
		r.items <- item
	}
	r.handedOut <- fmt.Sprintf("%q priority=%d shutdown=%t at %s", item, priority, shutdown, time.Since(r.start))
}

func (r *runner) observe(step Step) string {
	var got []string
	for len(r.handedOut) > 0 {
		got = append(got, <-r.handedOut)
	}
	for len(r.items) > 0 {
		r.inWork = append(r.inWork, <-r.items)
	}
	// Two that wait in Get are served in no order.
	slices.Sort(got)
	slices.Sort(r.inWork)
	return fmt.Sprintf("%-14s %s: got %v, len %d, shutting down %t, requeues a=%d b=%d", step.Op, step.Item, got,
		r.queue.Len(), r.queue.ShuttingDown(), r.queue.NumRequeues("a"), r.queue.NumRequeues("b"))
}
