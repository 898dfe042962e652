package informertest

import (
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

var syncing = map[string]scenario{
	"B24 a registration is synced when its handler has seen the first list": func(w *world) {
		w.serve("a", "b", "c")
		gate := make(chan struct{})
		r := &recorder{before: func(string) { <-gate }}
		registration, err := w.informer.AddEventHandler(r)
		require.NoError(w, err)
		assert.False(w, registration.HasSynced(), "before the start")

		w.run()
		assert.Equal(w, !w.HandlersInPlace, w.informer.HasSynced(), "the store has the whole list unless a slow handler stops the queue")
		assert.False(w, registration.HasSynced(), "the handler is at its first object")
		assert.False(w, cache.IsDone(registration.HasSyncedChecker()))

		close(gate)
		synctest.Wait()
		assert.True(w, w.informer.HasSynced())
		assert.True(w, registration.HasSynced())
		assert.True(w, cache.IsDone(registration.HasSyncedChecker()))
		assert.Equal(w, []string{"add ns/a 1 initial", "add ns/b 2 initial", "add ns/c 3 initial"}, r.sorted())

		w.serve("d")
		synctest.Wait()
		assert.Equal(w, []string{"add ns/d 4"}, r.take(), "what comes later is not in the initial list")
	},

	"B24 at the last object": func(w *world) {
		if w.HandlersInPlace {
			return // the blocked handler holds the queue's lock, and nothing can be asked
		}
		w.serve("a")
		gate := make(chan struct{})
		registration, err := w.informer.AddEventHandler(&recorder{before: func(string) { <-gate }})
		require.NoError(w, err)
		w.run()
		assert.True(w, w.informer.HasSynced())
		assert.False(w, registration.HasSynced(), "the handler has begun but not ended its last object")
		close(gate)
		synctest.Wait()
		assert.True(w, registration.HasSynced())
	},

	"B24 an empty list is a list": func(w *world) {
		_, registration := w.handle()
		assert.False(w, w.informer.HasSynced(), "nothing was listed yet")
		w.run()
		assert.True(w, w.informer.HasSynced())
		assert.True(w, registration.HasSynced())
	},

	"nothing is synced while the list is on its way": func(w *world) {
		w.serve("a")
		hold := w.server.HoldLists
		if w.watchList {
			hold = w.server.HoldWatches
		}
		release := hold()
		_, early := w.handle()
		w.run()
		_, late := w.handle()
		for _, synced := range []bool{w.informer.HasSynced(), w.informer.GetController().HasSynced(), early.HasSynced(), late.HasSynced()} {
			assert.False(w, synced)
		}
		release()
		synctest.Wait()
		for _, synced := range []bool{w.informer.HasSynced(), w.informer.GetController().HasSynced(), early.HasSynced(), late.HasSynced()} {
			assert.True(w, synced)
		}
	},

	"checkers have names": func(w *world) {
		_, registration := w.handle()
		assert.Equal(w, "SharedIndexInformer *v1.Pod", w.informer.HasSyncedChecker().Name())
		assert.Equal(w, "SharedIndexInformer *v1.Pod", w.informer.GetController().HasSyncedChecker().Name())
		assert.Equal(w, "SharedIndexInformer *v1.Pod + event handler github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run/informertest.recorder",
			registration.HasSyncedChecker().Name())
	},
}
