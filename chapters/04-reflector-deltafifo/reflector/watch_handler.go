package reflector

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// follow gives the store each event of w until w ends. That is no error, unless
// w was very short and brought nothing.
//
// It stands for the article's watchHandler, client-go's handleAnyWatch.
func (r *Reflector) follow(ctx context.Context, w *openWatch, resyncFailed <-chan error) error {
	events, ordered := 0, w.ordered
	defer func() { r.metrics.watched(time.Since(w.start), events) }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-resyncFailed:
			return err
		case e, ok := <-w.ResultChan():
			if !ok {
				if events == 0 && time.Since(w.start) < shortWatch {
					return &cache.VeryShortWatchError{Name: r.name}
				}
				return nil
			}
			if e.Type == watch.Error {
				return apierrors.FromObject(e.Object)
			}
			obj, ok := r.accept(ctx, e)
			if !ok {
				continue
			}
			version := obj.GetResourceVersion() // before a transform may take it away
			r.give(ctx, e, obj)
			// What isn't an Added comes behind all objects that were there.
			ordered = ordered || e.Type != watch.Added
			if ordered {
				r.setVersion(version)
				if r.versions != nil {
					r.versions.UpdateResourceVersion(version)
				}
			}
			events++
		}
	}
}

// give tells the store one event. An error of the store concerns this one
// object; the watch goes on.
func (r *Reflector) give(ctx context.Context, e watch.Event, obj metav1.Object) {
	var err error
	switch e.Type {
	case watch.Added:
		err = r.put(e.Object, r.store.Add)
	case watch.Modified:
		err = r.put(e.Object, r.store.Update)
	case watch.Deleted:
		err = r.put(e.Object, r.store.Delete)
	case watch.Bookmark:
		if r.bookmarks != nil {
			err = r.bookmarks.Bookmark(obj.GetResourceVersion())
		}
	default:
		utilruntime.HandleErrorWithContext(ctx, nil, "Unknown watch event", "reflector", r.name, "event", e.Type)
	}
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Unable to give watch event to the store", "reflector", r.name,
			"event", e.Type, "namespace", obj.GetNamespace(), "name", obj.GetName())
	}
}

func (r *Reflector) put(obj runtime.Object, write func(any) error) error {
	item, err := r.transform(obj)
	if err != nil {
		return err
	}
	return write(item)
}

func (r *Reflector) transform(obj runtime.Object) (any, error) {
	if r.options.Transform == nil {
		return obj, nil
	}
	return r.options.Transform(obj)
}

func (r *Reflector) setVersion(version string) {
	r.version.set(version)
	r.metrics.version(version)
}
