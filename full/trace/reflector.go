package trace

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// listWatch tells of what the API server sends to a reflector.
type listWatch struct {
	cache.ListerWatcherWithContext
	unsupported bool
	tracer      *Tracer
}

func newListWatch(lw cache.ListerWatcher, t *Tracer) cache.ListerWatcher {
	return &listWatch{cache.ToListerWatcherWithContext(lw), watchlist.DoesClientNotSupportWatchListSemantics(lw), t}
}

// IsWatchListSemanticsUnSupported says what the wrapped one says: a reflector
// that streams a list from one that can't would wait for ever.
func (l *listWatch) IsWatchListSemanticsUnSupported() bool { return l.unsupported }

func (l *listWatch) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), o)
}

func (l *listWatch) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := l.ListerWatcherWithContext.ListWithContext(ctx, o)
	if err == nil && meta.IsListType(list) {
		// What is wrong with a list is for the reflector to say.
		_ = meta.EachListItem(list, func(obj runtime.Object) error {
			l.tracer.enter(Reflector, "List", identify(obj))
			return nil
		})
	}
	return list, err
}

func (l *listWatch) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), o)
}

func (l *listWatch) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := l.ListerWatcherWithContext.WatchWithContext(ctx, o)
	if err != nil {
		return nil, err
	}
	return newStream(w, l.tracer), nil
}

// stream passes on the events of a watch. Upstream's watch.Filter does so, too,
// but its goroutine stays for ever when a reader stops with an event on the way.
type stream struct {
	watch.Interface
	events  chan watch.Event
	stop    sync.Once
	stopped chan struct{}
}

func newStream(w watch.Interface, t *Tracer) *stream {
	s := &stream{Interface: w, events: make(chan watch.Event), stopped: make(chan struct{})}
	go s.run(t)
	return s
}

func (s *stream) run(t *Tracer) {
	defer close(s.events)
	for e := range s.Interface.ResultChan() {
		switch e.Type {
		case watch.Added, watch.Modified, watch.Deleted:
			t.enter(Reflector, string(e.Type), identify(e.Object))
		}
		select {
		case s.events <- e:
		case <-s.stopped:
			return
		}
	}
}

func (s *stream) ResultChan() <-chan watch.Event { return s.events }

func (s *stream) Stop() {
	s.stop.Do(func() { close(s.stopped) })
	s.Interface.Stop()
}

// reflectorStore tells of what a reflector puts into its store. It has the
// optional methods of such a store whether or not the wrapped one has them: then
// they do what a reflector does without them, which is nothing.
type reflectorStore struct {
	cache.ReflectorStore
	tracer *Tracer
}

var (
	_ cache.ReflectorBookmarkStore = &reflectorStore{}
	_ cache.ResourceVersionUpdater = &reflectorStore{}
	_ cache.TransformingStore      = &reflectorStore{}
)

func (s *reflectorStore) Add(obj any) error {
	s.tracer.step(DeltaFIFO, "Add", identify(obj), "")
	return s.ReflectorStore.Add(obj)
}

func (s *reflectorStore) Update(obj any) error {
	s.tracer.step(DeltaFIFO, "Update", identify(obj), "")
	return s.ReflectorStore.Update(obj)
}

func (s *reflectorStore) Delete(obj any) error {
	s.tracer.step(DeltaFIFO, "Delete", identify(obj), "")
	return s.ReflectorStore.Delete(obj)
}

func (s *reflectorStore) Replace(list []any, resourceVersion string) error {
	for _, obj := range list {
		s.tracer.step(DeltaFIFO, "Replace", identify(obj), "")
	}
	return s.ReflectorStore.Replace(list, resourceVersion)
}

func (s *reflectorStore) Bookmark(resourceVersion string) error {
	if inner, ok := s.ReflectorStore.(cache.ReflectorBookmarkStore); ok {
		return inner.Bookmark(resourceVersion)
	}
	return nil
}

func (s *reflectorStore) UpdateResourceVersion(resourceVersion string) {
	if inner, ok := s.ReflectorStore.(cache.ResourceVersionUpdater); ok {
		inner.UpdateResourceVersion(resourceVersion)
	}
}

func (s *reflectorStore) Transformer() cache.TransformFunc {
	if inner, ok := s.ReflectorStore.(cache.TransformingStore); ok {
		return inner.Transformer()
	}
	return nil
}
