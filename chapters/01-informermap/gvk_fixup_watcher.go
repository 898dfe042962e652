package informermap

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// gvkFixupWatcher writes the kind into the objects of a watch before anybody
// stores or reads them; later it would be a data race. The object of an error
// event is a Status and stays one.
//
// It stands for controller-runtime's newGVKFixupWatcher, and is no watch.Filter,
// because that never ends when it is stopped with an event in its hands.
type gvkFixupWatcher struct {
	watch.Interface
	gvk     schema.GroupVersionKind
	result  chan watch.Event
	stop    func()
	stopped chan struct{}
}

func newGVKFixupWatcher(gvk schema.GroupVersionKind, w watch.Interface) watch.Interface {
	f := &gvkFixupWatcher{Interface: w, gvk: gvk, result: make(chan watch.Event), stopped: make(chan struct{})}
	f.stop = sync.OnceFunc(func() { close(f.stopped) })
	go f.loop()
	return f
}

func (f *gvkFixupWatcher) loop() {
	defer close(f.result)
	for event := range f.Interface.ResultChan() {
		if event.Type != watch.Error {
			event.Object.GetObjectKind().SetGroupVersionKind(f.gvk)
		}
		select {
		case f.result <- event:
		case <-f.stopped:
			return
		}
	}
}

// ResultChan implements watch.Interface.
func (f *gvkFixupWatcher) ResultChan() <-chan watch.Event { return f.result }

// Stop implements watch.Interface.
func (f *gvkFixupWatcher) Stop() {
	f.stop()
	f.Interface.Stop()
}
