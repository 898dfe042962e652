package reflector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// shortWatch is how long a watch has to last to count as one that works.
const shortWatch = time.Second

// openWatch is a watch and when it was asked for: a proxy may hold the answer
// back until the first event.
type openWatch struct {
	watch.Interface
	start time.Time
	// ordered is false if the watch begins with the present objects, whose
	// versions say nothing about how far it is.
	ordered bool
}

func (r *Reflector) watchOptions(from string) metav1.ListOptions {
	// Spread, so that not all watches of a server end together.
	seconds := int64(r.minTimeout.Seconds() * (1 + rand.Float64()))
	return metav1.ListOptions{ResourceVersion: from, TimeoutSeconds: &seconds, AllowWatchBookmarks: true}
}

func (r *Reflector) open(ctx context.Context, opts metav1.ListOptions) (*openWatch, error) {
	start := time.Now()
	w, err := request(ctx, "the answer to a watch of "+r.typeDescription, func() (watch.Interface, error) {
		return r.lw.WatchWithContext(ctx, opts)
	}, watch.Interface.Stop)
	if err != nil {
		return nil, err
	}
	r.metrics.watchOpened()
	initial := opts.ResourceVersion == "" || opts.ResourceVersion == "0"
	return &openWatch{Interface: w, start: start, ordered: !initial || opts.SendInitialEvents != nil}, nil
}

// watchWithResync watches while a second goroutine asks whether a resync is due.
func (r *Reflector) watchWithResync(ctx context.Context, w *openWatch) error {
	resyncCtx, cancel := context.WithCancel(ctx)
	failed := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { r.resync(resyncCtx, failed) })
	// Whoever waits for this reflector must not meet its resync in the store.
	defer wg.Wait()
	defer cancel()
	return r.watch(ctx, w, failed)
}

// watch opens watch after watch, each where the last one ended, until one fails
// in a way that only a list can mend; that it does is no error any more. w is
// the first of them, if it is open already.
func (r *Reflector) watch(ctx context.Context, w *openWatch, resyncFailed <-chan error) error {
	internal := cache.NewRetryWithDeadline(r.options.MaxInternalErrorRetryDuration, time.Minute, apierrors.IsInternalError, clock.RealClock{})
	defer func() {
		if w != nil {
			w.Stop()
		}
	}()
	for ctx.Err() == nil {
		if w == nil {
			var err error
			w, err = r.open(ctx, r.watchOptions(r.LastSyncResourceVersion()))
			switch {
			case err == nil:
			case ctx.Err() != nil:
				return nil
			case isBusy(err):
				r.sayBusy(ctx, err)
				r.pause(ctx)
				continue
			default:
				return err
			}
		}
		err := r.follow(ctx, w, resyncFailed)
		lasted := time.Since(w.start)
		w.Stop()
		w = nil
		internal.After(err)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			if lasted < shortWatch {
				// It brought something, so this is no failure; but a server that
				// ends every watch at once must not be stormed.
				r.pause(ctx)
			}
		case isBusy(err):
			r.sayBusy(ctx, err)
			r.pause(ctx)
		case apierrors.IsInternalError(err) && internal.ShouldRetry():
			klog.FromContext(ctx).V(2).Info("Opening the watch again after an internal error", "reflector", r.name, "type", r.typeDescription, "err", err)
			if lasted < shortWatch {
				r.pause(ctx)
			}
		default:
			r.sayEnded(ctx, err)
			return nil
		}
	}
	return nil
}

func (r *Reflector) sayBusy(ctx context.Context, err error) {
	klog.FromContext(ctx).Info("The API server does not answer a watch now, trying again after a pause",
		"reflector", r.name, "type", r.typeDescription, "err", err)
}

// sayEnded logs why the next list is due. An expired version is everyday: that
// list still names it, and the server decides whether it can do better.
func (r *Reflector) sayEnded(ctx context.Context, err error) {
	logger := klog.FromContext(ctx)
	if isExpired(err) {
		logger = logger.V(4)
	}
	logger.Info("The watch ended with an error, listing again", "reflector", r.name, "type", r.typeDescription, "err", err)
}

// resync calls the store's Resync whenever it is due, until ctx ends or it fails.
func (r *Reflector) resync(ctx context.Context, failed chan<- error) {
	if r.options.ResyncPeriod <= 0 {
		return
	}
	timer := time.NewTimer(r.options.ResyncPeriod)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if r.options.ShouldResync == nil || r.options.ShouldResync() {
			if err := r.store.Resync(); err != nil {
				failed <- fmt.Errorf("resync failed: %w", err)
				return
			}
		}
		timer.Reset(r.options.ResyncPeriod)
	}
}
