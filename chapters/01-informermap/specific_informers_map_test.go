package informermap

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

func TestManyWhoAskAtOnceGetOneInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		mapper := &slowMapper{asked: make(chan struct{}), release: make(chan struct{})}
		c := newOn(t, New, cachetest.NewAPIServer(), func(o *cache.Options) {
			mapper.RESTMapper, o.Mapper = o.Mapper, mapper
			o.NewInformer = func(lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
				made.Add(1)
				return toolscache.NewSharedIndexInformer(lw, obj, resync, indexers)
			}
		})
		start(t, c)
		var all sync.WaitGroup
		informers := make([]cache.Informer, 10)
		for n := range informers {
			all.Go(func() { informers[n], _ = c.GetInformer(context.Background(), &corev1.ConfigMap{}) })
		}
		synctest.Wait() // All have looked, and found nothing.
		close(mapper.release)
		all.Wait()
		for _, i := range informers {
			require.Same(t, informers[0], i)
		}
		assert.EqualValues(t, 1, made.Load(), "the second look finds what another has made")
	})
}

func TestUseFromManyGoroutines(t *testing.T) {
	api := cachetest.NewAPIServer()
	api.Put(pod("a", "x"), pod("b", "x"))
	for name, edit := range map[string]func(*cache.Options){
		"plain": nil, "namespaces": inTwoNamespaces,
		"by object": func(o *cache.Options) { o.ByObject = map[client.Object]cache.ByObject{&corev1.Pod{}: {}} },
	} {
		t.Run(name, func(t *testing.T) {
			c := newOn(t, New, api, edit)
			stop := start(t, c)
			ctx := within(t, patience)
			var all sync.WaitGroup
			for n := range 8 {
				all.Go(func() {
					for range 20 {
						var pods corev1.PodList
						if c.List(ctx, &pods) == nil {
							assert.Len(t, pods.Items, 2, "a read sees all or fails")
						}
						if n == 0 {
							assert.NoError(t, c.RemoveInformer(ctx, &corev1.Pod{}))
							_ = c.IndexField(ctx, &corev1.Pod{}, "f", func(client.Object) []string { return []string{"v"} })
						}
						informer, err := c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
						if assert.NoError(t, err) {
							_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
						}
					}
				})
			}
			all.Wait()
			stop()
			assert.Eventually(t, func() bool { return api.Watches("pods") == 0 }, patience, time.Millisecond, "none of the many informers is left")
		})
	}
}

func TestInformerRemovedBeforeStartIsNotRun(t *testing.T) {
	api := cachetest.NewAPIServer()
	c := newOn(t, New, api, nil)
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	require.NoError(t, c.RemoveInformer(within(t, patience), &corev1.Pod{}))
	start(t, c)
	assert.False(t, informer.HasSynced())
	assert.Empty(t, api.Requests())
}

func TestResyncPeriodsDiffer(t *testing.T) {
	const resync = time.Hour
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for range 1000 {
		p := resyncPeriod(resync)
		require.GreaterOrEqual(t, p, resync*9/10)
		require.LessOrEqual(t, p, resync*11/10)
		least, most = min(least, p), max(most, p)
	}
	assert.Less(t, least, resync*92/100, "up to ten percent off")
	assert.Greater(t, most, resync*108/100, "up to ten percent on")
	assert.Zero(t, resyncPeriod(0), "no resync stays none")
}
