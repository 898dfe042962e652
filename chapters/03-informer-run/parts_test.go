package informer_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// diary is what the parts under test write down, in the order in which it happens.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lines
}

// processor writes down what the informer asks of it. It is no processor that
// delivers.
type processor struct {
	*diary
	informer *cache.SharedIndexInformer
	stopped  chan struct{} // if not nil, Run returns only when it is closed
}

func (p *processor) OnAdd(obj any, initial bool) { p.write("add %s %t", name(obj), initial) }
func (p *processor) OnUpdate(_, obj any)         { p.write("update %s", name(obj)) }
func (p *processor) OnDelete(obj any)            { p.write("delete %s", name(obj)) }
func (p *processor) Flush()                      { p.write("flush") }
func (p *processor) Synced()                     { p.write("synced, informer %t", (*p.informer).HasSynced()) }
func (p *processor) ResyncCheckPeriod() time.Duration {
	return 7 * time.Second
}
func (p *processor) ShouldResync() bool { p.write("should resync"); return true }
func (p *processor) Remove(cache.ResourceEventHandlerRegistration) error {
	p.write("remove")
	return nil
}
func (p *processor) Add(_ cache.ResourceEventHandler, o cache.HandlerOptions, _ string, initial []any, isSynced bool) cache.ResourceEventHandlerRegistration {
	p.write("handler with %d objects, synced %t, own resync %t", len(initial), isSynced, o.ResyncPeriod != nil)
	return nil
}
func (p *processor) Run(ctx context.Context) {
	p.write("processor starts")
	<-ctx.Done()
	if p.stopped != nil {
		<-p.stopped
	}
	p.write("processor stops")
}

// reflector puts a list into the store and, when it is told to stop, a last event.
type reflector struct {
	*diary
	store cache.ReflectorStore
}

func (r *reflector) RunWithContext(ctx context.Context) {
	_ = r.store.Replace([]any{pod("a")}, "1")
	<-ctx.Done()
	synctest.Wait() // let everybody else do what they do at a stop
	r.write("reflector stops")
}
func (r *reflector) LastSyncResourceVersion() string { return "from the reflector" }

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func name(obj any) string { return obj.(metav1.Object).GetName() }

// What the informer asks of its parts, and in which order.
func TestParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		lw := lwtest.New()
		var i cache.SharedIndexInformer
		var got informer.ReflectorOptions
		i = informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, informer.Options{
			ResyncPeriod:      time.Minute,
			ObjectDescription: "pods of a test",
			Indexers:          cache.Indexers{"i": cache.MetaNamespaceIndexFunc},
			NewIndexer: func(key cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
				k, err := key(cache.DeletedFinalStateUnknown{Key: "tombstones have keys"})
				assert.NoError(t, err)
				d.write("indexer with %d index, %s", len(indexers), k)
				return cache.NewIndexer(key, indexers)
			},
			NewProcessor: func(resync time.Duration) informer.Processor {
				d.write("processor for %s", resync)
				return &processor{diary: d, informer: &i}
			},
			NewQueue: func(known cache.KeyListerGetter) cache.Queue {
				assert.Same(t, i.GetIndexer(), known)
				d.write("queue")
				return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known})
			},
			NewReflector: func(given cache.ListerWatcher, expected runtime.Object, store cache.ReflectorStore, o informer.ReflectorOptions) informer.Reflector {
				assert.Same(t, lw, given)
				assert.IsType(t, &corev1.Pod{}, expected)
				got = o
				d.write("reflector")
				return &reflector{diary: d, store: store}
			},
			HandleDeltas: func(h cache.ResourceEventHandler, s cache.Store, deltas []cache.Delta, initial bool) error {
				assert.Same(t, i.GetIndexer(), s)
				d.write("%d deltas", len(deltas))
				h.OnAdd(deltas[0].Object, initial)
				return nil
			},
		})
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.NoError(t, err)
		require.NoError(t, i.SetTransform(func(any) (any, error) { return "transformed", nil }))
		require.NoError(t, i.SetWatchErrorHandler(func(*cache.Reflector, error) { d.write("watch error") }))

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); i.RunWithContext(ctx) }()
		synctest.Wait()
		assert.Equal(t, "from the reflector", i.LastSyncResourceVersion())
		_, err = i.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, 0)
		require.NoError(t, err)
		require.NoError(t, i.RemoveEventHandler(nil))

		assert.Equal(t, "pods of a test", got.TypeDescription)
		assert.Equal(t, 7*time.Second, got.ResyncPeriod)
		assert.True(t, got.ShouldResync())
		transformed, _ := got.Transform(nil)
		assert.Equal(t, "transformed", transformed)
		got.WatchErrorHandler(ctx, nil, nil)
		cancel()
		<-done

		lines := d.read()
		// The processor runs beside the rest: only its end has a place.
		starts := -1
		for n, line := range lines {
			if line == "processor starts" {
				starts = n
			}
		}
		require.GreaterOrEqual(t, starts, 0)
		assert.Equal(t, []string{
			"indexer with 1 index, tombstones have keys",
			"processor for 1m0s",
			"handler with 0 objects, synced false, own resync false",
			"queue",
			"reflector",
			"1 deltas",
			"add a true",
			"flush",
			"synced, informer true",
			"handler with 0 objects, synced true, own resync true",
			"remove",
			"should resync",
			"watch error",
			"reflector stops",
			"processor stops",
		}, append(lines[:starts:starts], lines[starts+1:]...))
	})
}

// Two Runs at the same moment: one of them runs.
func TestSimultaneousRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		i := informer.NewSharedIndexInformerWithOptions(lwtest.New(), &corev1.Pod{}, informer.Options{
			NewQueue: func(known cache.KeyListerGetter) cache.Queue {
				d.write("queue")
				return realFIFOs["plain"](known)
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { i.RunWithContext(ctx) })
		}
		synctest.Wait()
		assert.Equal(t, []string{"queue"}, d.read())
		assert.False(t, i.IsStopped())
		cancel()
		wg.Wait()
	})
}

// While a handler joins, no delta is applied.
func TestJoiningBlocksDeltas(t *testing.T) {
	lw := lwtest.New()
	applied := make(chan struct{})
	var i cache.SharedIndexInformer
	i = informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, informer.Options{
		NewProcessor: func(time.Duration) informer.Processor {
			return &joiningProcessor{processor{diary: &diary{}, informer: &i}, func() {
				lw.Add(pod("a"))
				select {
				case <-applied:
					assert.Fail(t, "an event between a handler's initial list and its first event")
				case <-time.After(100 * time.Millisecond):
				}
			}}
		},
		HandleDeltas: func(cache.ResourceEventHandler, cache.Store, []cache.Delta, bool) error {
			close(applied)
			return nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); i.RunWithContext(ctx) }()
	require.True(t, cache.WaitFor(ctx, "", i.HasSyncedChecker()))
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	require.NoError(t, err)
	<-applied
	cancel()
	<-done
}

type joiningProcessor struct {
	processor
	join func()
}

func (p *joiningProcessor) Add(cache.ResourceEventHandler, cache.HandlerOptions, string, []any, bool) cache.ResourceEventHandlerRegistration {
	p.join()
	return nil
}

// client-go's DeltaFIFO is done when it takes the last object out, HasSynced
// answers when this object was processed: the informer asks both.
func TestSyncedAfterTheLastObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		processed := make(chan struct{})
		i := informer.NewSharedIndexInformerWithOptions(lwtest.New(), &corev1.Pod{}, informer.Options{
			NewQueue: func(known cache.KeyListerGetter) cache.Queue {
				return lateQueue{realFIFOs["plain"](known), processed}
			},
		})
		run(t, i)
		assert.False(t, i.HasSynced())
		close(processed)
		synctest.Wait()
		assert.True(t, i.HasSynced())
	})
}

// lateQueue is done, but its HasSynced waits, as one that needs a lock does.
type lateQueue struct {
	cache.Queue
	processed chan struct{}
}

func (q lateQueue) HasSynced() bool { <-q.processed; return q.Queue.HasSynced() }

// The caller's indexers stay the caller's: nil is none, and one map does for two informers.
func TestIndexersAreCopied(t *testing.T) {
	none := informer.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil)
	require.NoError(t, none.AddIndexers(cache.Indexers{"late": cache.MetaNamespaceIndexFunc}))
	require.NoError(t, none.GetIndexer().Add(pod("a")))
	found, err := none.GetIndexer().ByIndex("late", "ns")
	require.NoError(t, err)
	assert.Len(t, found, 1)

	shared := cache.Indexers{"i": cache.MetaNamespaceIndexFunc}
	for range 2 {
		i := informer.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, shared)
		require.NoError(t, i.AddIndexers(cache.Indexers{"late": cache.MetaNamespaceIndexFunc}))
	}
	assert.Len(t, shared, 1)
}

// run runs i until the bubble of t ends and lets it settle.
func run(t *testing.T, i cache.SharedIndexInformer) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); i.RunWithContext(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
}
