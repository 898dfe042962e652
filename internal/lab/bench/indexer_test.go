package main

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

var indexers = map[string]func(cache.KeyFunc, cache.Indexers) cache.Indexer{
	upstream: parts.ClientGoIndexer,
	chapters: parts.Indexer,
}

// eachIndexer runs a benchmark on stores that hold the first version of each object.
func eachIndexer(b *testing.B, run func(b *testing.B, x cache.Indexer, pods [2][]any)) {
	pods := versions(objects)
	each(b, two, func(b *testing.B, impl string) {
		x := indexers[impl](cache.DeletionHandlingMetaNamespaceKeyFunc, byNamespace())
		require.NoError(b, x.Replace(append([]any(nil), pods[0]...), "1"))
		b.ResetTimer()
		run(b, x, pods)
		b.StopTimer()
		require.Len(b, x.ListKeys(), objects)
	})
}

func get(b *testing.B, x cache.Indexer, pods []any) {
	found := 0
	for i := range b.N {
		if _, exists, _ := x.Get(pods[i%objects]); exists {
			found++
		}
	}
	require.Equal(b, b.N, found)
}

func BenchmarkIndexerGet(b *testing.B) {
	eachIndexer(b, func(b *testing.B, x cache.Indexer, pods [2][]any) { get(b, x, pods[0]) })
}

func BenchmarkIndexerGetUnderWriter(b *testing.B) {
	eachIndexer(b, func(b *testing.B, x cache.Indexer, pods [2][]any) {
		defer writeMeanwhile(b, x, pods)()
		get(b, x, pods[0])
	})
}

func BenchmarkIndexerUpdate(b *testing.B) {
	eachIndexer(b, func(b *testing.B, x cache.Indexer, pods [2][]any) {
		for i := range b.N {
			_ = x.Update(pods[(i/objects+1)%2][i%objects])
		}
	})
}

func BenchmarkIndexerReplace(b *testing.B) {
	eachIndexer(b, func(b *testing.B, x cache.Indexer, pods [2][]any) {
		for i := range b.N {
			_ = x.Replace(append([]any(nil), pods[(i+1)%2]...), "2")
		}
		per(b, "object", objects)
	})
}

func byIndex(x cache.Indexer, i int) int {
	list, _ := x.ByIndex(cache.NamespaceIndex, namespaces[i%len(namespaces)])
	return len(list)
}

var namespaces = func() (names [objects / 100]string) {
	for i := range names {
		names[i] = namespace(i)
	}
	return names
}()

func BenchmarkIndexerByIndex(b *testing.B) {
	eachIndexer(b, func(b *testing.B, x cache.Indexer, _ [2][]any) {
		found := 0
		for i := range b.N {
			found += byIndex(x, i)
		}
		require.Equal(b, 100*b.N, found)
	})
}

func BenchmarkIndexerByIndexUnderWriter(b *testing.B) {
	eachIndexer(b, func(b *testing.B, x cache.Indexer, pods [2][]any) {
		defer writeMeanwhile(b, x, pods)()
		found := 0
		for i := range b.N {
			found += byIndex(x, i)
		}
		require.Equal(b, 100*b.N, found)
	})
}

func BenchmarkIndexerByIndexParallel(b *testing.B) {
	eachIndexer(b, func(b *testing.B, x cache.Indexer, _ [2][]any) {
		var found atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			n := 0
			for i := 0; pb.Next(); i++ {
				n += byIndex(x, i)
			}
			found.Add(int64(n))
		})
		require.EqualValues(b, 100*b.N, found.Load())
	})
}

// writeMeanwhile updates object after object until stop, which ends the measurement first.
func writeMeanwhile(b *testing.B, x cache.Indexer, pods [2][]any) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				_ = x.Update(pods[(i/objects+1)%2][i%objects])
			}
		}
	}()
	return func() {
		b.StopTimer()
		close(done)
		<-ended
	}
}
