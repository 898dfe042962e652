package informertest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var settings = map[string]scenario{
	"B25 set while the informer starts": func(w *world) {
		w.serve("a")
		var old, young atomic.Int32
		count := func(n *atomic.Int32) cache.TransformFunc {
			return func(obj any) (any, error) { n.Add(1); return obj, nil }
		}
		require.NoError(w, w.informer.SetTransform(count(&old)))
		var wg sync.WaitGroup
		var raced error
		wg.Go(func() { raced = w.informer.SetTransform(count(&young)) })
		wg.Go(func() { _ = w.informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}) })
		w.run()
		wg.Wait()
		if raced == nil {
			assert.Zero(w, old.Load(), "the last one wins")
		} else {
			assert.Zero(w, young.Load(), "who comes too late is told")
		}
		assert.NotZero(w, old.Load()+young.Load())
	},

	"B25 after the start": func(w *world) {
		w.serve("a")
		require.NoError(w, w.informer.SetTransform(label("old")))
		w.run()
		assert.ErrorContains(w, w.informer.SetTransform(label("new")), "already started")
		assert.Error(w, w.informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
		assert.Error(w, w.informer.SetWatchErrorHandlerWithContext(nil))
		w.serve("b")
		synctest.Wait()
		assert.Equal(w, map[string]string{"ns/a": "old", "ns/b": "old"}, w.labels(), "the old transform stays")
		w.end()
		assert.Error(w, w.informer.SetTransform(nil), "after the end")
	},

	"a transform sees each object once": func(w *world) {
		seen := map[string]int{}
		require.NoError(w, w.informer.SetTransform(func(obj any) (any, error) {
			p := obj.(*corev1.Pod) // a tombstone would panic here
			seen[p.Name+" "+p.ResourceVersion]++
			return label("x")(p)
		}))
		r, _ := w.handle()
		w.serve("a", "b")
		w.run()
		w.serve("c")
		synctest.Wait()
		w.server.Delete(pod("c"))
		synctest.Wait()
		w.miss(func() { w.server.Delete(pod("a")) })

		listed := 1
		if w.watchList && w.TransformsStreamedTwice {
			listed = 2
		}
		assert.Equal(w, map[string]int{"a 1": listed, "b 2": 2 * listed, "c 3": 1, "c 4": 1}, seen, "b was listed twice")
		assert.Equal(w, map[string]string{"ns/b": "x"}, w.labels())
		assert.Contains(w, r.take(), "gone ns/a 1")
	},

	"a transform that fails": func(w *world) {
		require.NoError(w, w.informer.SetTransform(func(obj any) (any, error) {
			if obj.(*corev1.Pod).Name == "bad" {
				return nil, errors.New("no")
			}
			return obj, nil
		}))
		w.serve("a")
		w.run()
		w.serve("bad", "b")
		synctest.Wait()
		assert.ElementsMatch(w, []string{"ns/a", "ns/b"}, w.informer.GetStore().ListKeys(), "the others get through")
	},

	"a watch error handler hears of each failure": func(w *world) {
		w.serve("a")
		boom := errors.New("boom")
		w.server.FailLists(2, boom)
		w.server.FailWatches(2, boom)
		var first, second []error
		require.NoError(w, w.informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { first = append(first, err) }))
		require.NoError(w, w.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			assert.NoError(w, ctx.Err())
			assert.NotNil(w, r)
			second = append(second, err)
		}))
		r, _ := w.handle()
		w.run()
		w.sleep(5 * time.Minute)
		assert.Empty(w, first, "the last one wins")
		require.NotEmpty(w, second)
		for _, err := range second {
			assert.ErrorIs(w, err, boom)
		}
		assert.Contains(w, r.take(), "add ns/a 1 initial", "and it was tried again")
	},

	"a watch error handler without a context": func(w *world) {
		w.serve("a")
		w.run0(func() {
			w.server.FailLists(1, errors.New("boom"))
			w.server.FailWatches(1, errors.New("boom"))
		}, func(heard *[]error) error {
			return w.informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { *heard = append(*heard, err) })
		})
	},

	"B67 indexes before and after the start": func(w *world) {
		w.informer = w.newInformer(w.server, &corev1.Pod{}, 0, cache.Indexers{"constructor": byLabel})
		require.NoError(w, w.informer.AddIndexers(cache.Indexers{"before": byLabel}))
		w.server.Add(labelled("a", "x"))
		w.server.Add(labelled("b", "y"))
		w.run()
		require.NoError(w, w.informer.AddIndexers(cache.Indexers{"after": byLabel}))
		w.server.Add(labelled("c", "x"))
		synctest.Wait()
		for _, index := range []string{"constructor", "before", "after"} {
			objs, err := w.informer.GetIndexer().ByIndex(index, "x")
			require.NoError(w, err)
			assert.Len(w, objs, 2, index)
			keys, err := w.informer.GetIndexer().IndexKeys(index, "y")
			require.NoError(w, err)
			assert.Equal(w, []string{"ns/b"}, keys, index)
		}
		assert.Error(w, w.informer.AddIndexers(cache.Indexers{"after": byLabel, "more": byLabel}), "a name that is taken")
		assert.NotContains(w, w.informer.GetIndexer().GetIndexers(), "more", "and nothing was changed")
	},
}

// run0 runs an informer whose first list fails and checks that the handler set by
// set heard of it.
func (w *world) run0(fail func(), set func(heard *[]error) error) {
	var heard []error
	require.NoError(w, set(&heard))
	fail()
	w.run()
	w.sleep(5 * time.Minute)
	assert.NotEmpty(w, heard)
	assert.True(w, w.informer.HasSynced())
}

// labels returns the value of the test's label of each stored pod.
func (w *world) labels() map[string]string {
	found := map[string]string{}
	for _, obj := range w.informer.GetStore().List() {
		found[key(obj)] = obj.(*corev1.Pod).Labels["label"]
	}
	return found
}

// label returns a transform that labels every pod.
func label(value string) cache.TransformFunc {
	return func(obj any) (any, error) {
		p := obj.(*corev1.Pod).DeepCopy()
		p.Labels = map[string]string{"label": value}
		return p, nil
	}
}

// byLabel is an index function.
func byLabel(obj any) ([]string, error) {
	return []string{obj.(*corev1.Pod).Labels["label"]}, nil
}

func deleted(p *corev1.Pod) watch.Event { return watch.Event{Type: watch.Deleted, Object: p} }
