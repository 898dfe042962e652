// Package record makes the recorded traces in docs/traces: it lets small stories
// happen on a real API server and writes down what full/trace saw of them.
//
// A recording is lines of full/trace, as its Printer writes them and its Parse
// reads them, with two kinds of comment between them:
//
//	# at 12.345ms                   the next line's step begins here, since the start of the story
//	# at 12.345ms: 中文 | English   what was done from outside
//
// Nothing else is made of a recording than is in it: who draws a picture of it
// may leave lines out, and that is all.
package record

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/informer-walkthrough/informer-walkthrough/full/trace"
)

// recording is the sink of a tracer.
type recording struct {
	// keep says which steps are part of the story.
	keep func(trace.Event) bool

	mu     sync.Mutex // guards what follows
	start  time.Time
	out    bytes.Buffer
	events []trace.Event
	// read is how many events await has gone past.
	read int
}

func newRecording() *recording {
	return &recording{keep: func(trace.Event) bool { return true }, start: time.Now()}
}

func (r *recording) sink(e trace.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.keep(e) {
		return
	}
	if r.enters(e) {
		fmt.Fprintf(&r.out, "# at %s\n", r.now()-e.Since.Round(time.Microsecond))
	}
	fmt.Fprintln(&r.out, e)
	r.events = append(r.events, e)
}

// enters says whether time begins for this state with this step, as it does at
// each sight of it on the wire. It needs mu.
func (r *recording) enters(e trace.Event) bool {
	known := slices.ContainsFunc(r.events, func(k trace.Event) bool {
		return k.Kind == e.Kind && k.Key == e.Key && k.ResourceVersion == e.ResourceVersion
	})
	return !known || e.Layer == trace.Reflector ||
		e.Layer == trace.HandleDeltas && e.Verb == "Sync" ||
		e.Layer == trace.Workqueue && e.Kind == "-"
}

// note says what is done from outside.
func (r *recording) note(zh, en string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.out, "# at %s: %s | %s\n", r.now(), zh, en)
}

// now needs mu.
func (r *recording) now() time.Duration { return time.Since(r.start).Round(time.Microsecond) }

// begin forgets what was recorded so far: the story starts here.
func (r *recording) begin(keep func(trace.Event) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if keep != nil {
		r.keep = keep
	}
	r.out.Reset()
	r.events, r.read, r.start = nil, 0, time.Now()
}

// await waits for n more steps of that layer with that verb.
func (r *recording) await(ctx context.Context, n int, layer trace.Layer, verbs ...string) error {
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		left := n
		for i, e := range r.events[r.read:] {
			if e.Layer == layer && slices.Contains(verbs, e.Verb) {
				left--
			}
			if left == 0 {
				r.read += i + 1
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %d times %s %v: %w; recorded until then:\n%s", n, layer, verbs, err, r.text())
	}
	return nil
}

func (r *recording) text() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.out.Bytes())
}
