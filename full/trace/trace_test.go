package trace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	crsource "sigs.k8s.io/controller-runtime/pkg/source"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run/informertest"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

type createEvent = event.TypedCreateEvent[client.Object]

var noop = reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })

// recorder is a sink that remembers.
type recorder struct {
	mu     sync.Mutex
	events []Event
}

func (r *recorder) sink(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// way returns the events of one state of one object.
func (r *recorder) way(kind, key, version string) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.events), func(e Event) bool {
		return e.Kind != kind || e.Key != key || e.ResourceVersion != version
	})
}

// assertWhole asserts that the way leads through every layer, with rising times.
func assertWhole(t *testing.T, way []Event, verbs ...string) {
	t.Helper()
	var layers []Layer
	var said []string
	for i, e := range way {
		if i > 0 {
			assert.Greater(t, e.Since, way[i-1].Since, "%s", e)
		}
		if e.Layer == Reconcile && e.Verb != "Start" {
			continue
		}
		layers = append(layers, e.Layer)
		said = append(said, e.Verb)
	}
	assert.Equal(t, Layers, layers, "%v", way)
	assert.Equal(t, verbs, said, "%v", way)
}

// assemblies are different in every layer.
var assemblies = map[string]struct {
	layers assembly.Layers
	// applied is the indexer's verb for a first, a changed and a deleted object.
	applied [3]string
}{
	"Ours": {applied: [3]string{"Apply", "Apply", "Apply"}},
	"OursAtomicByPriority": {
		layers:  assembly.Layers{Queue: assembly.OurAtomicInOrder, Workqueue: assembly.OurPriorityQueue},
		applied: [3]string{"Apply", "Apply", "Apply"},
	},
	"UpstreamsWhereItIsExported": {
		layers: assembly.Layers{
			NewManager: manager.New, NewCache: cache.New,
			Queue: assembly.ClientGoAtomicRealFIFO, NewReflector: informer.NewClientGoReflector, NewIndexer: parts.ClientGoIndexer,
			HandleDeltas: informer.NaiveHandleDeltas, NewProcessor: informer.NewNaiveProcessor,
			NewKind:       crsource.TypedKind[client.Object, reconcile.Request],
			Workqueue:     assembly.ControllerRuntimePriorityQueue,
			NewController: crcontroller.NewTyped[reconcile.Request],
			Build:         builder.ControllerRuntime[reconcile.Request],
		},
		applied: [3]string{"Add", "Update", "Delete"},
	},
}

func TestEveryLayerIsSeen(t *testing.T) {
	for name, tc := range assemblies {
		t.Run(name, func(t *testing.T) {
			cfg := controlplane.Config(t)
			ns := controlplane.Namespace(t, cfg)
			c, err := client.New(cfg, client.Options{})
			require.NoError(t, err)
			var seen recorder
			layers := Wrap(tc.layers, New(seen.sink))
			mgr, err := assembly.NewManager(cfg, manager.Options{
				Metrics: metricsserver.Options{BindAddress: "0"},
				Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
			}, layers)
			require.NoError(t, err)
			reconciled := make(chan reconcile.Request, 100)
			require.NoError(t, assembly.ControllerManagedBy(mgr, layers).Named("trace-"+name).
				For(&corev1.ConfigMap{}).
				Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
					return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: ns, Name: "owner"}}}
				}), builder.OnlyMetadata).
				Complete(reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
					reconciled <- r
					return reconcile.Result{}, nil
				})))
			// When this one is reconciled, every source has its list and is watching.
			require.NoError(t, c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "first"}}))
			run(t, mgr)
			<-reconciled

			obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mirror"}}
			key := ns + "/mirror"
			require.NoError(t, c.Create(t.Context(), obj))
			created := obj.ResourceVersion
			<-reconciled
			obj.Data = map[string]string{"changed": "yes"}
			require.NoError(t, c.Update(t.Context(), obj))
			updated := obj.ResourceVersion
			<-reconciled
			require.NoError(t, c.Delete(t.Context(), obj))
			<-reconciled

			assertWhole(t, seen.way("ConfigMap", key, created), "ADDED", "Add", "Added", tc.applied[0], "OnAdd", "Create", "Add", "Start")
			assertWhole(t, seen.way("ConfigMap", key, updated), "MODIFIED", "Update", "Updated", tc.applied[1], "OnUpdate", "Update", "Add", "Start")
			seen.mu.Lock()
			last := seen.events[slices.IndexFunc(seen.events, func(e Event) bool { return e.Verb == "DELETED" })].ResourceVersion
			seen.mu.Unlock()
			assertWhole(t, seen.way("ConfigMap", key, last), "DELETED", "Delete", "Deleted", tc.applied[2], "OnDelete", "Delete", "Add", "Start")

			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "copy"}}
			require.NoError(t, c.Create(t.Context(), secret))
			<-reconciled
			way := seen.way("Secret(meta)", ns+"/copy", secret.ResourceVersion)
			assertWhole(t, way, "ADDED", "Add", "Added", tc.applied[0], "OnAdd", "Create", "Add", "Start")
			for _, e := range way {
				if e.Layer == Workqueue || e.Layer == Reconcile {
					assert.Equal(t, ns+"/owner", e.Request, "a Secret should be traced to the request it causes")
				} else {
					assert.Empty(t, e.Request)
				}
			}
		})
	}
}

// run starts the manager and stops it when the test ends.
func run(t *testing.T, mgr manager.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-stopped)
	})
	require.True(t, mgr.GetCache().WaitForCacheSync(ctx))
}

// What is wrapped behaves as it did.
func TestWrappedInformersConform(t *testing.T) {
	for name, tc := range assemblies {
		t.Run(name, func(t *testing.T) {
			layers := Wrap(tc.layers, New(func(Event) {}))
			informertest.Run(t, assembly.NewInformer(layers), informertest.Capabilities{
				InOrder:         layers.Queue.InOrder,
				HandlersInPlace: name == "UpstreamsWhereItIsExported", // the naive processor, since upstream's is not exported
			})
		})
	}
}

func TestRetryIsSeen(t *testing.T) {
	cfg := controlplane.Config(t)
	ns := controlplane.Namespace(t, cfg)
	c, err := client.New(cfg, client.Options{})
	require.NoError(t, err)
	var seen recorder
	layers := Wrap(assembly.Layers{}, New(seen.sink))
	mgr, err := assembly.NewManager(cfg, manager.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
	}, layers)
	require.NoError(t, err)
	require.NoError(t, c.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}}))
	tries, done := 0, make(chan struct{})
	require.NoError(t, assembly.ControllerManagedBy(mgr, layers).Named("trace-retry").For(&corev1.Secret{}).
		Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			if tries++; tries == 1 {
				return reconcile.Result{}, errors.New("the first try fails")
			}
			close(done)
			return reconcile.Result{}, nil
		})))
	run(t, mgr)
	<-done
	var retry []string
	require.Eventually(t, func() bool {
		retry = nil
		for _, e := range seen.way("-", ns+"/a", "-") {
			retry = append(retry, fmt.Sprint(e.Layer, " ", e.Verb))
		}
		return len(retry) == 3
	}, 10*time.Second, time.Millisecond, "the end of the second try should be seen")
	assert.Equal(t, []string{"workqueue AddRateLimited", "Reconcile Start", "Reconcile Done"}, retry)
	all := seen.events
	assert.True(t, slices.ContainsFunc(all, func(e Event) bool { return e.Layer == Reconcile && e.Verb == "Error" && e.Kind == "Secret" }), "%v", all)
}

func TestMergedEventsHaveALineEach(t *testing.T) {
	var seen recorder
	tracer := New(seen.sink)
	r := &requests{}
	q := newWorkqueue(assembly.OurWorkqueue.New("merged", nil), tracer, r)
	defer q.ShutDown()
	req := reconcile.Request{NamespacedName: types.NamespacedName{Name: "owner"}}
	h := Handler(handler.TypedFuncs[client.Object, reconcile.Request]{
		CreateFunc: func(_ context.Context, _ createEvent, q requestQueue) { q.Add(req) },
	}, tracer)
	for _, version := range []string{"1", "2", "2"} {
		h.Create(t.Context(), createEvent{Object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "copy", ResourceVersion: version}}}, q)
	}
	assert.Equal(t, 1, q.Len())
	_, err := (&reconciler{noop, tracer, r}).Reconcile(t.Context(), req)
	require.NoError(t, err)
	var lines []string
	for _, e := range seen.events {
		if e.Layer == Reconcile {
			lines = append(lines, e.Verb+" "+e.ResourceVersion+" "+e.Request)
		}
	}
	assert.Equal(t, []string{"Start 1 owner", "Start 2 owner", "Done 2 owner"}, lines)
}

func TestStreamEndsWithAnEventOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine stays
		inner := watch.NewFakeWithChanSize(2, false)
		inner.Add(&corev1.Secret{})
		inner.Add(&corev1.Secret{})
		s := newStream(inner, New(func(Event) {}))
		<-s.ResultChan()
		synctest.Wait()
		s.Stop()
		s.Stop()
	})
}

func TestListWatchKeepsWhatItCanNot(t *testing.T) {
	for name, unsupported := range map[string]bool{"Streams": false, "ListsOnly": true} {
		t.Run(name, func(t *testing.T) {
			lw := newListWatch(&limited{unsupported: unsupported}, New(func(Event) {}))
			assert.Equal(t, unsupported, lw.(interface{ IsWatchListSemanticsUnSupported() bool }).IsWatchListSemanticsUnSupported())
		})
	}
}

type limited struct {
	toolscache.ListWatch
	unsupported bool
}

func (l *limited) IsWatchListSemanticsUnSupported() bool { return l.unsupported }

func TestListWithoutItemsIsPassedOn(t *testing.T) {
	lw := newListWatch(&toolscache.ListWatch{ListFunc: func(metav1.ListOptions) (runtime.Object, error) { return &corev1.Secret{}, nil }}, New(func(Event) {}))
	obj, err := lw.List(metav1.ListOptions{})
	require.NoError(t, err)
	assert.IsType(t, &corev1.Secret{}, obj, "what is no list is for the reflector to refuse")
}

func TestStoreKeepsOptionalMethods(t *testing.T) {
	tracer := New(func(Event) {})
	plain := toolscache.NewStore(toolscache.MetaNamespaceKeyFunc)
	cases := map[string]struct {
		store             toolscache.Store
		applies, replaces bool
	}{
		"Plain": {plain, false, false},
		"Applies": {struct {
			toolscache.Store
			applier
		}{plain, nil}, true, false},
		"Replaces": {struct {
			toolscache.Store
			replacer
		}{plain, nil}, false, true},
		"Both": {parts.Indexer(toolscache.MetaNamespaceKeyFunc, nil), true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			traced := newStore(tc.store, tracer)
			_, applies := traced.(applier)
			_, replaces := traced.(replacer)
			assert.Equal(t, tc.applies, applies)
			assert.Equal(t, tc.replaces, replaces)
		})
	}
}

func TestTracerForgets(t *testing.T) {
	var last Event
	tracer := New(func(e Event) { last = e })
	first := identity{kind: "Pod", key: "first", version: "1"}
	tracer.enter(Reflector, "ADDED", first)
	for i := range remembered {
		tracer.step(DeltaFIFO, "Add", first, "")
		if i == 0 {
			assert.NotZero(t, last.Since)
		}
		tracer.enter(Reflector, "ADDED", identity{kind: "Pod", key: fmt.Sprint(i), version: "1"})
	}
	assert.Len(t, tracer.entered, remembered)
	assert.NotContains(t, tracer.entered, first)
	tracer.step(DeltaFIFO, "Add", first, "")
	assert.Less(t, last.Since, time.Millisecond, "what was forgotten begins again")
}

func TestIdentify(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: "7"}
	cases := map[string]struct {
		obj  any
		want [3]string
	}{
		"Typed":             {&corev1.Secret{ObjectMeta: meta}, [3]string{"Secret", "ns/a", "7"}},
		"Metadata":          {&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Secret"}, ObjectMeta: meta}, [3]string{"Secret(meta)", "ns/a", "7"}},
		"Tombstone":         {toolscache.DeletedFinalStateUnknown{Key: "ns/a", Obj: &corev1.Secret{ObjectMeta: meta}}, [3]string{"Secret", "ns/a", "7"}},
		"TombstoneOfNobody": {toolscache.DeletedFinalStateUnknown{Key: "ns/a"}, [3]string{"-", "ns/a", "-"}},
		"ClusterScoped":     {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, [3]string{"Namespace", "a", "-"}},
		"NoObject":          {"text", [3]string{"-", "-", "-"}},
		"Nil":               {nil, [3]string{"-", "-", "-"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			id := identify(tc.obj)
			assert.Equal(t, tc.want, [3]string{id.kind, id.key, id.version})
		})
	}
}
