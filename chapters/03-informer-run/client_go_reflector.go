package informer

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// clientGoReflector fits client-go's reflector to what the informer asks for. It
// is the default of Options.NewReflector.
type clientGoReflector struct {
	*cache.Reflector
	onError cache.WatchErrorHandlerWithContext
}

// NewClientGoReflector makes the default reflector: client-go's, behind the seam
// of this package.
func NewClientGoReflector(lw cache.ListerWatcher, expectedType runtime.Object, store cache.ReflectorStore, o ReflectorOptions) Reflector {
	r := cache.NewReflectorWithOptions(lw, expectedType, transformOnce{store, o.Transform}, cache.ReflectorOptions{
		TypeDescription: o.TypeDescription,
		ResyncPeriod:    o.ResyncPeriod,
	})
	r.ShouldResync = o.ShouldResync
	return clientGoReflector{r, o.WatchErrorHandler}
}

// RunWithContext has a loop of its own if there is an error handler: client-go's
// reflector lets only client-go's informers set one. The back-off is the same,
// 0.8 s to 30 s, reset after two quiet minutes.
func (r clientGoReflector) RunWithContext(ctx context.Context) {
	if r.onError == nil {
		r.Reflector.RunWithContext(ctx)
		return
	}
	backoff := wait.Backoff{Duration: 800 * time.Millisecond, Cap: 30 * time.Second, Steps: 38, Factor: 2, Jitter: 1}
	_ = backoff.DelayWithReset(clock.RealClock{}, 2*time.Minute).Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		if err := r.ListAndWatchWithContext(ctx); err != nil {
			r.onError(ctx, r.Reflector, err)
		}
		return false, nil
	})
}

// transformOnce transforms each object on its way into the store.
//
// It has no Transformer method, on purpose: a streamed list is collected in a
// store of the reflector's own, and a reflector that sees a Transformer uses it
// there too, so that objects would be transformed twice. The store's other
// optional interfaces are kept.
type transformOnce struct {
	cache.ReflectorStore
	transform cache.TransformFunc
}

func (t transformOnce) apply(obj any) (any, error) {
	if t.transform == nil {
		return obj, nil
	}
	return t.transform(obj)
}

func (t transformOnce) Add(obj any) error {
	obj, err := t.apply(obj)
	if err != nil {
		return err
	}
	return t.ReflectorStore.Add(obj)
}

func (t transformOnce) Update(obj any) error {
	obj, err := t.apply(obj)
	if err != nil {
		return err
	}
	return t.ReflectorStore.Update(obj)
}

// Delete transforms too: handlers shall see one shape only.
func (t transformOnce) Delete(obj any) error {
	obj, err := t.apply(obj)
	if err != nil {
		return err
	}
	return t.ReflectorStore.Delete(obj)
}

// Replace may write to the list: it is the store's from here on.
func (t transformOnce) Replace(list []any, resourceVersion string) (err error) {
	for i := range list {
		if list[i], err = t.apply(list[i]); err != nil {
			return err
		}
	}
	return t.ReflectorStore.Replace(list, resourceVersion)
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (t transformOnce) Bookmark(resourceVersion string) error {
	if s, ok := t.ReflectorStore.(cache.ReflectorBookmarkStore); ok {
		return s.Bookmark(resourceVersion)
	}
	return nil
}

// UpdateResourceVersion implements cache.ResourceVersionUpdater.
func (t transformOnce) UpdateResourceVersion(resourceVersion string) {
	if s, ok := t.ReflectorStore.(cache.ResourceVersionUpdater); ok {
		s.UpdateResourceVersion(resourceVersion)
	}
}
