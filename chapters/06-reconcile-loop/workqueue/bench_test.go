package workqueue_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	upstream "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/metrics"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
)

// impls makes the same queue of client-go's parts and of ours.
var impls = map[string]func(name string) upstream.TypedRateLimitingInterface[reconcile.Request]{
	"upstream": func(name string) upstream.TypedRateLimitingInterface[reconcile.Request] {
		return upstream.NewTypedRateLimitingQueueWithConfig(upstream.DefaultTypedControllerRateLimiter[reconcile.Request](),
			upstream.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name, MetricsProvider: metrics.WorkqueueProvider{}})
	},
	"chapters": func(name string) upstream.TypedRateLimitingInterface[reconcile.Request] {
		return workqueue.NewRateLimiting(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request](), workqueue.Config{Name: name})
	},
}

func requests(n int) []reconcile.Request {
	reqs := make([]reconcile.Request, n)
	for i := range reqs {
		reqs[i] = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-" + strconv.Itoa(i%100), Name: "object-" + strconv.Itoa(i)}}
	}
	return reqs
}

// BenchmarkLoop is the way of a request that succeeds: Add, Get, Forget, Done.
func BenchmarkLoop(b *testing.B) {
	for _, queueName := range []string{"", "bench"} {
		for _, workers := range []int{1, 8} {
			for _, impl := range []string{"upstream", "chapters"} {
				b.Run("metrics="+strconv.FormatBool(queueName != "")+"/workers="+strconv.Itoa(workers)+"/impl="+impl, func(b *testing.B) {
					q := impls[impl](queueName)
					defer q.ShutDown()
					reqs := requests(10_000)
					b.ReportAllocs()
					b.ResetTimer()
					var wg sync.WaitGroup
					for w := range workers {
						wg.Go(func() {
							mine := reqs[w*len(reqs)/workers : (w+1)*len(reqs)/workers]
							for i := 0; i < b.N/workers; i++ {
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
				})
			}
		}
	}
}

// BenchmarkAddAfter adds 100,000 items with a delay and takes them out when all are due.
func BenchmarkAddAfter(b *testing.B) {
	reqs := requests(100_000)
	for _, impl := range []string{"upstream", "chapters"} {
		b.Run("impl="+impl, func(b *testing.B) {
			for b.Loop() {
				q := impls[impl]("")
				for i, req := range reqs {
					q.AddAfter(req, time.Millisecond+time.Duration(i*7919%1000)*time.Microsecond)
				}
				for range reqs {
					item, _ := q.Get()
					q.Done(item)
				}
				q.ShutDown()
			}
		})
	}
}
