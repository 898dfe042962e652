package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

// layers are upstream as it comes, and the chapters on either of their queues.
var layers = map[string]assembly.Layers{
	upstream: assembly.ControllerRuntime,
	chapters: {},
	inOrder:  {Queue: assembly.OurAtomicInOrder},
}

// newInformer makes an informer of these layers.
func newInformer(impl string) parts.NewInformerFunc { return assembly.NewInformer(layers[impl]) }

// counter is a handler that counts calls: first those of the list, then the events.
// An informer calls a handler from one goroutine at a time.
type counter struct {
	called, initial, all int
	listed, arrived      chan struct{}
	blocked              <-chan struct{} // not nil: every event waits for it
}

func newCounter(initial, events int) *counter {
	return &counter{initial: initial, all: initial + events, listed: make(chan struct{}), arrived: make(chan struct{})}
}

func (c *counter) OnAdd(any, bool)   { c.count() }
func (c *counter) OnUpdate(_, _ any) { c.count() }
func (c *counter) OnDelete(any)      { c.count() }

func (c *counter) count() {
	if c.blocked != nil && c.called >= c.initial {
		<-c.blocked
	}
	c.called++
	if c.called == c.initial {
		close(c.listed)
	}
	if c.called == c.all {
		close(c.arrived)
	}
}

// start runs an informer with these handlers until stop.
func start(b *testing.B, i cache.SharedIndexInformer, handlers ...*counter) (stop func()) {
	for _, h := range handlers {
		_, err := i.AddEventHandler(h)
		require.NoError(b, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { i.RunWithContext(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// setting is a watch: so many pods, the first of which change, and so many handlers.
type setting struct {
	pods, changing, handlers int
	blocked                  bool // one more handler, which never returns from its first event
}

// benchWatch brings b.N updates from the watch to every handler.
func benchWatch(b *testing.B, newInformer parts.NewInformerFunc, s setting) {
	a := newAPI(s.pods, b.N)
	a.update(b.N, s.changing)
	var handlers []*counter
	for range s.handlers {
		handlers = append(handlers, newCounter(s.pods, b.N))
	}
	all, release := handlers, make(chan struct{})
	if s.blocked {
		stuck := newCounter(s.pods, b.N)
		stuck.blocked = release
		all = append(all, stuck)
	}
	stop := start(b, newInformer(a.listerWatcher(), &corev1.Pod{}, 0, byNamespace()), all...)
	for _, h := range all {
		<-h.listed
	}
	a.list = nil
	runtime.GC()

	b.ResetTimer()
	close(a.start)
	for _, h := range handlers {
		<-h.arrived
	}
	b.StopTimer()
	close(release)
	stop()
}

// BenchmarkWatch: updates of all objects in turn, from the watch to the handlers.
func BenchmarkWatch(b *testing.B) {
	for _, handlers := range []int{1, 8} {
		b.Run(fmt.Sprintf("handlers=%d", handlers), func(b *testing.B) {
			each(b, three, func(b *testing.B, impl string) {
				benchWatch(b, newInformer(impl), setting{pods: objects, changing: objects, handlers: handlers})
			})
		})
	}
}

// BenchmarkHotObject: one of the objects changes all the time.
func BenchmarkHotObject(b *testing.B) {
	each(b, three, func(b *testing.B, impl string) {
		benchWatch(b, newInformer(impl), setting{pods: objects, changing: 1, handlers: 1})
	})
}

// BenchmarkBlockedHandler: what one handler gets while another stands still.
func BenchmarkBlockedHandler(b *testing.B) {
	each(b, three, func(b *testing.B, impl string) {
		benchWatch(b, newInformer(impl), setting{pods: objects, changing: objects, handlers: 1, blocked: true})
	})
}

// BenchmarkChapter5: only store, HandleDeltas and processor are ours; queue and
// reflector are client-go's.
func BenchmarkChapter5(b *testing.B) {
	l := assembly.Layers{Queue: assembly.ClientGoAtomicRealFIFO, NewReflector: informer.NewClientGoReflector}
	ours := map[string]parts.NewInformerFunc{upstream: newInformer(upstream), chapters: assembly.NewInformer(l)}
	for _, handlers := range []int{1, 8} {
		b.Run(fmt.Sprintf("handlers=%d", handlers), func(b *testing.B) {
			each(b, two, func(b *testing.B, impl string) {
				benchWatch(b, ours[impl], setting{pods: objects, changing: objects, handlers: handlers})
			})
		})
	}
}

// BenchmarkScale: the points of the plot.
func BenchmarkScale(b *testing.B) {
	point := func(pods, handlers int) {
		b.Run(fmt.Sprintf("objects=%d/handlers=%d", pods, handlers), func(b *testing.B) {
			each(b, three, func(b *testing.B, impl string) {
				if b.N == 1 {
					return // go test's trial run, whose result does not count; a million objects take their time
				}
				benchWatch(b, newInformer(impl), setting{pods: pods, changing: pods, handlers: handlers})
			})
		})
	}
	for _, pods := range scaleObjects {
		point(pods, 1)
	}
	for _, handlers := range scaleHandlers[1:] {
		point(objectsOfHandlers, handlers)
	}
}

// BenchmarkList: from the answer to a list to the last OnAdd.
func BenchmarkList(b *testing.B) {
	for _, pods := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("objects=%d", pods), func(b *testing.B) {
			each(b, three, func(b *testing.B, impl string) {
				a := newAPI(pods, 0)
				b.ResetTimer()
				for range b.N {
					b.StopTimer()
					runtime.GC()
					h := newCounter(pods, 0)
					i := newInformer(impl)(a.listerWatcher(), &corev1.Pod{}, 0, byNamespace())
					b.StartTimer()
					stop := start(b, i, h)
					<-h.listed
					b.StopTimer()
					stop()
					b.StartTimer()
				}
				b.StopTimer()
				per(b, "object", pods)
			})
		})
	}
}

// BenchmarkHeap: what an informer with one handler keeps per object.
func BenchmarkHeap(b *testing.B) {
	const pods = 100_000
	each(b, three, func(b *testing.B, impl string) {
		var bytes uint64
		for range b.N {
			before := heap()
			a := newAPI(pods, 0)
			h := newCounter(pods, 0)
			i := newInformer(impl)(a.listerWatcher(), &corev1.Pod{}, 0, byNamespace())
			stop := start(b, i, h)
			<-h.listed
			a.list = nil
			bytes += heap() - before
			stop()
			runtime.KeepAlive(i)
		}
		b.ReportMetric(float64(bytes)/float64(b.N)/pods, "B/object")
	})
}
