package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
)

var (
	workqueues     = map[string]assembly.Workqueue{upstream: assembly.ClientGoWorkqueue, chapters: assembly.OurWorkqueue}
	priorityQueues = map[string]assembly.Workqueue{upstream: assembly.ControllerRuntimePriorityQueue, chapters: assembly.OurPriorityQueue}
)

// newQueue makes a queue without metrics.
func newQueue(w assembly.Workqueue) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return w.New("", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
}

func requests(n int) []reconcile.Request {
	all := make([]reconcile.Request, n)
	for i := range all {
		all[i] = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace(i % 100), Name: fmt.Sprintf("pod-%06d", i)}}
	}
	return all
}

// loop is the way of requests that succeed: Add, Get, Forget, Done.
func loop(b *testing.B, queues map[string]assembly.Workqueue) {
	for _, workers := range []int{1, 8} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			each(b, two, func(b *testing.B, impl string) {
				q := newQueue(queues[impl])
				defer q.ShutDown()
				all := requests(objects)
				b.ResetTimer()
				var wg sync.WaitGroup
				for w := range workers {
					wg.Go(func() {
						mine := all[w*len(all)/workers : (w+1)*len(all)/workers]
						for i := range b.N / workers {
							// What a worker gets is its own from then on: each item has one
							// owner, no Add finds its item queued, and no Get waits for ever.
							item := &mine[i%len(mine)]
							q.Add(*item)
							*item, _ = q.Get()
							q.Forget(*item)
							q.Done(*item)
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				require.Zero(b, q.Len())
			})
		})
	}
}

func BenchmarkWorkqueue(b *testing.B) { loop(b, workqueues) }

func BenchmarkPriorityQueue(b *testing.B) { loop(b, priorityQueues) }

// BenchmarkAddAfter adds items with a delay and takes them out when all are due.
func BenchmarkAddAfter(b *testing.B) {
	const items = 100_000
	all := requests(items)
	each(b, two, func(b *testing.B, impl string) {
		got := 0
		for range b.N {
			q := newQueue(workqueues[impl])
			for i, item := range all {
				q.AddAfter(item, time.Millisecond+time.Duration(i*7919%1000)*time.Microsecond)
			}
			for range all {
				item, _ := q.Get()
				q.Done(item)
				got++
			}
			q.ShutDown()
		}
		per(b, "item", items)
		require.Equal(b, items*b.N, got)
	})
}
