package informermap

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
)

// MapEntry is one informer with the reader over its store. It has a stop of its
// own, so that it can be removed while the others run.
//
// It stands for controller-runtime v0.11's internal.MapEntry, today's
// internal.Cache.
type MapEntry struct {
	Informer toolscache.SharedIndexInformer
	Reader   CacheReader

	gvk  schema.GroupVersionKind
	stop context.CancelFunc // set when the informer is run; the map's mu guards it

	// gone is closed when the entry was removed or its informer has ended: if it
	// has not synced by then, it never will.
	gone      chan struct{}
	closeGone func()

	// lastErr is what the last list or watch came back with; read by those who
	// wait and want to say why.
	lastErr atomic.Pointer[error]
}

func newMapEntry(gvk schema.GroupVersionKind) *MapEntry {
	i := &MapEntry{gvk: gvk, gone: make(chan struct{})}
	i.closeGone = sync.OnceFunc(func() { close(i.gone) })
	i.lastErr.Store(new(error))
	return i
}

// remove ends the informer; the caller holds the map's mu.
func (i *MapEntry) remove() {
	i.closeGone()
	if i.stop != nil {
		i.stop()
	}
}

// note remembers how a request for this entry ended.
func (i *MapEntry) note(err error) {
	if !errors.Is(err, context.Canceled) {
		i.lastErr.Store(&err)
	}
}
