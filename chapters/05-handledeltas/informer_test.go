package chapter05_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run/informertest"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/handledeltas"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// plug puts the chapter into chapter 3's informer.
func plug(o informer.Options) informer.Options {
	o.NewIndexer = func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.New(k, i) }
	o.HandleDeltas = handledeltas.HandleDeltas
	o.NewProcessor = func(resync time.Duration) informer.Processor { return processor.New(resync) }
	return o
}

// TestInformer plays everything that client-go's informer is held to.
func TestInformer(t *testing.T) {
	for name, newQueue := range queues {
		t.Run(name, func(t *testing.T) {
			informertest.Run(t, func(lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
				return informer.NewSharedIndexInformerWithOptions(lw, obj, plug(informer.Options{ResyncPeriod: resync, Indexers: indexers, NewQueue: newQueue}))
			}, informertest.Capabilities{InOrder: name != "DeltaFIFO"})
		})
	}
}

// TestOneBlockedHandler is the reason for this chapter: with chapter 3's naive
// processor a handler that does not return stops the other handlers, and then
// the store. With this one, nobody notices.
func TestOneBlockedHandler(t *testing.T) {
	// A queue that is not locked meanwhile: in a bubble nothing may wait for a lock.
	queue := queues["RealFIFO atomic"]
	for name, tc := range map[string]struct {
		options       informer.Options
		heard, stored int
	}{
		"naive":        {informer.Options{NewQueue: queue}, 0, 1},
		"this chapter": {plug(informer.Options{NewQueue: queue}), 100, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := lwtest.New()
				i := informer.NewSharedIndexInformerWithOptions(server, &corev1.Pod{}, tc.options)
				release := make(chan struct{})
				_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-release }})
				assert.NoError(t, err)
				var mu sync.Mutex
				heard := 0
				_, err = i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { mu.Lock(); heard++; mu.Unlock() }})
				assert.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { i.RunWithContext(ctx) })
				for n := range 100 {
					server.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint(n)}})
					synctest.Wait()
				}
				mu.Lock()
				assert.Equal(t, tc.heard, heard)
				mu.Unlock()
				assert.Len(t, i.GetStore().ListKeys(), tc.stored)
				cancel()
				close(release)
				running.Wait()
			})
		})
	}
}
