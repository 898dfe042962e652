package deltafifo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// op is one step of a random program.
type op struct {
	call  string
	obj   any
	list  []any
	calls []op // beside a PopAll
}

var popAll = "PopAll"

// odd is what a queue gets by mistake. A delta of deltas is left out: RealFIFO
// takes its key in Pop and not in PopBatch, and nobody queues one.
var odd = []any{
	item{}, cache.Deltas{}, 7, nil,
	cache.DeletedFinalStateUnknown{Key: "b", Obj: item{Key: "b", Version: 1}},
}

func anyItem() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 30).Draw(t, "odd") == 0 {
			return rapid.SampledFrom(odd).Draw(t, "obj")
		}
		return item{
			Key:     rapid.SampledFrom([]string{"a", "b", "c", "d", "broken"}).Draw(t, "key"),
			Version: rapid.IntRange(0, 50).Draw(t, "version"),
		}
	})
}

func anyOp(calls ...string) *rapid.Generator[op] {
	return rapid.Custom(func(t *rapid.T) op {
		o := op{call: rapid.SampledFrom(calls).Draw(t, "call")}
		switch o.call {
		case "Add", "Update", "Delete":
			o.obj = anyItem().Draw(t, "obj")
		case "Replace":
			o.list = rapid.SliceOfN(anyItem(), 0, 5).Draw(t, "list")
		case popAll:
			o.calls = rapid.SliceOfN(anyOp("Add", "Update", "Delete", "Replace", "Resync"), 0, 3).Draw(t, "beside")
		}
		return o
	})
}

// subject is a queue under comparison with its consumer's store.
type subject struct {
	queue cache.Queue
	known *known
}

func (s subject) write(o op) string {
	var err error
	switch o.call {
	case "Add":
		err = s.queue.Add(o.obj)
	case "Update":
		err = s.queue.Update(o.obj)
	case "Delete":
		err = s.queue.Delete(o.obj)
	case "Replace":
		err = s.queue.Replace(append([]any{}, o.list...), "7")
	case "Resync":
		err = s.queue.Resync()
	case "Bookmark":
		err = s.queue.(cache.ReflectorBookmarkStore).Bookmark("8")
	}
	return fmt.Sprintf("%v", err)
}

var errProcess = errors.New("process failed")

// fails makes the consumer fail sometimes; what it was given is gone all the same.
func fails(deltas []cache.Delta) error {
	if i, ok := deltas[0].Object.(item); ok && i.Version%11 == 0 {
		return errProcess
	}
	return nil
}

func (s subject) pop() string {
	out := ""
	got, err := s.queue.Pop(func(obj any, initial bool) error {
		deltas := obj.(cache.Deltas)
		out = fmt.Sprintf("%s initial=%t", show(deltas), initial)
		s.known.apply(deltas)
		return fails(deltas)
	})
	deltas, _ := got.(cache.Deltas)
	return fmt.Sprintf("%s returned=%s err=%v", out, show(deltas), err)
}

func (s subject) popBatch() string {
	out := ""
	err := s.queue.(cache.QueueWithBatch).PopBatch(func(deltas []cache.Delta, initial bool) error {
		out = fmt.Sprintf("batch %s initial=%t", show(deltas), initial)
		s.known.apply(deltas)
		return fails(deltas)
	}, func(obj any, initial bool) error {
		deltas := obj.(cache.Deltas)
		out = fmt.Sprintf("single %s initial=%t", show(deltas), initial)
		s.known.apply(deltas)
		return fails(deltas)
	})
	return fmt.Sprintf("%s err=%v", out, err)
}

// popAll takes all at once from ours, with calls beside the batch.
func (s subject) popAll(calls []op) string {
	out, results := "", make([]string, len(calls))
	done := make(chan struct{})
	err := s.queue.(interface {
		PopAll(func([]cache.Delta, bool) error) error
	}).PopAll(func(deltas []cache.Delta, initial bool) error {
		out = fmt.Sprintf("%s initial=%t", show(deltas), initial)
		go func() {
			defer close(done)
			for i, c := range calls {
				results[i] = s.write(c)
			}
		}()
		synctest.Wait() // the calls are through, or one of them waits for this batch
		s.known.apply(deltas)
		return errProcess
	})
	if out == "" {
		return fmt.Sprintf("err=%v", err)
	}
	<-done
	return out + strings.Join(results, ",")
}

// popEach is the same on a queue that pops one by one: everything queued, or
// the initial list, and then the calls.
func (s subject) popEach(calls []op) string {
	out, initial := "", false
	for first := true; ; first = false {
		if initial && s.queue.HasSynced() {
			break
		}
		_, err := s.queue.Pop(func(obj any, isInInitialList bool) error {
			if first {
				initial = isInInitialList
			}
			out += show(obj.(cache.Deltas))
			s.known.apply(obj.(cache.Deltas))
			return nil
		})
		if err != nil && first {
			return fmt.Sprintf("err=%v", err)
		}
		if err != nil {
			break
		}
	}
	results := make([]string, len(calls))
	for i, c := range calls {
		results[i] = s.write(c)
	}
	return out + fmt.Sprintf(" initial=%t", initial) + strings.Join(results, ",")
}

// compare runs a program on both and returns the first step that differs.
func compare(program []op, ours, upstreams subject) string {
	// A closed queue takes everything, and an empty one answers instead of waiting.
	ours.queue.Close()
	upstreams.queue.Close()
	program = append(program, op{call: popAll}, op{call: popAll}, op{call: "Pop"})
	for i, o := range program {
		var got, want string
		switch o.call {
		case popAll:
			got, want = ours.popAll(o.calls), upstreams.popEach(o.calls)
		case "Pop":
			got, want = ours.pop(), upstreams.pop()
		case "PopBatch":
			got, want = ours.popBatch(), upstreams.popBatch()
		default:
			got, want = ours.write(o), upstreams.write(o)
		}
		got += fmt.Sprintf(" synced=%t", ours.queue.HasSynced())
		want += fmt.Sprintf(" synced=%t", upstreams.queue.HasSynced())
		if got != want {
			return fmt.Sprintf("step %d %+v:\n ours: %s\nclient-go: %s", i, o, got, want)
		}
	}
	select {
	case <-ours.queue.HasSyncedChecker().Done():
	default:
		if upstreams.queue.HasSynced() {
			return "client-go is done, ours is not"
		}
	}
	return ""
}

func checkPrograms(t *testing.T, calls []string, make func(t *rapid.T) func() (ours, upstreams subject)) {
	rapid.Check(t, func(rt *rapid.T) {
		subjects := make(rt)
		program := rapid.SliceOfN(anyOp(calls...), 1, 25).Draw(rt, "program")
		difference := ""
		synctest.Test(t, func(*testing.T) {
			ours, upstreams := subjects()
			difference = compare(program, ours, upstreams)
		})
		if difference != "" {
			rt.Fatal(difference)
		}
	})
}

func newKnown(ghost bool) *known {
	return &known{items: map[string]item{"a": {"a", 1, true}, "broken": {"broken", 1, true}}, ghost: ghost}
}

func anyTransformer(t *rapid.T) cache.TransformFunc {
	if rapid.Bool().Draw(t, "transform") {
		return stamp
	}
	return nil
}

func TestDeltaFIFOLikeClientGos(t *testing.T) {
	checkPrograms(t, []string{"Add", "Update", "Delete", "Delete", "Replace", "Resync", "Pop", popAll}, func(t *rapid.T) func() (ours, upstreams subject) {
		replaced := rapid.Bool().Draw(t, "replaced")
		knows := rapid.Bool().Draw(t, "knows")
		ghost := rapid.Bool().Draw(t, "ghost")
		transformer := anyTransformer(t)
		return func() (ours, upstreams subject) {
			a, b := newKnown(ghost), newKnown(ghost)
			o := Options{KeyFunction: itemKey, EmitDeltaTypeReplaced: replaced, Transformer: transformer}
			u := cache.DeltaFIFOOptions{KeyFunction: itemKey, EmitDeltaTypeReplaced: replaced, Transformer: transformer}
			if knows {
				o.KnownObjects, u.KnownObjects = a, b
			}
			return subject{New(o), a}, subject{cache.NewDeltaFIFOWithOptions(u), b}
		}
	})
}

func TestInOrderLikeRealFIFO(t *testing.T) {
	checkPrograms(t, []string{"Add", "Update", "Delete", "Replace", "Resync", "Pop", "PopBatch", popAll}, func(t *rapid.T) func() (ours, upstreams subject) {
		ghost := rapid.Bool().Draw(t, "ghost")
		transformer := anyTransformer(t)
		return func() (ours, upstreams subject) {
			a, b := newKnown(ghost), newKnown(ghost)
			return subject{NewInOrder(InOrderOptions{KeyFunction: itemKey, KnownObjects: a, Transformer: transformer}), a},
				subject{cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: itemKey, KnownObjects: b, Transformer: transformer}), b}
		}
	})
}

func TestInOrderAtomicLikeRealFIFO(t *testing.T) {
	checkPrograms(t, []string{"Add", "Update", "Delete", "Replace", "Resync", "Bookmark", "Pop", "PopBatch", popAll}, func(t *rapid.T) func() (ours, upstreams subject) {
		bookmarks := rapid.Bool().Draw(t, "bookmarks")
		transformer := anyTransformer(t)
		return func() (ours, upstreams subject) {
			return subject{NewInOrder(InOrderOptions{KeyFunction: itemKey, Atomic: true, EmitDeltaTypeBookmark: bookmarks, Transformer: transformer}), newKnown(false)},
				subject{cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: itemKey, AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: bookmarks, Transformer: transformer}), newKnown(false)}
		}
	})
}
