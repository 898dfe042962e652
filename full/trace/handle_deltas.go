package trace

import "k8s.io/client-go/tools/cache"

// delta tells of one that comes to HandleDeltas.
func (t *Tracer) delta(d cache.Delta) {
	switch info := d.Object.(type) {
	case cache.ReplacedAllInfo:
		for _, obj := range info.Objects {
			t.step(HandleDeltas, string(d.Type), identify(obj), "")
		}
	case cache.SyncAllInfo, cache.BookmarkInfo: // about no object
	default:
		if d.Type == cache.Sync { // made by the queue of what the store has, so it begins here
			t.enter(HandleDeltas, string(d.Type), identify(d.Object))
			return
		}
		t.step(HandleDeltas, string(d.Type), identify(d.Object), "")
	}
}

// processor tells of what HandleDeltas reports.
type processor struct {
	cache.ResourceEventHandler
	tracer *Tracer
}

func (p *processor) OnAdd(obj any, isInInitialList bool) {
	p.tracer.step(Processor, "OnAdd", identify(obj), "")
	p.ResourceEventHandler.OnAdd(obj, isInInitialList)
}

func (p *processor) OnUpdate(oldObj, newObj any) {
	p.tracer.step(Processor, "OnUpdate", identify(newObj), "")
	p.ResourceEventHandler.OnUpdate(oldObj, newObj)
}

func (p *processor) OnDelete(obj any) {
	p.tracer.step(Processor, "OnDelete", identify(obj), "")
	p.ResourceEventHandler.OnDelete(obj)
}

// store tells of what HandleDeltas applies to an indexer.
type store struct {
	cache.Store
	tracer *Tracer
}

// The optional methods of a store that chapter 5's HandleDeltas makes use of.
type (
	applier interface {
		Apply(deltas []cache.Delta) (olds []any, err error)
	}
	replacer interface {
		ReplaceAll(list []any, resourceVersion string) (olds []any, gone []cache.DeletedFinalStateUnknown, err error)
	}
)

// newStore keeps the optional methods: HandleDeltas goes other ways without them.
func newStore(s cache.Store, t *Tracer) cache.Store {
	traced := &store{s, t}
	a, applies := s.(applier)
	r, replaces := s.(replacer)
	switch {
	case applies && replaces:
		return struct {
			*store
			tracedApply
			tracedReplace
		}{traced, tracedApply{a, t}, tracedReplace{r, t}}
	case applies:
		return struct {
			*store
			tracedApply
		}{traced, tracedApply{a, t}}
	case replaces:
		return struct {
			*store
			tracedReplace
		}{traced, tracedReplace{r, t}}
	}
	return traced
}

func (s *store) Add(obj any) error {
	s.tracer.step(Indexer, "Add", identify(obj), "")
	return s.Store.Add(obj)
}

func (s *store) Update(obj any) error {
	s.tracer.step(Indexer, "Update", identify(obj), "")
	return s.Store.Update(obj)
}

func (s *store) Delete(obj any) error {
	s.tracer.step(Indexer, "Delete", identify(obj), "")
	return s.Store.Delete(obj)
}

func (s *store) Replace(list []any, resourceVersion string) error {
	for _, obj := range list {
		s.tracer.step(Indexer, "Replace", identify(obj), "")
	}
	return s.Store.Replace(list, resourceVersion)
}

type tracedApply struct {
	inner  applier
	tracer *Tracer
}

func (a tracedApply) Apply(deltas []cache.Delta) (olds []any, err error) {
	for _, d := range deltas {
		a.tracer.step(Indexer, "Apply", identify(d.Object), "")
	}
	return a.inner.Apply(deltas)
}

type tracedReplace struct {
	inner  replacer
	tracer *Tracer
}

func (r tracedReplace) ReplaceAll(list []any, resourceVersion string) (olds []any, gone []cache.DeletedFinalStateUnknown, err error) {
	for _, obj := range list {
		r.tracer.step(Indexer, "ReplaceAll", identify(obj), "")
	}
	return r.inner.ReplaceAll(list, resourceVersion)
}
