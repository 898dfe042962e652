package deltafifo

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// A consumer asks a queue for the key of whatever it got from it.
func TestKeyOf(t *testing.T) {
	a := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}
	gone := cache.DeletedFinalStateUnknown{Key: "n/gone", Obj: a}
	upstream := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{})
	tests := map[string]struct {
		obj  any
		want string
	}{
		"an object":                      {a, "n/a"},
		"a tombstone":                    {gone, "n/gone"},
		"deltas":                         {cache.Deltas{{Type: cache.Deleted, Object: gone}, {Type: cache.Added, Object: a}}, "n/a"},
		"deltas that end in a tombstone": {cache.Deltas{{Type: cache.Added, Object: a}, {Type: cache.Deleted, Object: gone}}, "n/gone"},
		"no deltas":                      {cache.Deltas{}, ""},
		"nothing with a name":            {1, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			theirs, theirErr := upstream.KeyOf(tc.obj)
			assert.Equal(t, tc.want, theirs)
			ours, err := New(Options{}).KeyOf(tc.obj)
			assert.Equal(t, theirs, ours)
			assert.Equal(t, theirErr == nil, err == nil, "%v, client-go: %v", err, theirErr)
		})
	}
}

// Whoever asks whether a queue is closed does not lock it for the others.
func TestIsClosedOnlyAsks(t *testing.T) {
	for name, q := range map[string]cache.Queue{"DeltaFIFO": New(Options{}), "InOrder": NewInOrder(InOrderOptions{Atomic: true})} {
		t.Run(name, func(t *testing.T) {
			asks := q.(interface{ IsClosed() bool })
			assert.False(t, asks.IsClosed())
			require.NoError(t, q.Add(pod("a", "1")))
			q.Close()
			assert.True(t, asks.IsClosed())
		})
	}
}

// A queue lives as long as its informer: what it has handed out must not live as
// long, too.
func TestQueueLetsGoOfWhatWasProcessed(t *testing.T) {
	pop := func(q cache.Queue) error {
		_, err := q.Pop(func(any, bool) error { return nil })
		return err
	}
	type popAll interface {
		PopAll(func([]cache.Delta, bool) error) error
	}
	all := func(q cache.Queue) error { return q.(popAll).PopAll(func([]cache.Delta, bool) error { return nil }) }
	tests := map[string]struct {
		queue cache.Queue
		pop   func(cache.Queue) error
		after string // what comes behind the object and stays
	}{
		"DeltaFIFO, Pop":                      {New(Options{}), pop, "b"},
		"InOrder, Pop":                        {NewInOrder(InOrderOptions{Atomic: true}), pop, "b"},
		"DeltaFIFO, PopAll":                   {New(Options{}), all, ""},
		"InOrder, PopAll":                     {NewInOrder(InOrderOptions{Atomic: true}), all, ""},
		"DeltaFIFO, PopAll the initial list":  {New(Options{}), all, "b"},
		"InOrder, PopAll of the initial list": {NewInOrder(InOrderOptions{KnownObjects: emptyKnown()}), all, "b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			processed := func() weak.Pointer[corev1.Pod] { // in a function, so that no variable keeps it
				p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}
				require.NoError(t, tc.queue.Replace([]any{p}, "1"))
				return weak.Make(p)
			}()
			if tc.after != "" {
				require.NoError(t, tc.queue.Add(pod(tc.after, "2")))
			}
			require.NoError(t, tc.pop(tc.queue))
			runtime.GC()
			assert.Nil(t, processed.Value(), "the queue keeps an object that it has handed out")
			runtime.KeepAlive(tc.queue)
		})
	}
}
