package reflector

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// errNoBookmark says that a streamed list ended before it was complete.
var errNoBookmark = errors.New("the stream ended before the bookmark that marks the end of the initial events")

// listAsWatch gives the store the whole state from a watch that begins with it,
// and returns the watch, which goes on with the events since. It costs the
// server less than a list: nothing has to be collected there.
//
// A stream that ends early is an error, not a reason to try at once: if a proxy
// cuts every stream, only a plain list makes progress.
func (r *Reflector) listAsWatch(ctx context.Context) (*openWatch, error) {
	for ctx.Err() == nil {
		from := r.version.forStream()
		opts := r.watchOptions(from)
		opts.SendInitialEvents = ptr.To(true)
		opts.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
		w, err := r.open(ctx, opts)
		if err == nil {
			if err = r.streamInto(ctx, w); err == nil {
				return w, nil
			}
			w.Stop()
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case isBusy(err):
			r.sayBusy(ctx, err)
			r.pause(ctx)
		case isUnavailable(err) && from != "":
			r.version.setUnavailable(true)
		default:
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// streamInto collects the initial events of w and gives them to the store.
func (r *Reflector) streamInto(ctx context.Context, w *openWatch) error {
	items, version, err := r.collect(ctx, w)
	if err != nil {
		return err
	}
	r.version.setUnavailable(false)
	r.metrics.listed(time.Since(w.start), len(items))
	if err := r.store.Replace(items, version); err != nil {
		return fmt.Errorf("unable to sync watch-list result: %w", err)
	}
	r.setVersion(version)
	return nil
}

// collect reads w up to the annotated bookmark and returns the state at it.
func (r *Reflector) collect(ctx context.Context, w *openWatch) ([]any, string, error) {
	c := collected{index: map[string]int{}}
	last := time.Now()
	ticker := time.NewTicker(sayEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, "", ctx.Err()
		case <-ticker.C:
			klog.FromContext(ctx).Info("Still waiting", "for", "the bookmark that marks the end of the initial events of "+r.typeDescription,
				"reflector", r.name, "since", time.Since(w.start).Round(time.Second), "lastEvent", time.Since(last).Round(time.Second))
		case e, ok := <-w.ResultChan():
			if !ok {
				return nil, "", errNoBookmark
			}
			if e.Type == watch.Error {
				return nil, "", apierrors.FromObject(e.Object)
			}
			last = time.Now()
			obj, ok := r.accept(ctx, e)
			if !ok {
				continue
			}
			if e.Type == watch.Bookmark && obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				return c.items(), obj.GetResourceVersion(), nil
			}
			if err := r.collectEvent(&c, e, obj); err != nil {
				return nil, "", err
			}
		}
	}
}

func (r *Reflector) collectEvent(c *collected, e watch.Event, obj metav1.Object) error {
	key := cache.NewObjectName(obj.GetNamespace(), obj.GetName()).String()
	switch e.Type {
	case watch.Added, watch.Modified:
		item, err := r.transform(e.Object)
		if err != nil {
			return fmt.Errorf("unable to sync watch-list result: couldn't transform object %s: %w", key, err)
		}
		c.put(key, item)
	case watch.Deleted:
		c.remove(key)
	}
	return nil
}

// collected is a state in the making, in the order in which the keys came.
type collected struct {
	objects []any
	index   map[string]int
}

func (c *collected) put(key string, obj any) {
	if i, ok := c.index[key]; ok {
		c.objects[i] = obj
		return
	}
	c.index[key] = len(c.objects)
	c.objects = append(c.objects, obj)
}

func (c *collected) remove(key string) {
	if i, ok := c.index[key]; ok {
		c.objects[i] = nil // its place is kept, should it come again
	}
}

func (c *collected) items() []any {
	items := c.objects[:0]
	for _, obj := range c.objects {
		if obj != nil {
			items = append(items, obj)
		}
	}
	return items
}
