package informertest

import (
	"context"
	"sync"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

var panics = map[string]scenario{
	"B58 a panic in the store reaches the caller of Run": func(w *world) {
		require.NoError(w, w.informer.AddIndexers(cache.Indexers{"explosive": explode}))
		w.serve("a")
		w.handle()
		panicked, cancel := w.runPanicking()
		synctest.Wait()
		assert.Empty(w, panicked)
		w.serve("bad")
		synctest.Wait()
		require.Len(w, panicked, 1, "at once, without the context's end")
		assert.Contains(w, <-panicked, "bad is explosive")
		cancel()
	},

	"B58 already in the first list": func(w *world) {
		require.NoError(w, w.informer.AddIndexers(cache.Indexers{"explosive": explode}))
		w.serve("a", "bad", "c")
		w.handle()
		panicked, cancel := w.runPanicking()
		synctest.Wait()
		require.Len(w, panicked, 1, "at once, without the context's end")
		assert.Contains(w, <-panicked, "bad is explosive")
		assert.True(w, w.informer.IsStopped())
		cancel()
	},

	"B69 a handler that panics in its first list": func(w *world) {
		w.surviveCrashes()
		w.serve("a", "b")
		var once sync.Once
		r := &recorder{before: func(string) { once.Do(func() { panic("handler") }) }}
		registration, err := w.informer.AddEventHandler(r)
		require.NoError(w, err)
		w.run()
		w.sleep(time.Minute)
		assert.True(w, w.informer.HasSynced())
		assert.Equal(w, !w.PanicLeavesUnsynced, registration.HasSynced())
		assert.Len(w, r.take(), 1, "the event that it panicked over is gone, the next one came")
		w.serve("c")
		w.sleep(time.Minute)
		assert.Equal(w, []string{"add ns/c 3"}, r.take())
	},

	"a store that panics where that does not crash": func(w *world) {
		w.surviveCrashes()
		require.NoError(w, w.informer.AddIndexers(cache.Indexers{"explosive": explode}))
		w.serve("a")
		r, _ := w.handle()
		w.run()
		r.take()
		w.serve("bad")
		w.sleep(time.Minute)
		w.serve("b")
		w.sleep(time.Minute)
		assert.Contains(w, r.take(), "add ns/b 3", "the loop goes on")
	},
}

// runPanicking runs the informer where a panic can be caught.
func (w *world) runPanicking() (panicked chan any, cancel func()) {
	ctx, cancelCtx := context.WithCancel(w.Context())
	w.Cleanup(cancelCtx)
	panicked = make(chan any, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				panicked <- v
			}
		}()
		w.informer.RunWithContext(ctx)
	}()
	return panicked, cancelCtx
}

// surviveCrashes makes panics of this scenario end with a log line.
func (w *world) surviveCrashes() {
	really, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	w.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = really, handlers })
}

// explode is an index function that panics over one pod.
func explode(obj any) ([]string, error) {
	if obj.(*corev1.Pod).Name == "bad" {
		panic("bad is explosive")
	}
	return nil, nil
}
