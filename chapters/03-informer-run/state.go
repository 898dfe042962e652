package informer

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

func (s *sharedIndexInformer) state() (started, stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started, s.stopped
}

// IsStopped reports whether Run has ended or is about to.
func (s *sharedIndexInformer) IsStopped() bool {
	_, stopped := s.state()
	return stopped
}

// HasSynced reports whether the whole first list is in the indexer. Whether a
// handler has seen it, only its registration knows.
func (s *sharedIndexInformer) HasSynced() bool { return cache.IsDone(s.HasSyncedChecker()) }

// HasSyncedChecker is HasSynced for those who want to wait.
func (s *sharedIndexInformer) HasSyncedChecker() cache.DoneChecker {
	return doneChecker{s.name, s.synced}
}

// LastSyncResourceVersion is what the reflector saw last; empty before the start.
func (s *sharedIndexInformer) LastSyncResourceVersion() string {
	s.mu.Lock()
	reflector := s.reflector
	s.mu.Unlock()
	if reflector == nil {
		return ""
	}
	return reflector.LastSyncResourceVersion()
}

// GetStore returns the indexer.
func (s *sharedIndexInformer) GetStore() cache.Store { return s.indexer }

// GetIndexer returns the indexer. Who writes to it must know what they do.
func (s *sharedIndexInformer) GetIndexer() cache.Indexer { return s.indexer }

// AddIndexers adds indexes, before or after the start.
func (s *sharedIndexInformer) AddIndexers(indexers cache.Indexers) error {
	if s.IsStopped() {
		return fmt.Errorf("%s: the indexers were not added because the informer has stopped already", s.name)
	}
	return s.indexer.AddIndexers(indexers)
}

// SetWatchErrorHandler is SetWatchErrorHandlerWithContext without a context.
func (s *sharedIndexInformer) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	if handler == nil {
		return s.SetWatchErrorHandlerWithContext(nil)
	}
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext says who is told when list or watch fails; the
// last one wins, nil is the default. Only before the start.
func (s *sharedIndexInformer) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	return s.set("watch error handler", func() { s.watchErrorHandler = handler })
}

// SetTransform says what is done to each object, exactly once, before it is
// stored. Only before the start.
func (s *sharedIndexInformer) SetTransform(transform cache.TransformFunc) error {
	return s.set("transform", func() { s.transform = transform })
}

func (s *sharedIndexInformer) set(what string, apply func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return fmt.Errorf("%s: the %s was not set because the informer has already started; set it before Run", s.name, what)
	}
	apply()
	return nil
}

// doneChecker is a channel with a name.
type doneChecker struct {
	name string
	done <-chan struct{}
}

func (d doneChecker) Name() string          { return d.name }
func (d doneChecker) Done() <-chan struct{} { return d.done }
