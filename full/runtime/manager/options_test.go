package manager_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/manager"
)

// Every option that a manager has for its cluster and its controllers gets there.
func TestOptionsArePassedOn(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		own := runtime.NewScheme()
		var mapper meta.RESTMapper
		var gotCache cache.Options
		var gotClient client.Options
		mgr := make1(t, n, offline(func(o *manager.Options) {
			o.Scheme = own
			o.Cache.ReaderFailOnMissingInformer = true
			o.Client.DryRun = ptr.To(true)
			o.Controller = config.Controller{MaxConcurrentReconciles: 7}
			provider, newCache := o.MapperProvider, o.NewCache
			o.MapperProvider = func(cfg *rest.Config, h *http.Client) (m meta.RESTMapper, err error) {
				mapper, err = provider(cfg, h)
				return mapper, err
			}
			o.NewCache = func(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
				gotCache = o
				return newCache(cfg, o)
			}
			o.NewClient = func(cfg *rest.Config, o client.Options) (client.Client, error) {
				gotClient = o
				return client.New(cfg, o)
			}
		}))
		assert.Same(t, own, mgr.GetScheme())
		assert.Equal(t, mapper, mgr.GetRESTMapper())
		assert.True(t, gotCache.ReaderFailOnMissingInformer)
		assert.True(t, ptr.Deref(gotClient.DryRun, false))
		assert.Equal(t, 7, mgr.GetControllerOptions().MaxConcurrentReconciles)
	})
}

// The caller's broadcaster gets the events and outlives the manager; what the manager started beside it
// ends. (Upstream leaves its events.k8s.io broadcaster running then, which goleak in TestMain would see.)
func TestEventBroadcasterOption(t *testing.T) {
	shared := record.NewBroadcaster()
	defer shared.Shutdown()
	got := make(chan *corev1.Event, 10)
	defer shared.StartEventWatcher(func(e *corev1.Event) { got <- e }).Stop()
	mgr := make1(t, ours.New, offline(func(o *manager.Options) { o.EventBroadcaster = shared })) //nolint:staticcheck // deprecated, and still an option
	r := start(t, mgr)
	<-mgr.Elected()
	mgr.GetEventRecorderFor("me").Event(&corev1.Pod{}, corev1.EventTypeNormal, "Reason", "message") //nolint:staticcheck // deprecated
	select {
	case e := <-got:
		assert.Equal(t, "me", e.Source.Component)
	case <-time.After(patience):
		t.Fatal("the event did not come to the caller's broadcaster")
	}
	require.NoError(t, r.stop())
}

func TestLivenessEndpointName(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		probes := freeAddress(t)
		mgr := make1(t, n, offline(func(o *manager.Options) { o.HealthProbeBindAddress, o.LivenessEndpointName = probes, "/alive" }))
		require.NoError(t, mgr.AddHealthzCheck("ping", healthz.Ping))
		start(t, mgr)
		<-mgr.Elected()
		assert.Equal(t, http.StatusOK, status(t, "http://"+probes+"/alive"))
		assert.Equal(t, http.StatusNotFound, status(t, "http://"+probes+"/healthz"))
	})
}
