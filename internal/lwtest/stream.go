package lwtest

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is one open watch: what is pushed is buffered without bound, and run
// hands it on.
type stream struct {
	bookmarks bool
	after     uint64 // changes up to this version are not for this watch; the server's mu guards it
	timeout   *time.Timer
	out       chan watch.Event
	stopped   chan struct{}
	stop      sync.Once
	wake      chan struct{} // holds one token when buffer or ended has changed

	// mu guards buffer and ended.
	mu     sync.Mutex
	buffer []watch.Event
	ended  bool
}

func newStream(bookmarks bool) *stream {
	return &stream{
		bookmarks: bookmarks,
		out:       make(chan watch.Event),
		stopped:   make(chan struct{}),
		wake:      make(chan struct{}, 1),
	}
}

// ResultChan is closed when the watch has ended, whoever ended it.
func (w *stream) ResultChan() <-chan watch.Event { return w.out }

// Stop ends the watch from the client's side; what is buffered is dropped.
func (w *stream) Stop() { w.stop.Do(func() { close(w.stopped) }) }

func (w *stream) offer(c change) {
	if c.version > w.after {
		w.push(watch.Event{Type: c.event, Object: clone(c.object)})
	}
}

func (w *stream) push(e watch.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.buffer = append(w.buffer, e)
		w.signal()
	}
}

// end closes the watch behind what is buffered.
func (w *stream) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.signal()
}

func (w *stream) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *stream) run(ctx context.Context) {
	defer close(w.out)
	if w.timeout != nil {
		defer w.timeout.Stop()
	}
	for {
		w.mu.Lock()
		batch, ended := w.buffer, w.ended
		w.buffer = nil
		w.mu.Unlock()
		for _, e := range batch {
			select {
			case w.out <- e:
			case <-w.stopped:
				return
			case <-ctx.Done():
				return
			}
		}
		if ended {
			return
		}
		select {
		case <-w.wake:
		case <-w.stopped:
			return
		case <-ctx.Done():
			return
		}
	}
}

// emptyLike returns a new object of obj's type and kind.
func emptyLike(obj Object) Object {
	empty := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(Object)
	if u, ok := empty.(*unstructured.Unstructured); ok {
		u.Object = map[string]any{}
	}
	empty.GetObjectKind().SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	return empty
}

// itemOf returns a new object of the type that list holds.
func itemOf(list runtime.Object) Object {
	if _, ok := list.(*unstructured.UnstructuredList); ok {
		return &unstructured.Unstructured{Object: map[string]any{}}
	}
	item := reflect.TypeOf(list).Elem()
	items, _ := item.FieldByName("Items")
	return reflect.New(items.Type.Elem()).Interface().(Object)
}
