package informertest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// New makes the informer under test; it has the signature of
// cache.NewSharedIndexInformer.
type New func(lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer

// Capabilities says what an implementation can't do, or does in its own way. The
// zero value is an informer that does all as it should be.
type Capabilities struct {
	// HandlersInPlace: handlers run in the goroutine that pops the queue. One that
	// is slow stops all others and the store.
	HandlersInPlace bool
	// InOrder: the queue keeps the order over all objects, and so reports a
	// deletion of an object that it has never seen.
	InOrder bool

	// What is open in client-go v0.37.2.

	// PanicLeavesUnsynced: a handler that panicked in its initial list never
	// counts as synced.
	PanicLeavesUnsynced bool
	// TransformsStreamedTwice: objects of a streamed list go through the
	// transform twice.
	TransformsStreamedTwice bool
	// NilHandlerAccepted: a nil handler is no error but a panic at the first event.
	NilHandlerAccepted bool
}

// ClientGo is what client-go's own informer can't do.
var ClientGo = Capabilities{
	InOrder:                 true,
	PanicLeavesUnsynced:     true,
	TransformsStreamedTwice: true,
	NilHandlerAccepted:      true,
}

type scenario func(w *world)

// Run plays the scenarios with the informers that newInformer makes: all of them, or those whose name
// begins with one of the given words.
func Run(t *testing.T, newInformer New, capabilities Capabilities, words ...string) {
	// The default error handlers slow down whoever logs errors, by the real clock
	// of the last error, which a bubble's clock is far behind.
	saved := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(context.Context, error, string, ...any) {}}
	t.Cleanup(func() { utilruntime.ErrorHandlers = saved })

	groups := map[string]map[string]scenario{
		"lifecycle": lifecycle,
		"sync":      syncing,
		"handlers":  joining,
		"relist":    relists,
		"resync":    resyncs,
		"settings":  settings,
		"panics":    panics,
	}
	played := 0
	for name, watchList := range map[string]bool{"list": false, "streamed list": true} {
		t.Run(name, func(t *testing.T) {
			for name, scenarios := range groups {
				t.Run(name, func(t *testing.T) {
					for name, play := range scenarios {
						if word, _, _ := strings.Cut(name, " "); len(words) > 0 && !slices.Contains(words, word) {
							continue
						}
						played++
						t.Run(name, func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								play(newWorld(t, newInformer, capabilities, watchList))
							})
						})
					}
				})
			}
		})
	}
	if played == 0 {
		t.Fatalf("there is no scenario whose name begins with one of %q", words)
	}
}
