package processor_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
)

func pod(name, resourceVersion string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: resourceVersion}}
}

// recorder writes down its calls; before, if set, runs in each call.
type recorder struct {
	mu     sync.Mutex
	events []string
	before func(event string)
}

func (r *recorder) OnAdd(obj any, isInInitialList bool) {
	r.record(fmt.Sprintf("add %s initial=%t", describe(obj), isInInitialList))
}
func (r *recorder) OnUpdate(old, obj any) {
	r.record(fmt.Sprintf("update %s to %s", describe(old), describe(obj)))
}
func (r *recorder) OnDelete(obj any) { r.record("delete " + describe(obj)) }

func (r *recorder) record(event string) {
	if r.before != nil {
		r.before(event)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

// got returns the calls since the last got.
func (r *recorder) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

func describe(obj any) string {
	switch obj := obj.(type) {
	case *corev1.Pod:
		return obj.Name + obj.ResourceVersion
	case cache.DeletedFinalStateUnknown:
		return "tombstone " + obj.Key
	}
	return fmt.Sprint(obj)
}

// run runs p until the test ends, or stop is called, and stop waits for its end.
func run(t *testing.T, p informer.Processor) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Run(ctx)
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

func addHandler(p informer.Processor, h cache.ResourceEventHandler, initial ...any) cache.ResourceEventHandlerRegistration {
	return p.Add(h, cache.HandlerOptions{}, "informer + event handler "+fmt.Sprintf("%T", h), initial, false)
}

func addResyncing(p informer.Processor, h cache.ResourceEventHandler, period time.Duration) {
	p.Add(h, cache.HandlerOptions{ResyncPeriod: &period}, "resyncing", nil, false)
}

// bubble is a test in virtual time.
func bubble(t *testing.T, test func(t *testing.T, p *processor.Processor)) {
	synctest.Test(t, func(t *testing.T) { test(t, processor.New(0)) })
}

// dontCrash makes panics of handlers what they are without ReallyCrash. It must
// come before anything that runs handlers, so that its cleanup comes after them.
func dontCrash(t *testing.T) (panics func() []any) {
	var mu sync.Mutex
	var seen []any
	handlers := utilruntime.PanicHandlers
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r)
	}}
	t.Cleanup(func() {
		utilruntime.ReallyCrash = true
		utilruntime.PanicHandlers = handlers
	})
	return func() []any {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
}
