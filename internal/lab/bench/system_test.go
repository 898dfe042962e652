package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

// onAPI returns the layers with every informer on a instead of a REST client.
func onAPI(l assembly.Layers, a *api) assembly.Layers {
	inner := l.WithDefaults().Informer
	l.Informer = assembly.Informer{OwnQueue: inner.OwnQueue, New: func(o informer.Options) parts.NewInformerFunc {
		newInformer := inner.New(o)
		return func(_ toolscache.ListerWatcher, example kruntime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			return newInformer(a.listerWatcher(), example, resync, indexers)
		}
	}}
	return l
}

// podMapper knows pods and nothing else.
func podMapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"Pod", "PodList"} {
		m.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	return m, nil
}

// startManager starts a manager with one controller for pods.
func startManager(b *testing.B, impl string, a *api, workers int, r reconcile.Func) (stop func()) {
	l := onAPI(layers[impl], a)
	mgr, err := assembly.NewManager(&rest.Config{}, manager.Options{
		MapperProvider: podMapper,
		Metrics:        metricsserver.Options{BindAddress: "0"},
		Logger:         logr.Discard(),
		Controller:     config.Controller{SkipNameValidation: ptr.To(true)},
	}, l)
	require.NoError(b, err)
	require.NoError(b, assembly.ControllerManagedBy(mgr, l).For(&corev1.Pod{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).Complete(r))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			panic(err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// BenchmarkSaturation: b.N objects, each of which changes once; all changes are there at once.
func BenchmarkSaturation(b *testing.B) {
	for _, workers := range []int{1, 10} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			each(b, three, func(b *testing.B, impl string) {
				a := newAPI(b.N, b.N)
				a.update(b.N, b.N)
				var reconciled atomic.Int64
				listed, arrived := make(chan struct{}), make(chan struct{})
				stop := startManager(b, impl, a, workers, func(context.Context, reconcile.Request) (reconcile.Result, error) {
					switch reconciled.Add(1) {
					case int64(b.N):
						close(listed)
					case int64(2 * b.N):
						close(arrived)
					}
					return reconcile.Result{}, nil
				})
				<-listed
				a.list = nil
				runtime.GC()
				b.ResetTimer()
				close(a.start)
				<-arrived
				b.StopTimer()
				stop()
			})
		})
	}
}

// BenchmarkLatency: as many events under way at a time as there are workers, each
// timed from the watch to the first line of Reconcile.
func BenchmarkLatency(b *testing.B) {
	for _, workers := range []int{1, 10} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			each(b, three, func(b *testing.B, impl string) { benchLatency(b, impl, workers) })
		})
	}
}

func benchLatency(b *testing.B, impl string, workers int) {
	a := newAPI(objects, workers)
	pods := versions(objects)
	start := time.Now()
	sent := make([]time.Duration, objects) // by pod; its last event is over when the next is sent
	took := make([]time.Duration, objects+b.N)
	var reconciled atomic.Int64
	listed, free := make(chan struct{}), make(chan struct{}, workers)
	stop := startManager(b, impl, a, workers, func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
		now := time.Since(start)
		pod, err := strconv.Atoi(strings.TrimPrefix(req.Name, "pod-"))
		if err != nil {
			panic(err)
		}
		n := reconciled.Add(1)
		took[n-1] = now - sent[pod]
		switch {
		case n == objects:
			close(listed)
		case n > objects:
			free <- struct{}{}
		}
		return reconcile.Result{}, nil
	})
	<-listed
	close(a.start)
	runtime.GC()
	b.ResetTimer()
	for range workers {
		free <- struct{}{}
	}
	for i := range b.N {
		<-free
		pod := i % objects
		sent[pod] = time.Since(start)
		a.events <- watch.Event{Type: watch.Modified, Object: pods[(i/objects+1)%2][pod].(*corev1.Pod)}
	}
	for range workers { // what is still under way
		<-free
	}
	b.StopTimer()
	stop()
	took = took[objects:]
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "ns/p50")
	b.ReportMetric(float64(took[len(took)*99/100]), "ns/p99")
}

// startCache starts a cache of pods with an index by node.
func startCache(b *testing.B, impl string) client.Reader {
	l := onAPI(layers[impl], newAPI(objects, 0))
	mapper, err := podMapper(nil, nil)
	require.NoError(b, err)
	c, err := assembly.NewCache(l)(&rest.Config{}, cache.Options{Mapper: mapper, HTTPClient: http.DefaultClient})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(b, c.IndexField(ctx, &corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
		return []string{o.(*corev1.Pod).Spec.NodeName}
	}))
	var running sync.WaitGroup
	running.Go(func() { _ = c.Start(ctx) })
	b.Cleanup(func() {
		cancel()
		running.Wait()
	})
	require.True(b, c.WaitForCacheSync(ctx))
	return c
}

// BenchmarkClientGet: one object out of the cache, copied.
func BenchmarkClientGet(b *testing.B) {
	each(b, two, func(b *testing.B, impl string) {
		c := startCache(b, impl)
		keys := requests(objects)
		for i := range keys {
			keys[i].Namespace = namespace(i / 100)
		}
		b.ResetTimer()
		var pod corev1.Pod
		for i := range b.N {
			if err := c.Get(b.Context(), keys[i%objects].NamespacedName, &pod); err != nil || pod.Name == "" {
				b.Fatal(err)
			}
		}
		b.StopTimer()
	})
}

// BenchmarkClientList: a hundred objects out of the cache, copied.
func BenchmarkClientList(b *testing.B) {
	for by, option := range map[string]func(name string) client.ListOption{
		"namespace": func(name string) client.ListOption { return client.InNamespace(name) },
		"field":     func(name string) client.ListOption { return client.MatchingFields{"spec.nodeName": name} },
	} {
		b.Run("by="+by, func(b *testing.B) {
			each(b, two, func(b *testing.B, impl string) {
				c := startCache(b, impl)
				b.ResetTimer()
				found := 0
				for i := range b.N {
					var list corev1.PodList
					if err := c.List(b.Context(), &list, option(namespaces[i%len(namespaces)])); err != nil {
						b.Fatal(err)
					}
					found += len(list.Items)
				}
				b.StopTimer()
				require.Equal(b, 100*b.N, found)
			})
		})
	}
}
