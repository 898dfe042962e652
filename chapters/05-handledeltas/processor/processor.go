// Package processor brings what happened to everyone who asked to be told, at
// the pace of each.
package processor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
)

// Processor gathers what HandleDeltas reports, and on Flush gives the same list
// to every listener: eight handlers cost eight slice headers more than one, not
// eight times the work. Stands for client-go's sharedProcessor.
//
// OnAdd, OnUpdate, OnDelete, Flush, Synced and Add are called under one lock of
// the caller's (the informer's blockDeltas): between the initial list of a new
// handler and its first event nothing may happen. Everything else may be called
// at any time from any goroutine, handlers included.
//
// Invariants: a list that was given out is never changed; a listener in
// listeners is running if and only if the processor is; mu is never held while
// a handler is called or waited for.
type Processor struct {
	// reported is what the next Flush gives out. The caller's lock guards it.
	reported []notification

	mu        sync.Mutex // guards what follows
	listeners []*listener
	running   bool
	stopped   bool // for good
	// resyncPeriod is for handlers that ask for none in particular.
	resyncPeriod time.Duration
	// checkPeriod is how often ShouldResync is asked. Zero: never.
	checkPeriod time.Duration

	wg sync.WaitGroup // the goroutines of all listeners, removed ones too
}

var _ informer.Processor = (*Processor)(nil)

// New makes a Processor. resync is the period of handlers that name none; zero
// means that there are no resyncs at all.
func New(resync time.Duration) *Processor {
	return &Processor{resyncPeriod: resync, checkPeriod: resync}
}

// OnAdd reports a new object.
func (p *Processor) OnAdd(obj any, isInInitialList bool) {
	p.reported = append(p.reported, notification{verb: add, obj: obj, isInInitialList: isInInitialList})
}

// OnUpdate reports a change, or a resync if the resourceVersion did not change.
func (p *Processor) OnUpdate(old, obj any) {
	p.reported = append(p.reported, notification{verb: updateVerb(old, obj), old: old, obj: obj})
}

// OnDelete reports that an object is gone; obj may be a tombstone.
func (p *Processor) OnDelete(obj any) {
	p.reported = append(p.reported, notification{verb: remove, obj: obj})
}

// Flush gives every listener what was reported since the last Flush. It waits
// for no handler, and it may come before Run: listeners that do not run yet
// keep what they get.
func (p *Processor) Flush() {
	if len(p.reported) == 0 {
		return
	}
	reported := p.reported
	p.reported = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		l.put(batch{notifications: reported, syncing: l.syncing})
	}
}

// Synced puts the mark "initial list delivered" behind what each listener has.
func (p *Processor) Synced() {
	p.Flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		l.put(batch{mark: true})
	}
}

// Add registers a handler. It gets initial as OnAdd calls first, then, if
// isSynced, the mark; without isSynced the mark comes with Synced.
func (p *Processor) Add(h cache.ResourceEventHandler, o cache.HandlerOptions, name string, initial []any, isSynced bool) cache.ResourceEventHandlerRegistration {
	p.Flush() // what is in initial must not come a second time
	l := newListener(h, name, ptr.Deref(o.Logger, klog.Background()))
	if len(initial) > 0 {
		adds := make([]notification, len(initial))
		for i, obj := range initial {
			adds[i] = notification{verb: add, obj: obj, isInInitialList: true}
		}
		l.put(batch{notifications: adds})
	}
	if isSynced {
		l.put(batch{mark: true})
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		close(l.stopped)
		close(l.ended)
		return l
	}
	p.grantPeriod(l, ptr.Deref(o.ResyncPeriod, p.resyncPeriod))
	p.listeners = append(p.listeners, l)
	if p.running {
		p.wg.Go(l.run)
	}
	return l
}

// Remove ends a registration. What waits is dropped; one call may be running
// still, or just about to begin, and ShutdownChan tells when it has returned.
// What is not registered (any more) is fine; what no processor made is an error.
func (p *Processor) Remove(registration cache.ResourceEventHandlerRegistration) error {
	l, ok := registration.(*listener)
	if !ok {
		return fmt.Errorf("can't remove a handler by a %T: pass what AddEventHandler returned", registration)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.listeners, l)
	if i < 0 {
		return nil
	}
	p.listeners = slices.Delete(p.listeners, i, i+1)
	close(l.stopped)
	if !p.running {
		close(l.ended)
	}
	return nil
}

// Run calls handlers until ctx is done, then waits for the calls that are
// running. What waits then is dropped. A Processor runs once.
func (p *Processor) Run(ctx context.Context) {
	if !p.start() {
		klog.FromContext(ctx).Error(nil, "This processor was started before and runs only once; ignoring the second Run")
		return
	}
	<-ctx.Done()
	p.stop()
	// Without mu: a handler that is being waited for may want to Remove itself.
	p.wg.Wait()
}

func (p *Processor) start() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running || p.stopped {
		return false
	}
	p.running = true
	for _, l := range p.listeners {
		p.wg.Go(l.run)
	}
	return true
}

func (p *Processor) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.stopped = false, true
	for _, l := range p.listeners {
		close(l.stopped)
	}
	p.listeners = nil
}
