package deltafifo

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// How much waits is reported when a batch is taken, too.
func TestMetricsOfPopAll(t *testing.T) {
	id, err := cache.NewInformerName(t.Name())
	require.NoError(t, err)
	defer id.Release()
	pods := id.WithResource(schema.GroupVersionResource{Resource: "pods"})
	for name, create := range map[string]func(r *recorder) popAller{
		"DeltaFIFO": func(r *recorder) popAller {
			return New(Options{KeyFunction: itemKey, Identifier: pods, MetricsProvider: r})
		},
		"InOrder": func(r *recorder) popAller {
			return NewInOrder(InOrderOptions{KeyFunction: itemKey, KnownObjects: emptyKnown(), Identifier: pods, MetricsProvider: r})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			q := create(r)
			require.NoError(t, q.Replace([]any{it("a", 1), it("b", 1)}, "1"))
			require.NoError(t, q.Add(it("c", 1)))
			for range 2 { // the initial list comes alone
				require.NoError(t, q.PopAll(func([]cache.Delta, bool) error { return nil }))
			}
			assert.Equal(t, []float64{1, 2, 3, 1, 0}, r.queued)
			assert.Len(t, r.latency, 2)
		})
	}
}

// A key function of one's own is asked, also about what has a name and a namespace.
func TestKeyFunctionMayRefuseAnything(t *testing.T) {
	refuse := func(any) (string, error) { return "", errors.New("not this one") }
	for name, q := range map[string]cache.Queue{
		"DeltaFIFO": New(Options{KeyFunction: refuse}),
		"InOrder":   NewInOrder(InOrderOptions{KeyFunction: refuse, Atomic: true}),
		"client-go": cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: refuse, AtomicEvents: true}),
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorContains(t, q.Add(pod("a", "1")), "not this one")
		})
	}
}

// What a resync has queued before the first list, and the list does not hold, is
// part of what has to be processed before the queue has synced.
func TestResyncBeforeTheFirstList(t *testing.T) {
	for name, create := range map[string]func(k *known) cache.Queue{
		"DeltaFIFO": func(k *known) cache.Queue { return New(Options{KeyFunction: itemKey, KnownObjects: k}) },
		"client-go": func(k *known) cache.Queue {
			return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: itemKey, KnownObjects: k})
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := create(&known{items: map[string]item{"gone": it("gone", 1)}})
			require.NoError(t, q.Resync())
			require.NoError(t, q.Replace([]any{it("listed", 1)}, "1"))
			var synced []bool
			for range 2 {
				_, err := q.Pop(func(any, bool) error { return nil })
				require.NoError(t, err)
				synced = append(synced, q.HasSynced())
			}
			assert.Equal(t, []bool{false, true}, synced)
		})
	}
}

// A delta whose transform has taken the key away ends its batch: what is behind it
// may be of the same object.
func TestDeltaWithoutAKeyEndsTheBatch(t *testing.T) {
	q := NewInOrder(InOrderOptions{KeyFunction: itemKey, Atomic: true, Transformer: func(obj any) (any, error) {
		i := obj.(item)
		if i.Key == "lost" {
			i.Key = ""
		}
		return i, nil
	}})
	for _, key := range []string{"a", "b", "lost", "c", "lost"} {
		require.NoError(t, q.Add(it(key, 1)))
	}
	var sizes []int
	for q.waiting() > 0 {
		require.NoError(t, q.PopBatch(
			func(deltas []cache.Delta, _ bool) error { sizes = append(sizes, len(deltas)); return nil },
			func(any, bool) error { sizes = append(sizes, 1); return nil }))
		require.Less(t, len(sizes), 5)
	}
	assert.Equal(t, []int{3, 2}, sizes)
}
