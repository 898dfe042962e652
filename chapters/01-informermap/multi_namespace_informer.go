package informermap

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// multiNamespaceInformer is the informers of one kind in several namespaces as
// one. A handler is added to each of them, so it is called from several
// goroutines at once; events of one namespace stay in order.
//
// It stands for controller-runtime's cache.multiNamespaceInformer.
type multiNamespaceInformer struct {
	entries []*MapEntry
	allDone
}

var _ cache.Informer = &multiNamespaceInformer{}

func newMultiNamespaceInformer(entries []*MapEntry) *multiNamespaceInformer {
	checkers := make([]toolscache.DoneChecker, len(entries))
	for n, i := range entries {
		checkers[n] = i.Informer.HasSyncedChecker()
	}
	return &multiNamespaceInformer{entries: entries, allDone: newAllDone(entries, checkers)}
}

// AddEventHandler implements cache.Informer.
func (m *multiNamespaceInformer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return m.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod implements cache.Informer.
func (m *multiNamespaceInformer) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, resync time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return m.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{ResyncPeriod: &resync})
}

// AddEventHandlerWithOptions implements cache.Informer: all or none.
func (m *multiNamespaceInformer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	r := &multiNamespaceRegistration{entries: m.entries}
	var checkers []toolscache.DoneChecker
	for _, i := range m.entries {
		handle, err := i.Informer.AddEventHandlerWithOptions(handler, options)
		if err != nil {
			return nil, errors.Join(err, r.remove())
		}
		r.handles = append(r.handles, handle)
		checkers = append(checkers, handle.HasSyncedChecker())
	}
	r.allDone = newAllDone(m.entries, checkers)
	return r, nil
}

// RemoveEventHandler implements cache.Informer.
func (m *multiNamespaceInformer) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*multiNamespaceRegistration)
	if !ok {
		return fmt.Errorf("registration %T is not a registration returned by this informer, which stands for several namespaces", handle)
	}
	return r.remove()
}

// AddIndexers implements cache.Informer.
func (m *multiNamespaceInformer) AddIndexers(indexers toolscache.Indexers) error {
	for _, i := range m.entries {
		if err := i.Informer.AddIndexers(indexers); err != nil {
			return err
		}
	}
	return nil
}

// HasSynced implements cache.Informer.
func (m *multiNamespaceInformer) HasSynced() bool { return m.done() }

// HasSyncedChecker implements cache.Informer.
func (m *multiNamespaceInformer) HasSyncedChecker() toolscache.DoneChecker { return &m.allDone }

// IsStopped implements cache.Informer.
func (m *multiNamespaceInformer) IsStopped() bool {
	for _, i := range m.entries {
		if !i.Informer.IsStopped() {
			return false
		}
	}
	return true
}

// multiNamespaceRegistration is a handler's registrations, handles[n] with
// entries[n].
type multiNamespaceRegistration struct {
	entries []*MapEntry
	handles []toolscache.ResourceEventHandlerRegistration
	allDone
}

func (r *multiNamespaceRegistration) remove() error {
	var errs []error
	for n, handle := range r.handles {
		errs = append(errs, r.entries[n].Informer.RemoveEventHandler(handle))
	}
	return errors.Join(errs...)
}

// HasSynced implements toolscache.ResourceEventHandlerRegistration.
func (r *multiNamespaceRegistration) HasSynced() bool { return r.done() }

// HasSyncedChecker implements toolscache.ResourceEventHandlerRegistration.
func (r *multiNamespaceRegistration) HasSyncedChecker() toolscache.DoneChecker { return &r.allDone }

// allDone is a DoneChecker that is done when several are. It costs a goroutine,
// but only if somebody asks for the channel, and only until the informers end.
type allDone struct {
	checkers []toolscache.DoneChecker
	channel  func() <-chan struct{}
}

func newAllDone(entries []*MapEntry, checkers []toolscache.DoneChecker) allDone {
	return allDone{checkers: checkers, channel: sync.OnceValue(func() <-chan struct{} {
		all := make(chan struct{})
		go func() {
			for n, checker := range checkers {
				select {
				case <-checker.Done():
				case <-entries[n].gone:
					return // It never will be done.
				}
			}
			close(all)
		}()
		return all
	})}
}

func (a *allDone) done() bool {
	for _, checker := range a.checkers {
		if !toolscache.IsDone(checker) {
			return false
		}
	}
	return true
}

// Name implements toolscache.DoneChecker.
func (a *allDone) Name() string {
	names := make([]string, len(a.checkers))
	for n, checker := range a.checkers {
		names[n] = checker.Name()
	}
	return strings.Join(names, ", ")
}

// Done implements toolscache.DoneChecker.
func (a *allDone) Done() <-chan struct{} { return a.channel() }
