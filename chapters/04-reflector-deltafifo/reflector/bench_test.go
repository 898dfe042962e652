package reflector

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// sink is a store that only counts.
type sink struct {
	n    int
	want int
	done context.CancelFunc
}

func (s *sink) Add(any) error               { return s.Update(nil) }
func (s *sink) Delete(any) error            { return nil }
func (s *sink) Replace([]any, string) error { return nil }
func (s *sink) Resync() error               { return nil }
func (s *sink) Update(any) error {
	if s.n++; s.n == s.want {
		s.done()
	}
	return nil
}

// BenchmarkEvent is the cost of one watch event from the stream to the store.
func BenchmarkEvent(b *testing.B) {
	for name, create := range map[string]maker{"ours": ours, "client-go": clientGos} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			events := make(chan watch.Event, 1000)
			w := watch.NewProxyWatcher(events)
			lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
				ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
				},
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return w, nil },
			}, newServer())
			ctx, cancel := context.WithCancel(context.Background())
			p := pod("a")
			p.ResourceVersion = "2"
			event := watch.Event{Type: watch.Modified, Object: p}
			go func() {
				for range b.N {
					events <- event
				}
			}()
			create(lw, &corev1.Pod{}, &sink{want: b.N, done: cancel}).RunWithContext(ctx)
		})
	}
}

// BenchmarkList is the cost of a list of 1000 pods from the answer to Replace.
func BenchmarkList(b *testing.B) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for range 1000 {
		list.Items = append(list.Items, *pod("a"))
	}
	for name, create := range map[string]maker{"ours": ours, "client-go": clientGos} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				ctx, cancel := context.WithCancel(context.Background())
				lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
					ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return list, nil },
					WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
						cancel()
						return watch.NewFake(), nil
					},
				}, newServer())
				create(lw, &corev1.Pod{}, &sink{}).RunWithContext(ctx)
			}
		})
	}
}
