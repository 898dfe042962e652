package informertest

import (
	"context"
	"fmt"
	"sync"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

var lifecycle = map[string]scenario{
	"it follows the server": func(w *world) {
		w.serve("a")
		r, _ := w.handle()
		w.run()
		for _, change := range []func(){
			func() { w.serve("b") },
			func() { w.server.Update(labelled("a", "x")) },
			func() { w.server.Delete(pod("b")) },
		} {
			if !w.InOrder {
				synctest.Wait() // a queue that sorts by object moves what comes fast
			}
			change()
		}
		synctest.Wait()
		assert.Equal(w, []string{"add ns/a 1 initial", "add ns/b 2", "update ns/a 1-3", "delete ns/b 4"}, r.take())
		assert.Equal(w, []string{"ns/a"}, w.informer.GetStore().ListKeys())
		obj, exists, err := w.informer.GetIndexer().GetByKey("ns/a")
		require.NoError(w, err)
		require.True(w, exists)
		assert.Equal(w, "x", obj.(*corev1.Pod).Labels["label"])
	},

	"the store is ahead of the handlers": func(w *world) {
		var wrong []string
		in := func(obj any) bool { _, exists, _ := w.informer.GetStore().Get(obj); return exists }
		_, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				if !in(obj) {
					wrong = append(wrong, "add "+key(obj))
				}
			},
			DeleteFunc: func(obj any) {
				if in(obj) {
					wrong = append(wrong, "delete "+key(obj))
				}
			},
		})
		require.NoError(w, err)
		w.serve("a")
		w.run()
		w.serve("b")
		synctest.Wait()
		w.server.Delete(pod("a"))
		synctest.Wait()
		assert.Empty(w, wrong)
	},

	"the resource version is the reflector's": func(w *world) {
		w.serve("a")
		versions := func() []string {
			return []string{w.informer.LastSyncResourceVersion(), w.informer.GetController().LastSyncResourceVersion()}
		}
		assert.Equal(w, []string{"", ""}, versions(), "before the start")
		w.run()
		assert.Equal(w, []string{"1", "1"}, versions())
		w.serve("b")
		synctest.Wait()
		assert.Equal(w, []string{"2", "2"}, versions())
		w.server.Advance(7)
		w.server.Bookmark()
		synctest.Wait()
		assert.Equal(w, []string{"9", "9"}, versions(), "a bookmark counts")
	},

	"its controller can't be run": func(w *world) {
		w.informer.GetController().Run(make(chan struct{}))
		w.informer.GetController().RunWithContext(w.Context())
		assert.Empty(w, w.server.Requests())
		assert.False(w, w.informer.HasSynced())
	},

	"Run takes a channel": func(w *world) {
		w.serve("a")
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { defer close(done); w.informer.Run(stop) }()
		synctest.Wait()
		assert.True(w, w.informer.HasSynced())
		assert.False(w, w.informer.IsStopped())
		close(stop)
		<-done
		assert.True(w, w.informer.IsStopped())
	},

	"it runs once": func(w *world) {
		w.serve("a")
		r, _ := w.handle()
		assert.False(w, w.informer.IsStopped())
		w.run()
		assert.False(w, w.informer.IsStopped())
		w.informer.RunWithContext(w.Context()) // returns at once, or the bubble is stuck
		assert.False(w, w.informer.IsStopped(), "a second Run does not end the first")
		w.serve("b")
		synctest.Wait()
		assert.Equal(w, []string{"add ns/a 1 initial", "add ns/b 2"}, r.take())
		w.end()
		assert.True(w, w.informer.IsStopped())
		requests := len(w.server.Requests())
		w.informer.RunWithContext(w.Context())
		assert.Len(w, w.server.Requests(), requests, "and not after its end either")
	},

	"stopped before it was started": func(w *world) {
		w.serve("a")
		r, _ := w.handle()
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		w.informer.RunWithContext(ctx)
		assert.True(w, w.informer.IsStopped())
		assert.Empty(w, r.take())
	},

	"a stop waits for the handler that runs": func(w *world) {
		w.serve("a", "b", "c")
		gate := make(chan struct{})
		r := &recorder{before: func(string) { <-gate }}
		_, err := w.informer.AddEventHandler(r)
		require.NoError(w, err)
		w.run()
		w.stop()
		if !w.HandlersInPlace { // there the handler holds locks that the end waits for, and no bubble can see that
			w.sleep(time.Hour)
			select {
			case <-w.done:
				assert.Fail(w, "Run returned while a handler was running")
			default:
			}
		}
		close(gate)
		<-w.done
		got := len(r.take())
		w.serve("d")
		w.sleep(time.Hour)
		assert.Empty(w, r.take(), "delivery after the end; %d before", got)
		if !w.HandlersInPlace { // there a batch goes to its end
			assert.LessOrEqual(w, got, 2, "what was undelivered is dropped: one call ran, one more may have been handed over")
		}
	},

	"B27 an informer that comes after the factory's start waits for the next": func(w *world) {
		factory := informers.NewSharedInformerFactory(nil, 0)
		maker := func(lw cache.ListerWatcher) func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			return func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
				return w.newInformer(lw, &corev1.Pod{}, resync, cache.Indexers{})
			}
		}
		first := factory.InformerFor(&corev1.Pod{}, maker(w.server))
		ctx, cancel := context.WithCancel(w.Context())
		factory.StartWithContext(ctx)
		synctest.Wait()
		assert.True(w, first.HasSynced())

		other := w.newServer(&corev1.PodList{})
		second := factory.InformerFor(&corev1.ConfigMap{}, maker(other))
		w.sleep(time.Hour)
		assert.False(w, second.HasSynced())
		assert.Empty(w, other.Requests())

		requests := len(w.server.Requests())
		factory.StartWithContext(ctx)
		synctest.Wait()
		assert.True(w, second.HasSynced())
		assert.Len(w, w.server.Requests(), requests, "the first informer was not started again")
		cancel()
		factory.Shutdown()
		assert.True(w, first.IsStopped())
		assert.True(w, second.IsStopped())
	},

	"B70 many events before the processor runs": func(w *world) {
		names := make([]string, 200)
		for i := range names {
			names[i] = fmt.Sprintf("pod-%d", i)
		}
		w.serve(names...)
		for range 5 { // whoever starts first: nobody waits for ever
			w.informer = w.newPodInformer(0)
			r, registration := w.handle()
			w.run()
			assert.True(w, registration.HasSynced())
			assert.Len(w, r.take(), len(names))
			w.end()
		}
		for range 5 {
			w.informer = w.newPodInformer(0)
			w.handle()
			ctx, cancel := context.WithCancel(w.Context())
			var wg sync.WaitGroup
			wg.Go(func() { w.informer.RunWithContext(ctx) })
			cancel()
			wg.Wait()
		}
	},

	"B75 a handler that blocks": func(w *world) {
		const n = 200
		for i := range n {
			w.serve(fmt.Sprintf("pod-%d", i))
		}
		gate := make(chan struct{})
		blocked := &recorder{before: func(string) { <-gate }}
		_, err := w.informer.AddEventHandler(blocked)
		require.NoError(w, err)
		free, _ := w.handle()
		w.run()

		if w.HandlersInPlace {
			assert.Empty(w, free.take(), "the other handler waits as well")
			if !w.InOrder { // an in-order queue may put the whole list into the store first
				assert.Less(w, len(w.informer.GetStore().ListKeys()), n, "and so does the store")
			}
			close(gate)
			return
		}
		assert.Len(w, free.take(), n)
		for i := range n {
			w.serve(fmt.Sprintf("late-%d", i))
		}
		synctest.Wait()
		assert.Len(w, free.take(), n)
		assert.Len(w, w.informer.GetStore().ListKeys(), 2*n)
		assert.Empty(w, blocked.take())

		w.stop()
		synctest.Wait()
		close(gate)
		<-w.done
		assert.LessOrEqual(w, len(blocked.take()), 2, "the call that ran, and one that was handed over; the others are dropped")
	},
}
