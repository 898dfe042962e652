package informermap

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

var errStartedTwice = errors.New("the cache is already started: call Start once, make another cache with New for another run")

// Settings is what all informers of one InformersMap have in common. A cache
// whose kinds or namespaces differ in any of these needs a map for each.
type Settings struct {
	HTTPClient           *http.Client
	Scheme               *runtime.Scheme
	Mapper               meta.RESTMapper
	Namespace            string // restricts namespaced kinds; "" means all namespaces
	Selector             Selector
	Resync               time.Duration
	Transform            toolscache.TransformFunc
	DisableDeepCopy      bool
	EnableWatchBookmarks bool
	WatchErrorHandler    toolscache.WatchErrorHandlerWithContext
	NewInformer          func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer
}

// InformersMap holds one informer per kind and representation: a Pod, an
// unstructured Pod and the metadata of a Pod are read from three informers,
// because each is decoded from a request of its own.
//
// It stands for controller-runtime v0.11's internal.InformersMap, which today is
// internal.Informers with a three-map tracker.
type InformersMap struct {
	structured   *specificInformersMap
	unstructured *specificInformersMap
	metadata     *specificInformersMap

	// Scheme says which kind a Go type is.
	Scheme *runtime.Scheme

	started atomic.Bool
}

// NewInformersMap makes an empty map: informers come into being when they are
// asked for.
func NewInformersMap(config *rest.Config, settings Settings) *InformersMap {
	return &InformersMap{
		structured:   newSpecificInformersMap(config, settings, createStructuredListWatch),
		unstructured: newSpecificInformersMap(config, settings, createUnstructuredListWatch),
		metadata:     newSpecificInformersMap(config, settings, createMetadataListWatch),
		Scheme:       settings.Scheme,
	}
}

// Start runs all informers, those of today and those still to come, until ctx
// ends, and returns when the last of them has stopped.
func (m *InformersMap) Start(ctx context.Context) error {
	if !m.started.CompareAndSwap(false, true) {
		return errStartedTwice
	}
	// Informers take their logger from the context; without one they would
	// write to klog's, past what the program has set up.
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithName("cache"))
	var stopped sync.WaitGroup
	for _, ip := range m.all() {
		stopped.Go(func() { ip.Start(ctx) })
	}
	stopped.Wait()
	return nil
}

// WaitForCacheSync blocks until the map is started and every informer in it has
// synced. It returns false when ctx or the map ends first.
func (m *InformersMap) WaitForCacheSync(ctx context.Context) bool {
	for _, ip := range m.all() {
		if !ip.waitForStarted(ctx) {
			return false
		}
	}
	for _, ip := range m.all() {
		if !ip.waitForAll(ctx) {
			return false
		}
	}
	return true
}

// Get returns the entry for gvk in the representation of obj, and makes it if
// need be.
func (m *InformersMap) Get(ctx context.Context, gvk schema.GroupVersionKind, obj runtime.Object, opts GetOptions) (bool, *MapEntry, error) {
	return m.of(obj).Get(ctx, gvk, obj, opts)
}

// Remove stops the informer of that kind and representation and forgets it.
func (m *InformersMap) Remove(gvk schema.GroupVersionKind, obj runtime.Object) {
	m.of(obj).Remove(gvk)
}

func (m *InformersMap) of(obj runtime.Object) *specificInformersMap {
	switch obj.(type) {
	case runtime.Unstructured:
		return m.unstructured
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return m.metadata
	default:
		return m.structured
	}
}

func (m *InformersMap) all() []*specificInformersMap {
	return []*specificInformersMap{m.structured, m.unstructured, m.metadata}
}
