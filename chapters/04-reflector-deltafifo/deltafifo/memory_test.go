package deltafifo

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// The array of the keys serves again, holds no key that has left, and is given up
// when it has become as long as an initial list.
func TestArrayOfTheKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		keys  int
		again bool
	}{
		"few":     {3, true},
		"no more": {maxBeside, true},
		"many":    {maxBeside + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			q := New(Options{KeyFunction: itemKey})
			q.queue = make([]string, 0, tc.keys) // or append chooses a length of its own
			for i := range tc.keys {
				require.NoError(t, q.Add(it(fmt.Sprint(i), 1)))
			}
			array := q.queue[:tc.keys]
			_, err := q.Pop(func(any, bool) error { return nil })
			require.NoError(t, err)
			assert.Empty(t, array[0])
			q.queue = append(array[:0], q.queue...) // from the front again
			require.NoError(t, q.Add(it("last", 1)))
			require.NoError(t, q.PopAll(func([]cache.Delta, bool) error { return nil }))
			if !tc.again {
				assert.Zero(t, cap(q.queue))
				return
			}
			assert.Equal(t, tc.keys, cap(q.queue))
			for _, key := range array {
				assert.Empty(t, key)
			}
		})
	}
}

// InOrder's arrays take turns: what waited behind one batch and was processed with
// the next must not live on in the first batch's array.
func TestInOrderLetsGoOfWhatWaited(t *testing.T) {
	q := NewInOrder(InOrderOptions{KnownObjects: emptyKnown()})
	done := func([]cache.Delta, bool) error { return nil }
	first, second := func() (first, second weak.Pointer[corev1.Pod]) { // in a function, so that no variable keeps them
		a := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		b := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
		require.NoError(t, q.Replace([]any{a}, "1"))
		require.NoError(t, q.Add(b)) // no part of the initial list, so it waits
		return weak.Make(a), weak.Make(b)
	}()
	require.NoError(t, q.PopAll(done))
	runtime.GC()
	assert.Nil(t, first.Value())
	assert.NotNil(t, second.Value(), "it is queued still")
	require.NoError(t, q.PopAll(done))
	runtime.GC()
	assert.Nil(t, second.Value(), "the queue keeps an object that it has handed out")
	runtime.KeepAlive(q)
}

// An array as long as maxBeside is lent again, a longer one is given up.
func TestInOrderKeepsArraysUpToMaxBeside(t *testing.T) {
	for length, kept := range map[int]bool{maxBeside: true, maxBeside + 1: false} {
		q := NewInOrder(InOrderOptions{KeyFunction: itemKey, Atomic: true})
		q.items = make([]cache.Delta, 0, length)
		require.NoError(t, q.Add(it("a", 1)))
		require.NoError(t, q.PopAll(func([]cache.Delta, bool) error { return nil }))
		assert.Equal(t, kept, q.spare != nil, "%d deltas", length)
	}
}
