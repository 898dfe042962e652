package informermap

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// newGVKFixupWatcher writes the kind into the objects of a watch before anybody
// stores or reads them; later it would be a data race. The object of an error
// event is a Status and stays one.
//
// It stands for controller-runtime's function of the same name.
func newGVKFixupWatcher(gvk schema.GroupVersionKind, w watch.Interface) watch.Interface {
	return watch.Filter(w, func(in watch.Event) (watch.Event, bool) {
		if in.Type != watch.Error {
			in.Object.GetObjectKind().SetGroupVersionKind(gvk)
		}
		return in, true
	})
}
