package processor_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/handledeltas"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
)

// counter counts calls down, first those of the list, then the events.
type counter struct {
	left            atomic.Int64
	events          int64
	listed, arrived chan struct{}
}

func newCounter(listed, events int) *counter {
	c := &counter{events: int64(events), listed: make(chan struct{}), arrived: make(chan struct{})}
	c.left.Store(int64(listed + events))
	return c
}

func (c *counter) OnAdd(any, bool)   { c.count() }
func (c *counter) OnUpdate(_, _ any) { c.count() }
func (c *counter) OnDelete(any)      { c.count() }

func (c *counter) count() {
	switch c.left.Add(-1) {
	case c.events:
		close(c.listed)
	case 0:
		close(c.arrived)
	}
}

const benchObjects = 10_000

func benchPods() (pods [2][]any) {
	for i := range benchObjects {
		for version := range 2 {
			pods[version] = append(pods[version], &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: fmt.Sprintf("namespace-%d", i/100), Name: fmt.Sprintf("pod-%06d", i), ResourceVersion: fmt.Sprint(2*i + version + 1),
			}})
		}
	}
	return pods
}

// informers differ in what this chapter builds and in nothing else: reflector
// and queue are client-go's in both. What chapters 3 and 4 gain besides is not
// in these figures.
var informers = map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
	"upstream": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, byNamespace())
	},
	"ours": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		return informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, informer.Options{
			Indexers: byNamespace(),
			NewQueue: func(cache.KeyListerGetter) cache.Queue {
				return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: true})
			},
			NewIndexer:   func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.New(k, i) },
			HandleDeltas: handledeltas.HandleDeltas,
			NewProcessor: func(resync time.Duration) informer.Processor { return processor.New(resync) },
		})
	},
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// BenchmarkDistribute brings updates of all objects in turn from a watch to
// every handler. Events are made before the clock starts.
func BenchmarkDistribute(b *testing.B) {
	pods := benchPods()
	for _, handlers := range []int{1, 8} {
		for _, impl := range []string{"upstream", "ours"} {
			b.Run(fmt.Sprintf("handlers=%d/impl=%s", handlers, impl), func(b *testing.B) {
				w := watch.NewFakeWithChanSize(b.N, false)
				for n := range b.N {
					w.Modify(pods[(n/benchObjects+1)%2][n%benchObjects].(*corev1.Pod))
				}
				start := make(chan struct{})
				lw := &cache.ListWatch{
					ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
						list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
						for _, p := range pods[0] {
							list.Items = append(list.Items, *p.(*corev1.Pod))
						}
						return list, nil
					},
					WatchFunc: func(metav1.ListOptions) (watch.Interface, error) {
						<-start
						return w, nil
					},
				}
				i := informers[impl](cache.ToListWatcherWithWatchListSemantics(lw, noWatchList{}))
				counters := make([]*counter, handlers)
				for n := range counters {
					counters[n] = newCounter(benchObjects, b.N)
					_, err := i.AddEventHandler(counters[n])
					require.NoError(b, err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				var running sync.WaitGroup
				running.Go(func() { i.RunWithContext(ctx) })
				for _, c := range counters {
					<-c.listed
				}
				b.ReportAllocs()
				b.ResetTimer()
				close(start)
				for _, c := range counters {
					<-c.arrived
				}
				b.StopTimer()
				cancel()
				running.Wait()
			})
		}
	}
}

type noWatchList struct{}

func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }
