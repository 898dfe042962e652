package informertest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// world is one scenario's API server and the informer that follows it.
type world struct {
	*testing.T
	Capabilities
	newInformer New
	watchList   bool
	server      *lwtest.Server
	informer    cache.SharedIndexInformer

	stop func()        // ends the context of run
	done chan struct{} // closed when run's Run returned
}

func newWorld(t *testing.T, newInformer New, capabilities Capabilities, watchList bool) *world {
	w := &world{T: t, Capabilities: capabilities, newInformer: newInformer, watchList: watchList}
	w.server = w.newServer(&corev1.PodList{})
	w.informer = w.newPodInformer(0)
	return w
}

func (w *world) newServer(list runtime.Object) *lwtest.Server {
	s := lwtest.New()
	s.WatchList = w.watchList
	s.NewList = list.DeepCopyObject
	return s
}

func (w *world) newPodInformer(resync time.Duration) cache.SharedIndexInformer {
	return w.newInformer(w.server, &corev1.Pod{}, resync, cache.Indexers{})
}

// serve adds pods to the server.
func (w *world) serve(names ...string) {
	for _, name := range names {
		w.server.Add(pod(name))
	}
}

// run starts the informer, which ends with the test at the latest.
func (w *world) run() {
	ctx, cancel := context.WithCancel(w.Context())
	w.stop, w.done = cancel, make(chan struct{})
	go func() {
		defer close(w.done)
		w.informer.RunWithContext(ctx)
	}()
	w.Cleanup(w.end)
	synctest.Wait()
}

// end stops the informer and waits for it.
func (w *world) end() {
	w.stop()
	<-w.done
}

// handle registers a new recorder.
func (w *world) handle() (*recorder, cache.ResourceEventHandlerRegistration) {
	w.Helper()
	r := &recorder{}
	registration, err := w.informer.AddEventHandler(r)
	require.NoError(w, err)
	return r, registration
}

// miss lets the informer miss a change: it happens while the informer has no
// watch, and when it asks what came later, this is forgotten. It has to list again.
func (w *world) miss(change func()) {
	release := w.server.HoldWatches()
	w.server.CloseWatches()
	synctest.Wait()
	change()
	w.server.Advance(1)
	w.server.Compact()
	release()
	w.sleep(time.Minute) // more than the longest back-off
}

func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func labelled(name, value string) *corev1.Pod {
	p := pod(name)
	p.Labels = map[string]string{"label": value}
	return p
}
