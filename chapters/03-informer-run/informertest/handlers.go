package informertest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

var joining = map[string]scenario{
	"B29 a late handler gets what is there and then what comes": func(w *world) {
		w.serve("a", "b")
		w.run()
		r, registration := w.handle()
		synctest.Wait()
		assert.Equal(w, []string{"add ns/a 1 initial", "add ns/b 2 initial"}, r.sorted())
		assert.True(w, registration.HasSynced())
		w.serve("c")
		w.server.Delete(pod("a"))
		synctest.Wait()
		assert.Equal(w, []string{"add ns/c 3", "delete ns/a 4"}, r.take())
	},

	"B29 a late registration is synced after its handler": func(w *world) {
		if w.HandlersInPlace {
			return // AddEventHandler itself waits for the handler
		}
		w.serve("a", "b")
		w.run()
		gate := make(chan struct{})
		registration, err := w.informer.AddEventHandler(&recorder{before: func(string) { <-gate }})
		require.NoError(w, err)
		synctest.Wait()
		assert.True(w, w.informer.HasSynced())
		assert.False(w, registration.HasSynced())
		close(gate)
		synctest.Wait()
		assert.True(w, registration.HasSynced())
	},

	"B29 nothing twice and nothing lost while events come": func(w *world) {
		const n, late = 200, 8
		w.serve("first")
		w.run()
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range n {
				w.serve(fmt.Sprintf("pod-%d", i))
				runtime.Gosched()
			}
		})
		recorders := make([]recorder, late)
		for i := range recorders {
			wg.Go(func() {
				_, err := w.informer.AddEventHandler(&recorders[i])
				assert.NoError(w, err)
			})
		}
		wg.Wait()
		synctest.Wait()
		for i := range recorders {
			assertEachOnce(w, n+1, recorders[i].take())
		}
	},

	"B74 handlers added while the informer starts": func(w *world) {
		const n = 50
		for i := range n {
			w.serve(fmt.Sprintf("pod-%d", i))
		}
		recorders := make([]recorder, 20)
		registrations := make([]cache.ResourceEventHandlerRegistration, len(recorders))
		var wg sync.WaitGroup
		for i := range recorders {
			wg.Go(func() {
				var err error
				registrations[i], err = w.informer.AddEventHandler(&recorders[i])
				assert.NoError(w, err)
			})
		}
		w.run()
		wg.Wait()
		synctest.Wait()
		for i := range recorders {
			assertEachOnce(w, n, recorders[i].take())
			assert.True(w, registrations[i].HasSynced())
		}
	},

	"B30 after the end": func(w *world) {
		w.serve("a")
		_, registration := w.handle()
		w.run()
		w.end()
		assert.True(w, w.informer.IsStopped())
		// In whatever words: this is where a hunt lets the reader write the error.
		_, err := w.informer.AddEventHandler(&recorder{})
		assert.Error(w, err, "a handler that will never be called")
		_, err = w.informer.AddEventHandlerWithResyncPeriod(&recorder{}, time.Minute)
		assert.Error(w, err, "a handler that will never be called")
		_, err = w.informer.AddEventHandlerWithOptions(&recorder{}, cache.HandlerOptions{})
		assert.Error(w, err, "a handler that will never be called")
		assert.ErrorContains(w, w.informer.AddIndexers(cache.Indexers{"i": byLabel}), "stopped already")
		assert.NoError(w, w.informer.RemoveEventHandler(registration))
		assert.NoError(w, w.informer.RemoveEventHandler(registration), "twice")
		assert.NoError(w, cache.ShutDownEventHandler(w.informer, registration), "it has ended")
	},

	"B30 foreign registrations": func(w *world) {
		other := w.newPodInformer(0)
		theirs, err := other.AddEventHandler(&recorder{})
		require.NoError(w, err)
		r, _ := w.handle()
		assert.NoError(w, w.informer.RemoveEventHandler(theirs), "one of another informer is not there")
		assert.Error(w, w.informer.RemoveEventHandler(alien{}), "one of another kind can't be")
		assert.Error(w, w.informer.RemoveEventHandler(nil))
		w.serve("a")
		w.run()
		assert.Equal(w, []string{"add ns/a 1 initial"}, r.take())
	},

	"B72 a handler is removed at any time": func(w *world) {
		w.serve("a")
		before, registration := w.handle()
		stays, _ := w.handle()
		require.NoError(w, w.informer.RemoveEventHandler(registration), "before the start")
		require.NoError(w, cache.ShutDownEventHandler(w.informer, registration), "it never ran")
		during, registration := w.handle()
		w.run()
		require.NoError(w, w.informer.RemoveEventHandler(registration))
		require.NoError(w, w.informer.RemoveEventHandler(registration), "twice")
		require.NoError(w, cache.ShutDownEventHandler(w.informer, registration))
		w.serve("b")
		synctest.Wait()
		assert.Empty(w, before.take())
		assert.Equal(w, []string{"add ns/a 1 initial"}, during.take())
		assert.Equal(w, []string{"add ns/a 1 initial", "add ns/b 2"}, stays.take())
	},

	"B72 a handler that is removed leaves nothing": func(w *world) {
		w.serve("a")
		w.run()
		goroutines := runtime.NumGoroutine()
		for range 100 {
			r, registration := w.handle()
			require.NoError(w, cache.ShutDownEventHandler(w.informer, registration))
			assert.LessOrEqual(w, len(r.take()), 1)
		}
		synctest.Wait()
		assert.Less(w, runtime.NumGoroutine(), goroutines+50, "100 handlers left less than a goroutine each; a few come and go elsewhere")
		w.serve("b")
		synctest.Wait()
		assert.Contains(w, w.informer.GetStore().ListKeys(), "ns/b")
	},

	"B72 shutting a handler down waits for its call": func(w *world) {
		w.run()
		gate, inside := make(chan struct{}), make(chan struct{})
		r := &recorder{before: func(string) { close(inside); <-gate }}
		registration, err := w.informer.AddEventHandler(r)
		require.NoError(w, err)
		w.serve("a")
		<-inside
		ended := make(chan error, 1)
		go func() { ended <- cache.ShutDownEventHandler(w.informer, registration) }()
		if !w.HandlersInPlace { // else the informer stands still, on a lock
			w.serve("b", "c")
		}
		synctest.Wait()
		assert.Empty(w, ended, "the handler is still running")
		close(gate)
		require.NoError(w, <-ended)
		assert.LessOrEqual(w, len(r.take()), 2, "what was not handed over is dropped")
	},

	"a handler may remove itself and ask the informer": func(w *world) {
		w.serve("a")
		w.run()
		var registration cache.ResourceEventHandlerRegistration
		var answers []any
		registration, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
			answers = append(answers, w.informer.IsStopped(), w.informer.HasSynced(), w.informer.LastSyncResourceVersion() != "",
				w.informer.RemoveEventHandler(registration))
		}})
		require.NoError(w, err)
		// Handlers that join meanwhile must not make it wait for them, nor they for it.
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { _, err := w.informer.AddEventHandler(&recorder{}); assert.NoError(w, err) })
		}
		w.server.Update(labelled("a", "x"))
		wg.Wait()
		synctest.Wait()
		w.server.Update(labelled("a", "y"))
		synctest.Wait()
		assert.Equal(w, []any{false, true, true, nil}, answers, "and it is called once")
	},

	"a nil handler": func(w *world) {
		_, err := w.informer.AddEventHandler(nil)
		if w.NilHandlerAccepted {
			assert.NoError(w, err)
			return
		}
		assert.EqualError(w, err, "SharedIndexInformer *v1.Pod: the event handler is nil; pass a cache.ResourceEventHandler")
	},
}

// assertEachOnce checks that there are n adds and nothing else, each object once.
func assertEachOnce(w *world, n int, lines []string) {
	w.Helper()
	var keys []string
	for _, line := range lines {
		var key string
		var version int
		_, err := fmt.Sscanf(line, "add %s %d", &key, &version)
		require.NoError(w, err, line)
		keys = append(keys, key)
	}
	slices.Sort(keys)
	assert.Len(w, slices.Compact(keys), n)
	assert.Len(w, lines, n)
}

// alien is a registration that no informer made.
type alien struct{}

func (alien) HasSynced() bool                     { return false }
func (alien) HasSyncedChecker() cache.DoneChecker { return nil }
