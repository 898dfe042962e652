package assembly_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clientgo "k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	. "github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
)

func noMapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	return meta.NewDefaultRESTMapper([]schema.GroupVersion{}), nil
}

// A constructor that is taken out, wrapped and put back is the one that is used.
func TestConstructorsCanBeWrapped(t *testing.T) {
	l := Layers{}.WithDefaults()
	used := 0
	newCache := l.NewCache
	l.NewCache = func(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
		used++
		assert.NotNil(t, o.NewInformer, "the informers are chosen before the cache is made")
		return newCache(cfg, o)
	}
	newManager := l.NewManager
	l.NewManager = func(cfg *rest.Config, o manager.Options) (manager.Manager, error) {
		used++
		return newManager(cfg, o)
	}
	o := inNamespace("ns")
	o.MapperProvider = noMapper
	_, err := NewManager(&rest.Config{}, o, l)
	require.NoError(t, err)
	assert.Equal(t, 2, used)
}

func TestOptionsOfTheCallerWin(t *testing.T) {
	o := inNamespace("ns")
	o.MapperProvider = noMapper
	given := &informertest.FakeInformers{}
	o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return given, nil }
	mgr, err := NewManager(&rest.Config{}, o, Layers{})
	require.NoError(t, err)
	assert.Same(t, given, mgr.GetCache())
}

// Which queue a controller gets, of either builder: the layer's, unless its options or the manager's ask for
// another.
func TestNewControllerChoosesTheQueue(t *testing.T) {
	own := func(string, clientgo.TypedRateLimiter[reconcile.Request]) clientgo.TypedRateLimitingInterface[reconcile.Request] {
		return nil
	}
	tests := map[string]struct {
		layers     Layers
		controller controller.Options
		manager    *bool
		newQueue   bool // the controller is told a queue
		byPriority *bool
		reason     string
	}{
		"the article's":             {Layers{}, controller.Options{}, nil, true, ptr.To(false), "the default is the workqueue without priorities"},
		"a priority queue":          {Layers{Workqueue: OurPriorityQueue}, controller.Options{}, nil, true, ptr.To(true), "and its limiter with it"},
		"controller wants another":  {Layers{}, controller.Options{UsePriorityQueue: ptr.To(true)}, nil, false, ptr.To(true), "left to the controller's own choice"},
		"manager wants another":     {Layers{}, controller.Options{}, ptr.To(true), false, nil, "the controller asks the manager itself"},
		"controller brings its own": {Layers{}, controller.Options{NewQueue: own}, nil, true, nil, "nothing is touched"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := inNamespace("ns")
			o.MapperProvider, o.Controller.UsePriorityQueue = noMapper, tc.manager
			mgr, err := NewManager(&rest.Config{}, o, Layers{})
			require.NoError(t, err)
			var got controller.Options
			tc.layers.NewController = func(_ string, _ manager.Manager, o controller.Options) (controller.Controller, error) {
				got = o
				return nil, nil
			}
			_, err = NewController(tc.layers)("name", mgr, tc.controller)
			require.NoError(t, err)
			assert.Equal(t, tc.newQueue, got.NewQueue != nil, tc.reason)
			assert.Equal(t, tc.byPriority, got.UsePriorityQueue, tc.reason)

			got = controller.Options{}
			tc.layers.Build = func(_ string, _ manager.Manager, _ builder.Inputs[reconcile.Request], o controller.Options) (controller.Controller, error) {
				got = o
				return nil, nil
			}
			require.NoError(t, ControllerManagedBy(mgr, tc.layers).Named("name").For(&corev1.ConfigMap{}).WithOptions(tc.controller).Complete(
				reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })))
			assert.NotNil(t, got.Reconciler, "another builder gets it in the options")
			assert.Equal(t, tc.newQueue, got.NewQueue != nil, tc.reason)
			assert.Equal(t, tc.byPriority, got.UsePriorityQueue, tc.reason)
		})
	}
}

func TestTwoControllersOfOneName(t *testing.T) {
	o := inNamespace("ns")
	o.MapperProvider, o.Controller.SkipNameValidation = noMapper, nil
	mgr, err := NewManager(&rest.Config{}, o, Layers{})
	require.NoError(t, err)
	reconciler := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
	add := func() error {
		return ControllerManagedBy(mgr, Layers{}).Named(t.Name()).For(&corev1.ConfigMap{}).Complete(reconciler)
	}
	require.NoError(t, add())
	assert.ErrorContains(t, add(), t.Name())
}
