package deltafifo

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

func TestNewInOrderRefusesContradictions(t *testing.T) {
	tests := map[string]struct {
		options InOrderOptions
		names   string
	}{
		"neither":              {InOrderOptions{}, "KnownObjects is missing"},
		"both":                 {InOrderOptions{Atomic: true, KnownObjects: emptyKnown()}, "KnownObjects is set although Atomic is"},
		"bookmarks when plain": {InOrderOptions{KnownObjects: emptyKnown(), EmitDeltaTypeBookmark: true}, "EmitDeltaTypeBookmark is set without Atomic"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() { assert.Contains(t, recover(), tc.names) }()
			NewInOrder(tc.options)
		})
	}
}

// The default key is namespace/name, as client-go's; the cheap check must refuse
// what the key function refuses.
func TestDefaultKeys(t *testing.T) {
	for name, q := range map[string]cache.Queue{
		"DeltaFIFO": New(Options{}),
		"InOrder":   NewInOrder(InOrderOptions{Atomic: true}),
		"client-go": cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true}),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, q.Add(pod("a", "1")))
			require.NoError(t, q.Add(cache.ExplicitKey("a")))
			require.NoError(t, q.Add(cache.DeletedFinalStateUnknown{Key: "a"}))
			assert.ErrorContains(t, q.Add("no object"), "couldn't create key for object no object: object has no meta")
			assert.ErrorAs(t, q.Add("no object"), &cache.KeyError{})
		})
	}
}

func TestNames(t *testing.T) {
	id, err := cache.NewInformerName(t.Name())
	require.NoError(t, err)
	defer id.Release()
	pods := id.WithResource(schema.GroupVersionResource{Resource: "pods"})
	assert.Equal(t, "DeltaFIFO", New(Options{}).HasSyncedChecker().Name())
	assert.Equal(t, "x", New(Options{Name: "x"}).HasSyncedChecker().Name())
	assert.Equal(t, "InOrder", NewInOrder(InOrderOptions{Atomic: true}).HasSyncedChecker().Name())
	assert.Equal(t, t.Name(), NewInOrder(InOrderOptions{Atomic: true, Name: "x", Identifier: pods}).HasSyncedChecker().Name())
}

// recorder is a metrics provider that remembers what the queue reported.
type recorder struct {
	queued  []float64
	latency []float64
}

type gauge struct{ r *recorder }
type histogram struct{ r *recorder }

func (g gauge) Set(v float64)         { g.r.queued = append(g.r.queued, v) }
func (h histogram) Observe(v float64) { h.r.latency = append(h.r.latency, v) }

func (r *recorder) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return gauge{r}
}
func (r *recorder) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return histogram{r}
}
func (r *recorder) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return gauge{r}
}

func TestMetrics(t *testing.T) {
	id, err := cache.NewInformerName(t.Name())
	require.NoError(t, err)
	defer id.Release()
	pods := id.WithResource(schema.GroupVersionResource{Resource: "pods"})
	queues := map[string]struct {
		create func(r *recorder) cache.Queue
		want   []float64
		reason string
	}{
		"DeltaFIFO": {func(r *recorder) cache.Queue {
			return New(Options{KeyFunction: itemKey, Identifier: pods, MetricsProvider: r})
		}, []float64{1, 2, 1}, "keys"},
		"InOrder": {func(r *recorder) cache.Queue {
			return NewInOrder(InOrderOptions{KeyFunction: itemKey, Atomic: true, Identifier: pods, MetricsProvider: r})
		}, []float64{1, 2, 3, 2}, "deltas"},
		"client-go": {func(r *recorder) cache.Queue {
			return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: itemKey, AtomicEvents: true, Identifier: pods, MetricsProvider: r})
		}, []float64{1, 2, 3, 2}, "deltas"},
	}
	for name, tc := range queues {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{}
				q := tc.create(r)
				for _, i := range []item{it("a", 1), it("b", 1), it("b", 2)} {
					require.NoError(t, q.Add(i))
				}
				_, err := q.Pop(func(any, bool) error { time.Sleep(2 * time.Second); return nil })
				require.NoError(t, err)
				assert.Equal(t, tc.want, r.queued, tc.reason)
				assert.Equal(t, []float64{2}, r.latency, "seconds")
			})
		})
	}
}

// An identifier that was given to another informer before reports nothing.
func TestMetricsOfADuplicateAreOff(t *testing.T) {
	id, err := cache.NewInformerName(t.Name())
	require.NoError(t, err)
	defer id.Release()
	id.WithResource(schema.GroupVersionResource{Resource: "pods"})
	r := &recorder{}
	q := New(Options{KeyFunction: itemKey, Identifier: id.WithResource(schema.GroupVersionResource{Resource: "pods"}), MetricsProvider: r})
	require.NoError(t, q.Add(it("a", 1)))
	assert.Empty(t, r.queued)
}

func TestSlowProcessingIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		q := NewInOrder(InOrderOptions{KeyFunction: itemKey, Atomic: true, Logger: &logger})
		for v := range 20 {
			require.NoError(t, q.Add(it("a", v)))
		}
		for _, slow := range []time.Duration{99 * time.Millisecond, 101 * time.Millisecond} {
			_, err := q.Pop(func(any, bool) error { time.Sleep(slow); return nil })
			require.NoError(t, err)
		}
		require.Len(t, lines, 1)
		assert.Contains(t, lines[0], `"waiting"=18`)
		for range 18 {
			_, err := q.Pop(func(any, bool) error { time.Sleep(time.Second); return nil })
			require.NoError(t, err)
		}
		assert.Len(t, lines, 8, "until few are held up")
	})
}
