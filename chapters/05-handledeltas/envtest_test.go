package chapter05_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/handledeltas"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

const (
	byTeam  = "team"
	timeout = 20 * time.Second
	poll    = 10 * time.Millisecond
)

// queues are client-go's, in every mode that an informer has used.
var queues = map[string]func(cache.KeyListerGetter) cache.Queue{
	"DeltaFIFO": func(known cache.KeyListerGetter) cache.Queue {
		return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true})
	},
	"RealFIFO": func(known cache.KeyListerGetter) cache.Queue {
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
	},
	"RealFIFO atomic": func(cache.KeyListerGetter) cache.Queue {
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: true})
	},
}

// layer is our three parts between client-go's reflector and queue.
type layer struct {
	store  *indexer.Indexer
	events *processor.Processor
	queue  cache.Queue

	blockDeltas sync.Mutex
	synced      bool
}

func startLayer(t *testing.T, newQueue func(cache.KeyListerGetter) cache.Queue, lw cache.ListerWatcher, early ...cache.ResourceEventHandler) *layer {
	l := &layer{
		store: indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{byTeam: func(obj any) ([]string, error) {
			return []string{obj.(*corev1.ConfigMap).Labels["team"]}, nil
		}}),
		events: processor.New(0),
	}
	for _, h := range early {
		l.events.Add(h, cache.HandlerOptions{}, "early", nil, false)
	}
	l.queue = newQueue(l.store)
	reflector := cache.NewReflectorWithOptions(lw, &corev1.ConfigMap{}, l.queue, cache.ReflectorOptions{})

	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { reflector.RunWithContext(ctx) })
	running.Go(func() { l.events.Run(ctx) })
	running.Go(func() { l.process(t) })
	running.Go(func() {
		select {
		case <-l.queue.HasSyncedChecker().Done():
			l.queue.HasSynced() // takes the DeltaFIFO's lock: its last object has been processed
			l.blockDeltas.Lock()
			defer l.blockDeltas.Unlock()
			l.synced = true
			l.events.Synced()
		case <-ctx.Done():
		}
	})
	t.Cleanup(func() {
		cancel()
		l.queue.Close()
		running.Wait()
	})
	return l
}

// process pops as client-go's controller does: batches if the queue has them.
func (l *layer) process(t *testing.T) {
	one := func(obj any, isInInitialList bool) error {
		return l.handle(obj.(cache.Deltas), isInInitialList)
	}
	for {
		var err error
		if q, ok := l.queue.(cache.QueueWithBatch); ok {
			err = q.PopBatch(l.handle, one)
		} else {
			_, err = l.queue.Pop(one)
		}
		if err == cache.ErrFIFOClosed {
			return
		}
		assert.NoError(t, err)
	}
}

func (l *layer) handle(deltas []cache.Delta, isInInitialList bool) error {
	l.blockDeltas.Lock()
	defer l.blockDeltas.Unlock()
	err := handledeltas.HandleDeltas(l.events, l.store, deltas, isInInitialList)
	l.events.Flush()
	return err
}

func (l *layer) add(h cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	l.blockDeltas.Lock()
	defer l.blockDeltas.Unlock()
	return l.events.Add(h, cache.HandlerOptions{}, "late", l.store.List(), l.synced)
}

// replica is a handler that keeps its own picture of the world, from events alone.
type replica struct {
	mu      sync.Mutex
	objects map[string]string // resourceVersion by name
	faults  []string
	initial int
}

func newReplica() *replica { return &replica{objects: map[string]string{}} }

func (r *replica) OnAdd(obj any, isInInitialList bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cm := obj.(*corev1.ConfigMap)
	if _, known := r.objects[cm.Name]; known {
		r.faults = append(r.faults, cm.Name+" was added twice")
	}
	if isInInitialList {
		r.initial++
	}
	r.objects[cm.Name] = cm.ResourceVersion
}

func (r *replica) OnUpdate(old, obj any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, is := old.(*corev1.ConfigMap), obj.(*corev1.ConfigMap)
	if known := r.objects[is.Name]; known != was.ResourceVersion {
		r.faults = append(r.faults, fmt.Sprintf("%s was at %q, the update says %q", is.Name, known, was.ResourceVersion))
	}
	r.objects[is.Name] = is.ResourceVersion
}

func (r *replica) OnDelete(obj any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, _ := cache.DeletionHandlingObjectToName(obj)
	if _, known := r.objects[key.Name]; !known {
		r.faults = append(r.faults, key.Name+" was deleted and never added")
	}
	delete(r.objects, key.Name)
}

func (r *replica) state() (objects map[string]string, initial int, faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.objects), r.initial, slices.Clone(r.faults)
}

// blocked never returns from its first call until it is let go.
type blocked struct {
	cache.ResourceEventHandlerFuncs
	release chan struct{}
}

func newBlocked(t *testing.T) blocked {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) }) // runs before the layer's cleanup, which waits for the call
	wait := func() { <-release }
	return blocked{cache.ResourceEventHandlerFuncs{AddFunc: func(any) { wait() }}, release}
}

func configMap(name, team string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}}
}

func live(t require.TestingT, client clientcorev1.ConfigMapInterface) map[string]string {
	list, err := client.List(context.Background(), metav1.ListOptions{})
	require.NoError(t, err)
	objects := map[string]string{}
	for _, cm := range list.Items {
		objects[cm.Name] = cm.ResourceVersion
	}
	return objects
}

func stored(s cache.Store) map[string]string {
	objects := map[string]string{}
	for _, obj := range s.List() {
		cm := obj.(*corev1.ConfigMap)
		objects[cm.Name] = cm.ResourceVersion
	}
	return objects
}

// TestLayer gives the layer real objects in the way of every queue, with a
// handler that blocks for good beside those that are watched.
func TestLayer(t *testing.T) {
	for name, newQueue := range queues {
		t.Run(name, func(t *testing.T) {
			cfg := controlplane.Config(t)
			ns := controlplane.Namespace(t, cfg)
			clientset := kubernetes.NewForConfigOrDie(cfg)
			client := clientset.CoreV1().ConfigMaps(ns)
			create := func(from, to int, team string) {
				for i := from; i < to; i++ {
					_, err := client.Create(t.Context(), configMap(fmt.Sprintf("cm-%02d", i), team), metav1.CreateOptions{})
					require.NoError(t, err)
				}
			}
			create(0, 10, "red")

			early := newReplica()
			lw := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "configmaps", ns, fields.Everything())
			l := startLayer(t, newQueue, lw, early)
			stuck := newBlocked(t)
			l.add(stuck)
			require.Eventually(t, func() bool { _, n, _ := early.state(); return n == 10 }, timeout, poll, "the initial list comes as such")

			create(10, 20, "blue")
			for i := range 5 {
				cm, err := client.Get(t.Context(), fmt.Sprintf("cm-%02d", i), metav1.GetOptions{})
				require.NoError(t, err)
				cm.Labels["team"] = "blue"
				_, err = client.Update(t.Context(), cm, metav1.UpdateOptions{})
				require.NoError(t, err)
			}
			late := newReplica()
			registration := l.add(late)
			for i := 5; i < 15; i++ {
				require.NoError(t, client.Delete(t.Context(), fmt.Sprintf("cm-%02d", i), metav1.DeleteOptions{}))
			}

			want := live(t, client)
			require.Len(t, want, 10)
			for who, r := range map[string]*replica{"early": early, "late": late} {
				require.EventuallyWithT(t, func(t *assert.CollectT) {
					objects, _, _ := r.state()
					assert.Equal(t, want, objects)
				}, timeout, poll, "the %s handler ends up with what the API server has", who)
				_, _, faults := r.state()
				assert.Empty(t, faults, who)
			}
			assert.Equal(t, want, stored(l.store))
			require.Eventually(t, registration.HasSynced, timeout, poll, "the late handler has had its list")

			blue, err := l.store.IndexKeys(byTeam, "blue")
			require.NoError(t, err)
			assert.Len(t, blue, 10)
			assert.Equal(t, []string{"blue"}, l.store.ListIndexFuncValues(byTeam), "nobody is left in team red")
		})
	}
}

// TestSameAsUpstream runs client-go's whole informer beside the layer on one
// history: both stores and both handlers must end up with the same.
func TestSameAsUpstream(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	clientset := kubernetes.NewForConfigOrDie(cfg)
	client := clientset.CoreV1().ConfigMaps(ns)
	lw := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "configmaps", ns, fields.Everything())

	ours, theirs := newReplica(), newReplica()
	l := startLayer(t, queues["RealFIFO atomic"], lw, ours)
	upstream := cache.NewSharedIndexInformer(lw, &corev1.ConfigMap{}, 0, cache.Indexers{})
	_, err := upstream.AddEventHandler(theirs)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { upstream.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })

	for i := range 60 {
		name := fmt.Sprintf("cm-%d", i%7)
		cm, err := client.Get(t.Context(), name, metav1.GetOptions{})
		switch {
		case err != nil:
			_, err = client.Create(t.Context(), configMap(name, fmt.Sprint(i)), metav1.CreateOptions{})
		case i%3 == 0:
			err = client.Delete(t.Context(), name, metav1.DeleteOptions{})
		default:
			cm.Labels["team"] = fmt.Sprint(i)
			_, err = client.Update(t.Context(), cm, metav1.UpdateOptions{})
		}
		require.NoError(t, err)
	}
	want := live(t, client)
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		assert.Equal(t, want, stored(upstream.GetStore()))
		assert.Equal(t, want, stored(l.store))
		for _, r := range []*replica{ours, theirs} {
			objects, _, faults := r.state()
			assert.Equal(t, want, objects)
			assert.Empty(t, faults)
		}
		assert.Equal(t, upstream.GetStore().LastStoreSyncResourceVersion(), l.store.LastStoreSyncResourceVersion())
	}, timeout, poll, "both follow the API server")
}
