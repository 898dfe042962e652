package processor_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/handledeltas"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
)

// layer is the whole chapter: what an informer does with the deltas it pops.
type layer struct {
	*processor.Processor
	store *indexer.Indexer
}

func newLayer(resync time.Duration) layer {
	return layer{processor.New(resync), indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, nil)}
}

func (l layer) handle(t *testing.T, deltas ...cache.Delta) {
	t.Helper()
	require.NoError(t, handledeltas.HandleDeltas(l.Processor, l.store, deltas, false))
	l.Flush()
	synctest.Wait()
}

// relist says it in both ways that queues have: one delta for each object, or
// one for all.
var relist = map[string]func(objs ...any) []cache.Delta{
	"Replaced": func(objs ...any) (deltas []cache.Delta) {
		for _, obj := range objs {
			deltas = append(deltas, cache.Delta{Type: cache.Replaced, Object: obj})
		}
		return deltas
	},
	"ReplacedAll": func(objs ...any) []cache.Delta {
		return []cache.Delta{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: objs}}}
	},
}

func TestB54_UpdatesFoundByRelistAreDelivered(t *testing.T) {
	for how, relist := range relist {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLayer(time.Hour)
				never, hourly := &recorder{}, &recorder{}
				addResyncing(l, never, 0)
				addResyncing(l, hourly, time.Hour)
				run(t, l)
				l.handle(t, relist(pod("a", "1"))...)
				l.ShouldResync()
				l.handle(t, relist(pod("a", "2"))...)
				want := []string{"add a1 initial=false", "update a1 to a2"}
				assert.Equal(t, want, never.got())
				assert.Equal(t, want, hourly.got())
			})
		})
	}
}

func TestB55_RelistWithoutChangesIsForThoseWhoseResyncIsDue(t *testing.T) {
	for how, relist := range relist {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLayer(time.Hour)
				never, hourly := &recorder{}, &recorder{}
				addResyncing(l, never, 0)
				addResyncing(l, hourly, time.Hour)
				run(t, l)
				l.handle(t, relist(pod("a", "1"))...)
				never.got()
				hourly.got()

				l.handle(t, relist(pod("a", "1"))...)
				assert.Len(t, never.got(), 1, "until the first check everyone counts as due")
				assert.Len(t, hourly.got(), 1)

				require.False(t, l.ShouldResync())
				l.handle(t, relist(pod("a", "1"))...)
				assert.Empty(t, never.got())
				assert.Empty(t, hourly.got())

				time.Sleep(time.Hour)
				require.True(t, l.ShouldResync())
				l.handle(t, cache.Delta{Type: cache.SyncAll, Object: cache.SyncAllInfo{}})
				assert.Empty(t, never.got())
				assert.Equal(t, []string{"update a1 to a1"}, hourly.got())
				require.False(t, l.ShouldResync(), "the next one is an hour away")
			})
		})
	}
}

func TestB60_TombstonesReachEveryHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLayer(0)
		h := &recorder{}
		addHandler(l, h)
		run(t, l)
		l.handle(t, cache.Delta{Type: cache.Added, Object: pod("a", "1")})
		l.handle(t, relist["ReplacedAll"]()...)
		assert.Equal(t, []string{"add a1 initial=false", "delete tombstone ns/a"}, h.got())
	})
}

// Upstream never counts the panicking add as finished, so the handler is
// unsynced for ever.
func TestB69_PanicInAnInitialAddDoesNotKeepTheHandlerUnsynced(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		panics := dontCrash(t)
		var at []time.Duration
		start := time.Now()
		h := &recorder{before: func(event string) {
			at = append(at, time.Since(start))
			if strings.HasPrefix(event, "add a") {
				panic("no a please")
			}
		}}
		registration := addHandler(p, h)
		run(t, p)
		for _, name := range []string{"a", "b", "c"} {
			p.OnAdd(pod(name, "1"), true)
		}
		p.Flush()
		p.Synced()
		<-registration.HasSyncedChecker().Done()
		assert.Equal(t, []string{"add b1 initial=true", "add c1 initial=true"}, h.got(), "the panic costs one event")
		assert.Equal(t, []time.Duration{0, time.Second, time.Second}, at, "and a pause of a second")
		assert.Equal(t, []any{"no a please"}, panics())
	})
}

func TestStopDoesNotWaitForThePauseAfterAPanic(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		dontCrash(t)
		h := &recorder{before: func(string) { panic("always") }}
		addHandler(p, h)
		stop := run(t, p)
		p.OnAdd(1, false)
		p.OnAdd(2, false)
		p.Flush()
		synctest.Wait()
		start := time.Now()
		stop()
		assert.Zero(t, time.Since(start))
	})
}

// TestPanicEndsTheProcess runs itself in a process that is meant to die.
func TestPanicEndsTheProcess(t *testing.T) {
	const inside = "PROCESSOR_TEST_PANIC"
	if os.Getenv(inside) != "" {
		p := processor.New(0)
		addHandler(p, &recorder{before: func(string) { panic("handler bug") }})
		p.OnAdd(1, false)
		p.Flush()
		p.Run(t.Context())
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestPanicEndsTheProcess$")
	cmd.Env = append(os.Environ(), inside+"=1")
	output, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "it must die, not hang")
	assert.Contains(t, string(output), "panic: handler bug")
	assert.Contains(t, string(output), `handler="informer + event handler *processor_test.recorder"`, "the log names the handler")
}

func TestB70_EventsBeforeRun(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		h := &recorder{}
		registration := addHandler(p, h, pod("first", "1"))
		for i := range 5000 {
			p.OnAdd(i, true)
			p.Flush()
		}
		p.Synced()
		run(t, p)
		<-registration.HasSyncedChecker().Done()
		events := h.got()
		require.Len(t, events, 5001)
		assert.Equal(t, "add first1 initial=true", events[0])
		assert.Equal(t, "add 4999 initial=true", events[5000])
	})
	bubble(t, func(t *testing.T, p *processor.Processor) {
		registration := addHandler(p, &recorder{})
		p.OnAdd(1, true)
		p.Flush()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p.Run(ctx)
		<-registration.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
	})
}

// onlyRemoves is as much of an informer as cache.ShutDownEventHandler needs.
type onlyRemoves struct {
	cache.SharedInformer
	p *processor.Processor
}

func (o onlyRemoves) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	return o.p.Remove(r)
}

func TestB72_RemovedHandlersAreGone(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		h := &recorder{}
		never := addHandler(p, &recorder{})
		require.NoError(t, p.Remove(never), "before the start")
		<-never.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
		stop := run(t, p)
		synctest.Wait()
		before := runtime.NumGoroutine()
		for range 100 {
			r := addHandler(p, h)
			require.NoError(t, p.Remove(r))
			require.NoError(t, p.Remove(r), "twice")
		}
		synctest.Wait()
		assert.Less(t, runtime.NumGoroutine(), before+50, "a hundred handlers came and went; a few goroutines may be anybody's")
		p.OnAdd(1, false)
		p.Flush()
		synctest.Wait()
		assert.Empty(t, h.got())

		last := addHandler(p, h)
		require.NoError(t, p.Remove(addHandler(processor.New(0), h)), "another processor's")
		assert.ErrorContains(t, p.Remove(nil), "can't remove a handler by a <nil>")
		assert.ErrorContains(t, p.Remove(foreign{}), "can't remove a handler by a processor_test.foreign")
		p.OnAdd(2, false)
		p.Flush()
		synctest.Wait()
		assert.Equal(t, []string{"add 2 initial=false"}, h.got(), "the others stay")
		stop()
		require.NoError(t, p.Remove(last), "after the stop")
	})
}

type foreign struct {
	cache.ResourceEventHandlerRegistration
}

func TestB72_ShutDownEventHandlerWaitsForTheCall(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		release := make(chan struct{})
		h := &recorder{before: func(string) { <-release }}
		registration := addHandler(p, h)
		run(t, p)
		p.OnAdd(1, false)
		p.OnAdd(2, false)
		p.Flush()
		synctest.Wait()
		done := make(chan error, 1)
		go func() { done <- cache.ShutDownEventHandler(onlyRemoves{p: p}, registration) }()
		synctest.Wait()
		assert.Empty(t, done, "the call is running")
		close(release)
		require.NoError(t, <-done)
		assert.Equal(t, []string{"add 1 initial=false"}, h.got(), "what was queued is dropped")
	})
}

func TestB74_HandlersAddedWhileRunStarts(t *testing.T) {
	p := processor.New(0)
	var blockDeltas sync.Mutex // the informer's, around everything that is reported or added
	var stored []any
	handlers := make([]*recorder, 50)
	registrations := make([]cache.ResourceEventHandlerRegistration, len(handlers))
	var adding sync.WaitGroup
	for i := range handlers {
		handlers[i] = &recorder{}
		adding.Go(func() {
			blockDeltas.Lock()
			defer blockDeltas.Unlock()
			registrations[i] = addHandler(p, handlers[i], stored...)
		})
	}
	run(t, p)
	var want []string
	for i := range 100 {
		blockDeltas.Lock()
		stored = append(stored, i)
		p.OnAdd(i, true)
		p.Flush()
		blockDeltas.Unlock()
		want = append(want, fmt.Sprintf("add %d initial=true", i))
	}
	adding.Wait()
	p.Synced()
	for i, r := range registrations {
		<-r.HasSyncedChecker().Done()
		assert.Equal(t, want, handlers[i].got(), "everything once, in order")
	}
}

func TestB75_BlockedHandlerBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLayer(0)
		release := make(chan struct{})
		blocked, quick := &recorder{before: func(string) { <-release }}, &recorder{}
		addHandler(l, blocked)
		addHandler(l, quick)
		stop := run(t, l)
		for i := range 10_000 {
			require.NoError(t, handledeltas.HandleDeltas(l, l.store, []cache.Delta{{Type: cache.Added, Object: pod(fmt.Sprint("p", i), "1")}}, false))
			l.Flush()
		}
		synctest.Wait()
		assert.Len(t, quick.got(), 10_000)
		assert.Len(t, l.store.ListKeys(), 10_000)

		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		synctest.Wait()
		select {
		case <-stopped:
			t.Fatal("Run must wait for the call that is running")
		default:
		}
		close(release)
		<-stopped
		assert.Len(t, blocked.got(), 1, "and for that one only: what waits is dropped")
	})
}

func TestPauseAfterAPanicIsNotCalledSlow(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		dontCrash(t)
		lines := 0
		logger := funcr.New(func(_, _ string) { lines++ }, funcr.Options{})
		h := &recorder{before: func(event string) {
			if event == "add 0 initial=false" {
				panic("once")
			}
			time.Sleep(time.Millisecond) // many short calls are no slow one
		}}
		p.Add(h, cache.HandlerOptions{Logger: &logger}, "panics", nil, false)
		stop := run(t, p)
		for i := range 2000 {
			p.OnAdd(i, false)
		}
		p.Flush()
		time.Sleep(10 * time.Second)
		stop()
		assert.Len(t, h.got(), 1999)
		assert.Zero(t, lines)
	})
}
