package source

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	// defaultSyncTimeout is what upstream's controller.Options.CacheSyncTimeout defaults to.
	defaultSyncTimeout = 2 * time.Minute
	// reportEvery is how often a wait says what it is waiting for.
	reportEvery = 10 * time.Second
	// syncGrace lets a WaitForSync whose time is up tell what it lacked, which
	// is worth more than the bare fact that time is up.
	syncGrace = time.Second
)

// Watches holds the sources of one controller: it remembers those that come
// before the start, starts them together and starts those that come later at
// once. It stands for the fields startWatches, ctx, Queue and
// startedEventSourcesAndQueue of controller-runtime's internal Controller.
//
// The zero value is ready to use; set the exported fields before the first call.
//
// No source is ever called with mu held. So Watch may be called from anywhere,
// also from a reconciler and from the Start of another source.
type Watches[request comparable] struct {
	// Name is the controller's name, for errors.
	Name string
	// SyncTimeout bounds the start and the sync of each source; 0 means 2 minutes.
	SyncTimeout time.Duration
	// Log is told which source starts and which one is waited for.
	Log logr.Logger

	mu      sync.Mutex                                    // guards the fields below
	pending []source.TypedSource[request]                 // remembered until Start
	ctx     context.Context                               // for sources that come after Start
	queue   workqueue.TypedRateLimitingInterface[request] // the same
	done    chan struct{}                                 // nil before Start, closed when Start knows err
	err     error                                         // outcome of the start; read it after done is closed
}

// Watch remembers src until Start, or starts it at once if Start was called. It
// does not wait for the sync of a source that it starts.
func (w *Watches[request]) Watch(src source.TypedSource[request]) error {
	if isNil(src) {
		return errors.New("can't watch a nil source: pass one made by Kind, Channel or another constructor")
	}
	w.mu.Lock()
	if w.done == nil {
		w.pending = append(w.pending, src)
		w.mu.Unlock()
		return nil
	}
	ctx, queue := w.ctx, w.queue
	w.mu.Unlock()

	w.Log.Info("Starting EventSource", "source", describe(src))
	return src.Start(ctx, queue)
}

// Started says whether Start was called.
func (w *Watches[request]) Started() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done != nil
}

// Start starts all remembered sources side by side and returns when each has
// started and, if it is a SyncingSource, has synced. ctx is the life of the
// sources; SyncTimeout bounds only the wait. The errors of all sources that
// failed are joined; a wait that ends because ctx was cancelled is no error.
//
// Only the first call starts anything. A later one (leadership after a warm-up)
// waits for the first and returns its outcome, and sources that come after it
// run under its ctx.
func (w *Watches[request]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[request]) error {
	w.mu.Lock()
	w.ctx = ctx
	if done := w.done; done != nil {
		w.mu.Unlock()
		select {
		case <-done:
			return w.err
		case <-ctx.Done():
			return nil
		}
	}
	done := make(chan struct{})
	w.done, w.queue = done, queue
	pending := w.pending
	// A source may hold a whole cache: don't keep it alive.
	w.pending = nil
	w.mu.Unlock()

	errs := make([]error, len(pending))
	var wg sync.WaitGroup
	for i, src := range pending {
		wg.Go(func() { errs[i] = w.startOne(ctx, queue, src) })
	}
	wg.Wait()
	w.err = errors.Join(errs...)
	close(done)
	return w.err
}

// startOne starts src and waits for its sync. A source that ignores its context
// is left behind rather than waited for.
func (w *Watches[request]) startOne(ctx context.Context, queue workqueue.TypedRateLimitingInterface[request], src source.TypedSource[request]) error {
	timeout := w.SyncTimeout
	if timeout <= 0 {
		timeout = defaultSyncTimeout
	}
	name := describe(src)
	log := w.Log.WithValues("source", name)
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	started := make(chan struct{})
	result := make(chan error, 1) // buffered, so that a late answer finds its way without a reader
	go func() {
		log.Info("Starting EventSource")
		// The source lives as long as ctx: waitCtx ends when the wait does.
		if err := src.Start(ctx, queue); err != nil {
			result <- fmt.Errorf("start %s: %w", name, err)
			return
		}
		close(started)
		var err error
		if syncing, ok := src.(source.TypedSyncingSource[request]); ok {
			err = syncing.WaitForSync(waitCtx)
		}
		if err != nil {
			err = fmt.Errorf("failed to wait for %s caches to sync %s: %w", w.Name, name, err)
		}
		result <- err
	}()

	report := time.NewTicker(reportEvery)
	defer report.Stop()
	timeUp := waitCtx.Done()
	var graceOver <-chan time.Time
	for {
		select {
		case err := <-result:
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil
			}
			if err != nil {
				log.Error(err, "Could not start the source or wait for Cache to sync")
			}
			return err
		case <-report.C:
			log.Info("Still waiting for a source", "for", waitsFor(started), "timeout", timeout)
		case <-timeUp:
			if ctx.Err() != nil {
				return nil
			}
			timeUp = nil
			graceOver = time.After(syncGrace)
			if !isClosed(started) {
				return fmt.Errorf("timed out after %s waiting for source %s to start: its Start must not block", timeout, name)
			}
		case <-graceOver:
			return fmt.Errorf("timed out after %s waiting for the cache of source %s to sync: its WaitForSync ignores its context", timeout, name)
		}
	}
}

func waitsFor(started <-chan struct{}) string {
	if isClosed(started) {
		return "its cache to sync"
	}
	return "its Start to return"
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// describe names a source in logs and errors.
func describe(src any) string {
	if s, ok := src.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", src)
}
