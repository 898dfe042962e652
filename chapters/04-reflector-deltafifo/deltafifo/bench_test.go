package deltafifo

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// benchmarked are the queues as informers run them, and how they are consumed.
var benchmarked = map[string]func() (cache.Queue, func(cache.Queue) error){
	"DeltaFIFO": func() (cache.Queue, func(cache.Queue) error) {
		return New(Options{KnownObjects: knows(), EmitDeltaTypeReplaced: true}), consumeAll
	},
	"InOrder": func() (cache.Queue, func(cache.Queue) error) {
		return NewInOrder(InOrderOptions{Atomic: true}), consumeAll
	},
	"client-go DeltaFIFO": func() (cache.Queue, func(cache.Queue) error) {
		return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: knows(), EmitDeltaTypeReplaced: true}), consumeEach
	},
	"client-go RealFIFO": func() (cache.Queue, func(cache.Queue) error) {
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true}), consumeBatch
	},
}

func consumeAll(q cache.Queue) error {
	return q.(popAller).PopAll(func([]cache.Delta, bool) error { return nil })
}

func consumeBatch(q cache.Queue) error {
	return q.(cache.QueueWithBatch).PopBatch(
		func([]cache.Delta, bool) error { return nil }, func(any, bool) error { return nil })
}

func consumeEach(q cache.Queue) error {
	_, err := q.Pop(func(any, bool) error { return nil })
	return err
}

// BenchmarkQueue is the cost of one event from Update to the process function,
// with a producer and a consumer that run at the same time.
func BenchmarkQueue(b *testing.B) {
	for objects, name := range map[int]string{1: "one hot object", 1000: "1000 objects"} {
		pods := make([]*corev1.Pod, objects)
		for i := range pods {
			pods[i] = pod(fmt.Sprintf("pod-%d", i), "1")
			pods[i].Namespace = "default"
		}
		for queue, create := range benchmarked {
			b.Run(name+"/"+queue, func(b *testing.B) {
				b.ReportAllocs()
				q, consume := create()
				done := make(chan struct{})
				go func() {
					defer close(done)
					for consume(q) == nil {
					}
				}()
				for i := range b.N {
					if err := q.Update(pods[i%objects]); err != nil {
						b.Fatal(err)
					}
				}
				q.Close()
				<-done
			})
		}
	}
}
