package informertest

import (
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

var relists = map[string]scenario{
	"a watch that ends is taken up where it was": func(w *world) {
		w.serve("a")
		r, _ := w.handle()
		w.run()
		w.sleep(10 * time.Second) // a watch that ends at once is not taken up
		release := w.server.HoldWatches()
		w.server.CloseWatches()
		synctest.Wait()
		w.server.Update(labelled("a", "x"))
		w.serve("b")
		release()
		w.sleep(time.Minute)
		assert.Equal(w, []string{"add ns/a 1 initial", "update ns/a 1-2", "add ns/b 3"}, r.take())
	},

	"B54 a change that only the next list shows": func(w *world) {
		w.serve("a")
		r, _ := w.handle()
		zero, err := w.informer.AddEventHandlerWithResyncPeriod(&recorder{}, 0)
		require.NoError(w, err)
		w.run()
		assert.True(w, zero.HasSynced())
		assert.Equal(w, []string{"add ns/a 1 initial"}, r.take())
		w.miss(func() { w.server.Update(labelled("a", "x")) })
		assert.Equal(w, []string{"update ns/a 1-2"}, r.take())
	},

	"B55 a list that shows no change": func(w *world) {
		w.informer = w.newPodInformer(time.Hour)
		w.serve("a")
		var never, hourly recorder
		_, err := w.informer.AddEventHandlerWithResyncPeriod(&never, 0)
		require.NoError(w, err)
		_, err = w.informer.AddEventHandler(&hourly)
		require.NoError(w, err)
		w.run()
		never.take()
		hourly.take()

		// As in client-go, a new handler counts as one that is being resynced until
		// a resync is considered for the first time.
		w.miss(func() {})
		assert.Equal(w, []string{"update ns/a 1-1"}, never.take())
		assert.Equal(w, []string{"update ns/a 1-1"}, hourly.take())

		w.sleep(90 * time.Minute)
		assert.Empty(w, never.take())
		assert.Equal(w, []string{"update ns/a 1-1"}, hourly.take(), "its resync")

		// From now on the first check has been; hourly is between two resyncs only
		// after a check at which nothing was due.
		w.miss(func() {})
		assert.Empty(w, never.take(), "nothing has changed")
	},

	"B60 a deletion that only the next list shows": func(w *world) {
		w.serve("a", "b")
		var tombstones []any
		filtered := &recorder{}
		r, _ := w.handle()
		for _, h := range []cache.ResourceEventHandler{
			cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) { tombstones = append(tombstones, obj) }},
			cache.FilteringResourceEventHandler{
				FilterFunc: func(obj any) bool {
					if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
						obj = t.Obj
					}
					return obj.(*corev1.Pod).Name == "a"
				},
				Handler: filtered,
			},
		} {
			_, err := w.informer.AddEventHandler(h)
			require.NoError(w, err)
		}
		w.run()
		r.take()
		filtered.take()

		w.miss(func() { w.server.Delete(pod("a")) })
		assert.Contains(w, r.take(), "gone ns/a 1")
		assert.Equal(w, []string{"gone ns/a 1"}, filtered.take())
		assert.Equal(w, []string{"ns/b"}, w.informer.GetStore().ListKeys())
		require.Len(w, tombstones, 1)
		k, err := cache.DeletionHandlingMetaNamespaceKeyFunc(tombstones[0])
		require.NoError(w, err)
		assert.Equal(w, "ns/a", k)
		assert.Equal(w, "1", version(tombstones[0].(cache.DeletedFinalStateUnknown).Obj), "the last state that was known")
	},

	"B60 typed handlers": func(w *world) {
		typed := cache.NewTypedSharedIndexInformer[*corev1.Pod](w.informer)
		h := &typedRecorder{}
		_, err := typed.AddTypedEventHandler(h)
		require.NoError(w, err)
		w.serve("a")
		w.run()
		w.miss(func() { w.server.Delete(pod("a")) })
		assert.Equal(w, []string{"add a", "delete a"}, h.lines)
	},

	"an object that went and came back unseen": func(w *world) {
		w.serve("a")
		r, _ := w.handle()
		w.run()
		r.take()
		w.miss(func() {
			w.server.Delete(pod("a"))
			w.serve("a")
		})
		assert.Equal(w, []string{"update ns/a 1-3"}, r.take(), "a list can't tell this from a change")
	},

	"a deletion of what was never seen": func(w *world) {
		r, _ := w.handle()
		w.serve("a")
		w.run()
		r.take()
		ghost := pod("ghost")
		ghost.ResourceVersion = "9"
		w.server.Send(deleted(ghost))
		w.serve("b")
		synctest.Wait()
		if w.InOrder {
			assert.Equal(w, []string{"delete ns/ghost 9", "add ns/b 2"}, r.take())
		} else {
			assert.Equal(w, []string{"add ns/b 2"}, r.take())
		}
	},

	"everything at once": func(w *world) {
		w.serve("keep", "change", "drop")
		r, _ := w.handle()
		w.run()
		r.take()
		w.miss(func() {
			w.server.Update(labelled("change", "x"))
			w.server.Delete(pod("drop"))
			w.serve("new")
		})
		assert.Equal(w, []string{"add ns/new 6", "gone ns/drop 3", "update ns/change 2-4", "update ns/keep 1-1"}, r.sorted())
	},
}

type typedRecorder struct{ lines []string }

func (r *typedRecorder) OnAdd(p *corev1.Pod, _ bool) { r.lines = append(r.lines, "add "+p.Name) }
func (r *typedRecorder) OnUpdate(_, p *corev1.Pod)   { r.lines = append(r.lines, "update "+p.Name) }
func (r *typedRecorder) OnDelete(d cache.DeletedObject[*corev1.Pod]) {
	r.lines = append(r.lines, "delete "+d.GetName())
}
