package indexer_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
)

const benchObjects = 10_000

// implementations is what every benchmark and every comparison runs on.
var implementations = map[string]func(cache.KeyFunc, cache.Indexers) cache.Indexer{
	"ours":     func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.New(k, i) },
	"upstream": func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return cache.NewIndexer(k, i) },
}

// benchPods makes two versions of each pod, 100 pods to a namespace.
func benchPods(n int) (now, next []any) {
	for i := range n {
		for version := range 2 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace:       fmt.Sprintf("namespace-%d", i/100),
				Name:            fmt.Sprintf("pod-%06d", i),
				ResourceVersion: fmt.Sprint(2*i + version),
			}}
			if version == 0 {
				now = append(now, pod)
			} else {
				next = append(next, pod)
			}
		}
	}
	return now, next
}

func eachImplementation(b *testing.B, run func(b *testing.B, x cache.Indexer, now, next []any)) {
	now, next := benchPods(benchObjects)
	for _, impl := range []string{"upstream", "ours"} {
		b.Run("impl="+impl, func(b *testing.B) {
			x := implementations[impl](cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			require.NoError(b, x.Replace(append([]any(nil), now...), "1"))
			b.ReportAllocs()
			b.ResetTimer()
			run(b, x, now, next)
		})
	}
}

func BenchmarkGet(b *testing.B) {
	eachImplementation(b, func(b *testing.B, x cache.Indexer, now, _ []any) {
		found := 0
		for i := 0; b.Loop(); i++ {
			if _, exists, _ := x.Get(now[i%benchObjects]); exists {
				found++
			}
		}
		require.NotZero(b, found)
	})
}

func BenchmarkGetUnderWriter(b *testing.B) {
	eachImplementation(b, func(b *testing.B, x cache.Indexer, now, next []any) {
		stop := writeInBackground(b, x, now, next)
		found := 0
		for i := 0; b.Loop(); i++ {
			if _, exists, _ := x.Get(now[i%benchObjects]); exists {
				found++
			}
		}
		stop()
		require.NotZero(b, found)
	})
}

func BenchmarkUpdate(b *testing.B) {
	eachImplementation(b, func(b *testing.B, x cache.Indexer, now, next []any) {
		for i := 0; b.Loop(); i++ {
			lists := [2][]any{now, next}
			_ = x.Update(lists[i/benchObjects%2][i%benchObjects])
		}
		require.Len(b, x.ListKeys(), benchObjects)
	})
}

func BenchmarkReplace(b *testing.B) {
	eachImplementation(b, func(b *testing.B, x cache.Indexer, now, next []any) {
		for i := 0; b.Loop(); i++ {
			lists := [2][]any{now, next}
			_ = x.Replace(append([]any(nil), lists[i%2]...), "2")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchObjects, "ns/object")
		require.Len(b, x.ListKeys(), benchObjects)
	})
}

func BenchmarkByIndex(b *testing.B) {
	eachImplementation(b, func(b *testing.B, x cache.Indexer, _, _ []any) { benchByIndex(b, x) })
}

func BenchmarkByIndexUnderWriter(b *testing.B) {
	eachImplementation(b, func(b *testing.B, x cache.Indexer, now, next []any) {
		stop := writeInBackground(b, x, now, next)
		benchByIndex(b, x)
		stop()
	})
}

func BenchmarkByIndexParallel(b *testing.B) {
	eachImplementation(b, func(b *testing.B, x cache.Indexer, _, _ []any) {
		var found atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			n := 0
			for i := 0; pb.Next(); i++ {
				list, _ := x.ByIndex(cache.NamespaceIndex, benchNamespaces[i%100])
				n += len(list)
			}
			found.Add(int64(n))
		})
		require.NotZero(b, found.Load())
	})
}

var benchNamespaces = func() (names [100]string) {
	for i := range names {
		names[i] = fmt.Sprintf("namespace-%d", i)
	}
	return names
}()

func benchByIndex(b *testing.B, x cache.Indexer) {
	found := 0
	for i := 0; b.Loop(); i++ {
		list, _ := x.ByIndex(cache.NamespaceIndex, benchNamespaces[i%100])
		found += len(list)
	}
	require.NotZero(b, found)
}

// writeInBackground updates object after object until the benchmark has ended.
func writeInBackground(b *testing.B, x cache.Indexer, now, next []any) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				lists := [2][]any{now, next}
				_ = x.Update(lists[i/benchObjects%2][i%benchObjects])
			}
		}
	}()
	return func() { close(done); <-ended }
}

// BenchmarkHeap reports what the store adds to objects that are there anyway:
// keys, entries, map and one index.
func BenchmarkHeap(b *testing.B) {
	const objects = 100_000
	pods, _ := benchPods(objects)
	for _, impl := range []string{"upstream", "ours"} {
		for _, how := range []string{"Replace", "Add"} {
			b.Run(fmt.Sprintf("by=%s/impl=%s", how, impl), func(b *testing.B) {
				var bytes uint64
				for b.Loop() {
					x := implementations[impl](cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
					before := heap()
					if how == "Replace" {
						_ = x.Replace(append([]any(nil), pods...), "1")
					} else {
						for _, p := range pods {
							_ = x.Add(p)
						}
					}
					bytes += heap() - before
					runtime.KeepAlive(x)
				}
				b.ReportMetric(float64(bytes)/float64(b.N)/objects, "B/object")
			})
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
