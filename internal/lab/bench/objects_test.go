package main

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// objects is how many there are unless a benchmark says otherwise.
const objects = 10_000

// newPod makes the given version of the i-th pod. A namespace has 100 of them.
func newPod(i, version int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       namespace(i / 100),
			Name:            fmt.Sprintf("pod-%06d", i),
			ResourceVersion: fmt.Sprint(i + 1 + version*1_000_000_000),
		},
		Spec: corev1.PodSpec{NodeName: namespace(i % 100)},
	}
}

func namespace(i int) string { return fmt.Sprintf("namespace-%d", i) }

// versions are two of each of n pods.
func versions(n int) (all [2][]any) {
	for i := range n {
		for version := range all {
			all[version] = append(all[version], newPod(i, version))
		}
	}
	return all
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// api is an API server without a wire: it answers a list with pods, and a watch,
// once start is closed, with events that are there already.
type api struct {
	list   *corev1.PodList
	events chan watch.Event
	start  chan struct{}
}

// newAPI prepares pods and room for events.
func newAPI(pods, events int) *api {
	a := &api{
		list:   &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: make([]corev1.Pod, pods)},
		events: make(chan watch.Event, events),
		start:  make(chan struct{}),
	}
	for i := range a.list.Items {
		a.list.Items[i] = *newPod(i, 0)
	}
	return a
}

// update makes n updates: of every pod in turn, or of the first few only.
func (a *api) update(n, pods int) {
	versions := [2][]*corev1.Pod{}
	for i := range n {
		version, pod := (i/pods+1)%2, i%pods
		if pod == len(versions[version]) {
			versions[version] = append(versions[version], newPod(pod, version))
		}
		a.events <- watch.Event{Type: watch.Modified, Object: versions[version][pod]}
	}
}

func (a *api) listerWatcher() cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (kruntime.Object, error) { return a.list, nil },
		WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			select {
			case <-a.start:
			case <-ctx.Done():
			}
			return watch.NewProxyWatcher(a.events), nil
		},
	}, noWatchList{})
}

// noWatchList keeps reflectors from asking for a list that comes as a watch.
type noWatchList struct{}

func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

// each runs a benchmark on every implementation.
func each(b *testing.B, impls []string, run func(b *testing.B, impl string)) {
	for _, impl := range impls {
		b.Run("impl="+impl, func(b *testing.B) {
			b.ReportAllocs()
			run(b, impl)
		})
	}
}

// per reports the time per thing, where one iteration is many things.
func per(b *testing.B, thing string, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/"+thing)
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
