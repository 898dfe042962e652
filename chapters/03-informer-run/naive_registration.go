package informer

import (
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// naiveRegistration is one handler of a naiveProcessor, whose mu guards it. It
// stands for client-go's processorListener.
type naiveRegistration struct {
	handler cache.ResourceEventHandler
	name    string
	logger  klog.Logger
	synced  chan struct{} // closed when the initial list was delivered
	ended   chan struct{} // closed when the handler will not be called any more

	removed bool
	calling bool // by the goroutine that pops, or by the one that adds this handler

	period     time.Duration // zero: no resync
	nextResync time.Time
	// syncing says whether updates without a change are meant for this handler.
	// A new handler gets them until the first time that a resync is considered.
	syncing bool
}

func (r *naiveRegistration) HasSynced() bool { return cache.IsDone(r.HasSyncedChecker()) }

func (r *naiveRegistration) HasSyncedChecker() cache.DoneChecker {
	return doneChecker{r.name, r.synced}
}

// ShutdownChan is what cache.ShutDownEventHandler waits for.
func (r *naiveRegistration) ShutdownChan() <-chan struct{} { return r.ended }

// call calls the handler unless it was removed. A panic is treated as everywhere
// in Kubernetes: it is logged and, by default, goes on. Where it does not, the
// event counts as delivered.
func (p *naiveProcessor) call(r *naiveRegistration, notify func(cache.ResourceEventHandler)) {
	p.mu.Lock()
	r.calling = !r.removed
	calling := r.calling
	p.mu.Unlock()
	if !calling {
		return
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		r.calling = false
		if r.removed {
			close(r.ended)
		}
	}()
	defer utilruntime.HandleCrashWithLogger(r.logger)
	notify(r.handler)
}

// remove is called once, under mu.
func (r *naiveRegistration) remove() {
	r.removed = true
	if !r.calling {
		close(r.ended)
	}
}
