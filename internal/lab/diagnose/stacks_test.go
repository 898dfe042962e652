package diagnose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	crcache "sigs.k8s.io/controller-runtime/pkg/cache"
	crcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runtimes are what the states are looked at on.
var runtimes = []struct {
	name          string
	layers        assembly.Layers
	newController func(string, crcontroller.Options) (crcontroller.Controller, error)
}{
	{"upstream", assembly.ControllerRuntime, crcontroller.NewUnmanaged},
	{"ours", assembly.Layers{}, controller.NewUnmanaged},
}

// TestStacks guards the names in docs/diagnose.md: in each state there is a
// goroutine in these functions. With -v it prints the goroutine's whole stack.
func TestStacks(t *testing.T) {
	cases := map[string]struct {
		informer       func(*informerOptions)
		reconcile      func(release <-chan struct{})
		cache          func(context.Context, crcache.Cache, assembly.Layers)
		upstream, ours []string // the first is the innermost
	}{
		"a handler blocks": {
			informer: func(o *informerOptions) { o.handler = yourCode },
			upstream: []string{"diagnose.yourCode", "cache.(*processorListener).run"},
			ours:     []string{"diagnose.yourCode", "processor.(*listener).call", "processor.(*listener).run"},
		},
		"a list is refused": {
			informer: func(o *informerOptions) { o.refuse = errRefused },
			upstream: []string{"wait.loopConditionUntilContext", "wait.DelayFunc.Until", "cache.(*Reflector).RunWithContext"},
			ours:     []string{"reflector.await[...]", "reflector.(*Reflector).pause", "reflector.(*Reflector).RunWithContext"},
		},
		"a read waits": {
			cache: func(ctx context.Context, c crcache.Cache, _ assembly.Layers) {
				_ = c.Get(ctx, types.NamespacedName{Namespace: "demo", Name: "red"}, &corev1.Pod{})
			},
			upstream: []string{"wait.waitForWithContext", "cache.WaitForCacheSync", "internal.(*Informers).Get", "cache.(*informerCache).Get"},
			ours:     []string{"01-informermap.(*specificInformersMap).waitForSync", "01-informermap.(*specificInformersMap).Get", "01-informermap.(*informerCache).Get"},
		},
		"a reconcile blocks": {
			reconcile: yourCode,
			upstream:  []string{"diagnose.yourCode", "controller.(*Controller[...]).Reconcile", "controller.(*Controller[...]).processNextWorkItem"},
			ours:      []string{"diagnose.yourCode", "controller.(*Controller[...]).Reconcile", "controller.(*worker[...]).processNextWorkItem"},
		},
		"an index function blocks": {
			informer: func(o *informerOptions) { o.index = yourCode },
			upstream: []string{"diagnose.yourCode", "cache.(*threadSafeMap).Replace", "cache.(*sharedIndexInformer).handleDeltas", "cache.(*controller).processLoop"},
			ours:     []string{"diagnose.yourCode", "indexer.(*index).valuesOf", "handledeltas.HandleDeltas", "03-informer-run.(*controller).processLoop"},
		},
		"quiet handler": {
			informer: func(*informerOptions) {},
			upstream: []string{"cache.(*processorListener).run"},
			ours:     []string{"processor.(*listener).run"},
		},
		"quiet pop loop": {
			informer: func(*informerOptions) {},
			upstream: []string{"sync.(*Cond).Wait", "cache.(*RealFIFO).PopBatch", "cache.(*controller).processLoop"},
			ours:     []string{"sync.(*Cond).Wait", "deltafifo.(*base).awaitWork", "03-informer-run.(*controller).processLoop"},
		},
		"quiet watch": {
			informer: func(*informerOptions) {},
			upstream: []string{"cache.handleAnyWatch", "cache.(*Reflector).watch", "cache.(*Reflector).RunWithContext"},
			ours:     []string{"reflector.(*Reflector).follow", "reflector.(*Reflector).watch", "reflector.(*Reflector).RunWithContext"},
		},
		"quiet worker": {
			reconcile: func(<-chan struct{}) {},
			upstream:  []string{"priorityqueue.(*priorityqueue[...]).GetWithPriority", "controller.(*Controller[...]).processNextWorkItem"},
			ours:      []string{"sync.(*Cond).Wait", "workqueue.(*queue[...]).Get", "controller.(*worker[...]).processNextWorkItem"},
		},
		"the start waits": {
			cache: func(ctx context.Context, c crcache.Cache, l assembly.Layers) {
				kind := l.NewKind(c, &corev1.Pod{}, &handler.EnqueueRequestForObject{})
				queue := l.Workqueue.New("pods", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
				defer queue.ShutDown()
				_ = kind.Start(ctx, queue)
				_ = kind.WaitForSync(ctx)
			},
			upstream: []string{"source.(*Kind[...]).WaitForSync"},
			ours:     []string{"02-source-kind.(*kind[...]).WaitForSync"},
		},
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			for i, on := range runtimes {
				t.Run(on.name, func(t *testing.T) {
					release := make(chan struct{})
					switch {
					case c.informer != nil:
						startInformer(t, on.layers, release, c.informer)
					case c.cache != nil:
						startCache(t, on.layers, c.cache)
					default:
						startController(t, on.layers, on.newController, func() { c.reconcile(release) })
					}
					t.Cleanup(func() { close(release) })

					var g goroutine
					require.Eventually(t, func() bool {
						var found bool
						g, found = find([][]string{c.upstream, c.ours}[i])
						return found
					}, 10*time.Second, time.Millisecond, "docs/diagnose.md names these functions: what are they called now?")
					fmt.Println(g)
				})
			}
		})
	}
}

var errRefused = errors.New("pods is forbidden")

// yourCode is what a user wrote, stuck.
func yourCode(release <-chan struct{}) { <-release }

type informerOptions struct {
	handler, index func(release <-chan struct{})
	refuse         error
}

// startInformer runs an informer of one Pod until the test ends.
func startInformer(t *testing.T, l assembly.Layers, release <-chan struct{}, options func(*informerOptions)) {
	o := informerOptions{handler: func(<-chan struct{}) {}, index: func(<-chan struct{}) {}}
	options(&o)
	informer := assembly.NewInformer(l)(apiServer{o.refuse}, &corev1.Pod{}, 0, cache.Indexers{
		"node": func(any) ([]string, error) { o.index(release); return nil, nil },
	})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { o.handler(release) }})
	require.NoError(t, err)
	untilTheEnd(t, func(ctx context.Context) error { informer.RunWithContext(ctx); return nil })
}

// startCache runs a cache whose lists are refused until the test ends, and use.
func startCache(t *testing.T, l assembly.Layers, use func(context.Context, crcache.Cache, assembly.Layers)) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	c, err := l.WithDefaults().NewCache(&rest.Config{}, crcache.Options{
		Scheme: scheme.Scheme,
		Mapper: mapper,
		NewInformer: func(_ cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
			return assembly.NewInformer(l)(apiServer{errRefused}, example, resync, indexers)
		},
	})
	require.NoError(t, err)
	untilTheEnd(t, c.Start)
	untilTheEnd(t, func(ctx context.Context) error {
		c.WaitForCacheSync(ctx)
		use(ctx, c, l.WithDefaults())
		return nil
	})
}

// startController runs a controller that gets one request until the test ends.
func startController(t *testing.T, l assembly.Layers, newController func(string, crcontroller.Options) (crcontroller.Controller, error), do func()) {
	skip := true
	c, err := newController("pods", crcontroller.Options{
		SkipNameValidation: &skip,
		NewQueue:           l.WithDefaults().Workqueue.New,
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			do()
			return reconcile.Result{}, nil
		}),
	})
	require.NoError(t, err)
	require.NoError(t, c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "demo", Name: "red"}})
		return nil
	})))
	untilTheEnd(t, c.Start)
}

// untilTheEnd runs f until the test ends, and waits for it.
func untilTheEnd(t *testing.T, f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- f(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

// apiServer has one Pod that never changes, or refuses to be listed.
type apiServer struct{ refuse error }

func (s apiServer) List(metav1.ListOptions) (runtime.Object, error) {
	return &corev1.PodList{
		ListMeta: metav1.ListMeta{ResourceVersion: "1"},
		Items:    []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "red", ResourceVersion: "1"}}},
	}, s.refuse
}

func (apiServer) Watch(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil }

// IsWatchListSemanticsUnSupported makes reflectors list, not stream.
func (apiServer) IsWatchListSemanticsUnSupported() bool { return true }
