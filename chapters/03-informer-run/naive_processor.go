package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// naiveProcessor calls the handlers in place, one after the other, in the
// goroutine that pops the queue. It stands for client-go's sharedProcessor and is
// the default of Options.NewProcessor.
//
// Order, resync periods, sync marks and removal are right. What is naive about
// it: one slow handler stops the queue and with it every other handler and the
// store, and a handler that adds a handler waits for itself. Chapter 5 shows
// both and gives each handler a goroutine and a list of its own.
type naiveProcessor struct {
	mu            sync.Mutex // guards what follows and the registrations' fields; never held during a call
	registrations []*naiveRegistration
	resync        resyncPeriods
	running       bool
}

// NewNaiveProcessor makes the default processor.
func NewNaiveProcessor(resync time.Duration) Processor {
	return &naiveProcessor{resync: resyncPeriods{fallback: resync, check: resync}}
}

func (p *naiveProcessor) OnAdd(obj any, isInInitialList bool) {
	p.distribute(false, func(h cache.ResourceEventHandler) { h.OnAdd(obj, isInInitialList) })
}

// OnUpdate takes an update without a change, from a resync or from a relist that
// found all as it was, for one that only handlers whose resync is due want.
func (p *naiveProcessor) OnUpdate(old, obj any) {
	p.distribute(sameVersion(old, obj), func(h cache.ResourceEventHandler) { h.OnUpdate(old, obj) })
}

func (p *naiveProcessor) OnDelete(obj any) {
	p.distribute(false, func(h cache.ResourceEventHandler) { h.OnDelete(obj) })
}

// Flush has nothing to do: what was reported is delivered.
func (p *naiveProcessor) Flush() {}

// Synced has nothing to wait for either.
func (p *naiveProcessor) Synced() {
	for _, r := range p.snapshot(false) {
		close(r.synced)
	}
}

func (p *naiveProcessor) Add(h cache.ResourceEventHandler, o cache.HandlerOptions, name string, initial []any, isSynced bool) cache.ResourceEventHandlerRegistration {
	r := &naiveRegistration{
		handler: h,
		name:    name,
		logger:  ptr.Deref(o.Logger, klog.Background()),
		synced:  make(chan struct{}),
		ended:   make(chan struct{}),
		syncing: true,
	}
	p.mu.Lock()
	r.period = p.resync.grant(r.logger, o.ResyncPeriod, p.running)
	r.nextResync = time.Now().Add(r.period)
	p.registrations = append(p.registrations, r)
	p.mu.Unlock()

	for _, obj := range initial {
		p.call(r, func(h cache.ResourceEventHandler) { h.OnAdd(obj, true) })
	}
	if isSynced {
		close(r.synced)
	}
	return r
}

func (p *naiveProcessor) Remove(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*naiveRegistration)
	if !ok {
		return fmt.Errorf("registration is a %T; RemoveEventHandler takes what this informer's AddEventHandler returned", handle)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.registrations, r); i >= 0 {
		p.registrations = slices.Delete(p.registrations, i, i+1)
		r.remove()
	}
	return nil
}

func (p *naiveProcessor) ResyncCheckPeriod() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resync.check
}

func (p *naiveProcessor) ShouldResync() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	needed := false
	now := time.Now()
	for _, r := range p.registrations {
		r.syncing = r.period > 0 && !now.Before(r.nextResync)
		if r.syncing {
			needed = true
			r.nextResync = now.Add(r.period)
		}
	}
	return needed
}

func (p *naiveProcessor) Run(ctx context.Context) {
	p.mu.Lock()
	p.running = true
	p.mu.Unlock()

	<-ctx.Done()
	last := p.snapshot(false)
	for _, r := range last {
		_ = p.Remove(r) // it is ours
	}
	for _, r := range last {
		<-r.ended
	}
}

// snapshot returns those who are to be called, so that a handler can remove
// itself or others meanwhile.
func (p *naiveProcessor) snapshot(onlySyncing bool) []*naiveRegistration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var rs []*naiveRegistration
	for _, r := range p.registrations {
		if r.syncing || !onlySyncing {
			rs = append(rs, r)
		}
	}
	return rs
}

func (p *naiveProcessor) distribute(onlySyncing bool, notify func(cache.ResourceEventHandler)) {
	for _, r := range p.snapshot(onlySyncing) {
		p.call(r, notify)
	}
}

// sameVersion reports whether an update is one in name only.
func sameVersion(old, obj any) bool {
	a, err := meta.Accessor(old)
	if err != nil {
		return false
	}
	b, err := meta.Accessor(obj)
	return err == nil && a.GetResourceVersion() == b.GetResourceVersion()
}
