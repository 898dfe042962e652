package informer

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
)

// AddEventHandler registers a handler with the informer's own resync period.
func (s *sharedIndexInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod registers a handler that wants to see all
// objects again about every resyncPeriod.
func (s *sharedIndexInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, resyncPeriod time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions registers a handler, before or after the start. A
// late one joins while no delta can be applied: it is given the objects that are
// in the indexer, and then gets what comes next.
func (s *sharedIndexInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, fmt.Errorf("%s: the event handler is nil; pass a cache.ResourceEventHandler", s.name)
	}
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()

	started, stopped := s.state()
	if stopped {
		return nil, fmt.Errorf("%s: handler %T was not added because the informer has stopped already", s.name, handler)
	}
	var initial []any
	if started {
		initial = s.indexer.List()
	}
	name := s.name + " + event handler " + handlerName(handler)
	return s.processor.Add(handler, options, name, initial, s.HasSynced()), nil
}

// RemoveEventHandler ends a registration. It takes no lock of the informer, so
// that a handler may remove itself; a call that has begun goes on to its end
// (cache.ShutDownEventHandler waits for it).
func (s *sharedIndexInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	return s.processor.Remove(handle)
}
