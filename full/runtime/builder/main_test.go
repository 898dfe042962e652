package builder_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	// controller-runtime's metadata informers read their watch through watch.Filter,
	// whose loop stays behind if the stream ends with an error nobody reads any more.
	controlplane.Main(m, goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// newManager makes controller-runtime's manager, over a fake cache and no API server.
func newManager(t *testing.T, change func(*manager.Options)) manager.Manager {
	t.Helper()
	o := manager.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
			return mapper, nil
		},
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) {
			return &informertest.FakeInformers{Scheme: scheme.Scheme}, nil
		},
	}
	if change != nil {
		change(&o)
	}
	mgr, err := manager.New(&rest.Config{}, o)
	require.NoError(t, err)
	return mgr
}

// recorder is a controller that only remembers how it was made.
type recorder struct {
	controller.Controller
	name    string
	options controller.Options
	watched []source.Source
}

func (r *recorder) make(name string, _ manager.Manager, o controller.Options) (controller.Controller, error) {
	r.name, r.options = name, o
	return r, nil
}

func (r *recorder) Watch(src source.Source) error {
	r.watched = append(r.watched, src)
	return nil
}

var noop = reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
