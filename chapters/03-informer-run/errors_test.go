package informer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// B57: what can't be applied is gone, but not silently; the rest goes on.
func TestB57_ErrorsAreSeen(t *testing.T) {
	var seen []string
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, msg string, kv ...any) {
		seen = append(seen, fmt.Sprint(msg, ": ", err, " ", kv))
	}}
	defer func() { utilruntime.ErrorHandlers = handlers }()
	boom := errors.New("boom")

	t.Run("ours", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			seen = nil
			d := &diary{}
			lw := lwtest.New()
			i := informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, informer.Options{
				HandleDeltas: func(h cache.ResourceEventHandler, s cache.Store, deltas []cache.Delta, _ bool) error {
					d.write("%s", name(deltas[0].Object))
					if name(deltas[0].Object) == "a" {
						return boom
					}
					return s.Add(deltas[0].Object)
				},
			})
			run(t, i)
			lw.Add(pod("a"))
			lw.Add(pod("b"))
			synctest.Wait()
			assert.Equal(t, []string{"a", "b"}, d.read())
			assert.Equal(t, []string{"ns/b"}, i.GetStore().ListKeys())
			assert.Equal(t, []string{"Events could not be applied: until the next list, store and cluster may differ: boom [informer SharedIndexInformer *v1.Pod]"}, seen)
		})
	})

	t.Run("client-go's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			seen = nil
			lw := lwtest.New(pod("a"))
			c := cache.New(&cache.Config{
				Queue:         realFIFOs["plain"](cache.NewStore(cache.MetaNamespaceKeyFunc)),
				ListerWatcher: lw, ObjectType: &corev1.Pod{},
				Process: func(any, bool) error { return boom },
			})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); c.RunWithContext(ctx) }()
			synctest.Wait()
			assert.True(t, c.HasSynced(), "it was processed")
			assert.Empty(t, seen, "and nobody hears of the error")
			cancel()
			<-done
		})
	})
}

// A queue that gives something else than deltas is named.
func TestQueueOfSomethingElse(t *testing.T) {
	seen := make(chan error, 1)
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) { seen <- err }}
	defer func() { utilruntime.ErrorHandlers = handlers }()
	synctest.Test(t, func(t *testing.T) {
		i := informer.NewSharedIndexInformerWithOptions(lwtest.New(pod("a")), &corev1.Pod{}, informer.Options{
			NewQueue: func(cache.KeyListerGetter) cache.Queue { return cache.NewFIFO(cache.MetaNamespaceKeyFunc) },
		})
		run(t, i)
	})
	assert.EqualError(t, <-seen, "queue *cache.FIFO gave a *v1.Pod; the queue of an informer must give cache.Deltas")
}

// A handler that comes too late is told so, and by whom.
func TestHandlerAfterTheStopIsToldWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is how hunts run the tests, and in hunt 03-4 the words of this error are the reader's")
	}
	i := informer.NewSharedIndexInformer(lwtest.New(), &corev1.Pod{}, 0, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i.RunWithContext(ctx)
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	assert.ErrorContains(t, err, "SharedIndexInformer *v1.Pod: handler cache.ResourceEventHandlerFuncs was not added because the informer has stopped already")
}
