package priorityqueue_test

import (
	"strconv"
	"sync"
	"testing"
)

// BenchmarkLoop is the way of a request that succeeds: Add, Get, Forget, Done.
func BenchmarkLoop(b *testing.B) {
	items := make([]string, 10_000)
	for i := range items {
		items[i] = "team-" + strconv.Itoa(i%100) + "/object-" + strconv.Itoa(i)
	}
	for _, workers := range []int{1, 8} {
		for _, impl := range []string{"upstream", "chapters"} {
			b.Run("workers="+strconv.Itoa(workers)+"/impl="+impl, func(b *testing.B) {
				q := constructors[impl]("")
				defer q.ShutDown()
				b.ReportAllocs()
				var wg sync.WaitGroup
				for w := range workers {
					mine := append([]string(nil), items[w*len(items)/workers:(w+1)*len(items)/workers]...)
					wg.Go(func() {
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
