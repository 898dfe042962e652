package informermap

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

// The tests of this file show where this cache does something else than
// controller-runtime's, which is tried, too, so that the list stays true.

func inTwoNamespaces(o *cache.Options) {
	o.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}}
}

func TestGetOptionsReachClusterScopedKinds(t *testing.T) {
	for name, shared := range map[string]bool{"controller-runtime": false, "informermap": true} {
		t.Run(name, func(t *testing.T) {
			api := cachetest.NewAPIServer()
			api.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"k": "v"}}})
			c := newOn(t, both[name], api, inTwoNamespaces)
			start(t, c)
			var first, second corev1.Node
			require.NoError(t, c.Get(within(t, patience), key("", "n"), &first, client.UnsafeDisableDeepCopy))
			first.Labels["k"] = "changed"
			require.NoError(t, c.Get(within(t, patience), key("", "n"), &second))
			assert.Equal(t, shared, second.Labels["k"] == "changed", "the option says: no copy")
		})
	}
}

func TestListsWithoutBookmarksSync(t *testing.T) {
	for name, syncs := range map[string]bool{"controller-runtime": false, "informermap": true} {
		t.Run(name, func(t *testing.T) {
			api := cachetest.NewAPIServer()
			api.Put(pod("a", "x"))
			c := newOn(t, both[name], api, func(o *cache.Options) { o.DefaultEnableWatchBookmarks = ptr.To(false) })
			start(t, c)
			err := c.Get(within(t, time.Second), key("a", "x"), &corev1.Pod{})
			assert.Equal(t, syncs, err == nil, "a list as a watch ends with a bookmark, which was not asked for: %v", err)
			if syncs {
				m := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
				require.NoError(t, c.Get(within(t, patience), key("a", "x"), m, client.UnsafeDisableDeepCopy))
				assert.Equal(t, "Pod", m.Kind, "metadata that was listed is told its kind")
			}
			for _, url := range api.Requests() {
				assert.NotEqual(t, "true", url.Query().Get("allowWatchBookmarks"))
			}
		})
	}
}

func TestListOverNamespacesHasAnOrder(t *testing.T) {
	api := cachetest.NewAPIServer()
	for _, namespace := range []string{"a", "b", "c", "d"} {
		api.Put(pod(namespace, "x"))
	}
	c := newOn(t, New, api, func(o *cache.Options) {
		o.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}, "c": {}, "d": {}}
	})
	start(t, c)
	for range 20 {
		var pods corev1.PodList
		require.NoError(t, c.List(within(t, patience), &pods, client.Limit(3)))
		require.Len(t, pods.Items, 3)
		for n, want := range []string{"a", "b", "c"} {
			require.Equal(t, want, pods.Items[n].Namespace)
		}
	}
}

func TestNamespacesSyncSideBySide(t *testing.T) {
	for name, atOnce := range map[string]int{"controller-runtime": 1, "informermap": 2} {
		t.Run(name, func(t *testing.T) {
			api := cachetest.NewAPIServer()
			release := api.Hold("pods")
			defer release()
			c := newOn(t, both[name], api, inTwoNamespaces)
			start(t, c)
			for what, read := range map[string]func(context.Context) error{
				"GetInformer": func(ctx context.Context) error { _, err := c.GetInformer(ctx, &corev1.Pod{}); return err },
				"List": func(ctx context.Context) error {
					list := &unstructured.UnstructuredList{}
					list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
					return c.List(ctx, list)
				},
			} {
				before := len(api.Requests())
				require.Error(t, read(within(t, 200*time.Millisecond)), what)
				assert.Len(t, api.Requests()[before:], atOnce, "%s: the second list need not wait for the first", what)
			}
		})
	}
}

func TestKindWhoseNameEndsInList(t *testing.T) {
	// Only of a list is List a suffix: an AllowList is not a list of Allows.
	api := cachetest.NewAPIServer()
	allowList := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "AllowList"}
	api.Install(allowList, meta.RESTScopeRoot)
	object := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(allowList)
		u.SetName("x")
		return u
	}
	api.Put(object())
	for name, selected := range map[string]bool{"controller-runtime": false, "informermap": true} {
		t.Run(name, func(t *testing.T) {
			c := newOn(t, both[name], api, func(o *cache.Options) {
				o.ByObject = map[client.Object]cache.ByObject{object(): {Label: label("nowhere")}}
			})
			start(t, c)
			err := c.Get(within(t, patience), key("", "x"), object())
			assert.Equal(t, selected, apierrors.IsNotFound(err), "the selector leaves the object out: %v", err)
		})
	}
}

func TestNilObjectsAreNamed(t *testing.T) {
	for name, edit := range map[string]func(*cache.Options){
		"plain": nil, "namespaces": inTwoNamespaces,
		"by object": func(o *cache.Options) { o.ByObject = map[client.Object]cache.ByObject{&corev1.Node{}: {}} },
	} {
		c := newOn(t, New, cachetest.NewAPIServer(), edit)
		ctx := within(t, patience)
		index := func(client.Object) []string { return nil }
		var none *metav1.PartialObjectMetadata
		_, informerErr := c.GetInformer(ctx, nil)
		for call, err := range map[string]error{
			"Get": c.Get(ctx, key("a", "x"), nil), "Get of a nil pointer": c.Get(ctx, key("a", "x"), none),
			"List": c.List(ctx, nil), "GetInformer": informerErr, "RemoveInformer": c.RemoveInformer(ctx, nil),
			"IndexField": c.IndexField(ctx, nil, "f", index),
		} {
			assert.ErrorIs(t, err, errNilObject, "%s, %s", name, call)
		}
		assert.ErrorContains(t, c.IndexField(ctx, &corev1.Pod{}, "", index), "name of a field")
		assert.ErrorContains(t, c.IndexField(ctx, &corev1.Pod{}, "f", nil), "function that extracts")
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	c := newOn(t, New, cachetest.NewAPIServer(), func(o *cache.Options) {
		o.Scheme = runtime.NewScheme()
		metav1.AddToGroupVersion(o.Scheme, corev1.SchemeGroupVersion)
	})
	_, err := c.GetInformer(within(t, patience), &corev1.Pod{})
	require.ErrorContains(t, err, "no kind is registered for the type v1.Pod")
	require.ErrorContains(t, err, "call AddToScheme of the type's package")
	_, err = c.GetInformerForKind(within(t, patience), corev1.SchemeGroupVersion.WithKind("Pod"))
	require.ErrorContains(t, err, `no kind "Pod" is registered`)
	require.ErrorContains(t, err, "call AddToScheme of the type's package")

	c = newOn(t, New, cachetest.NewAPIServer(), nil)
	_, err = c.GetInformer(within(t, patience), &corev1.Secret{})
	require.True(t, meta.IsNoMatchError(err))
	require.ErrorContains(t, err, "/v1, Kind=Secret (if it is a CRD: install it, then ask again)")
}

// slowMapper does not answer for ConfigMaps until released.
type slowMapper struct {
	meta.RESTMapper
	asked, release chan struct{}
	once           sync.Once
}

func (m *slowMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if gk.Kind == "ConfigMap" {
		m.once.Do(func() { close(m.asked) })
		<-m.release
	}
	return m.RESTMapper.RESTMapping(gk, versions...)
}

func TestSlowDiscoveryOfOneKindDoesNotStopReadsOfAnother(t *testing.T) {
	for name, reads := range map[string]bool{"controller-runtime": false, "informermap": true} {
		t.Run(name, func(t *testing.T) {
			api := cachetest.NewAPIServer()
			api.Put(pod("a", "x"))
			mapper := &slowMapper{asked: make(chan struct{}), release: make(chan struct{})}
			c := newOn(t, both[name], api, func(o *cache.Options) { mapper.RESTMapper, o.Mapper = o.Mapper, mapper })
			start(t, c)
			require.NoError(t, c.Get(within(t, patience), key("a", "x"), &corev1.Pod{}))

			listed, read := make(chan error, 1), make(chan error, 1)
			go func() { listed <- c.List(context.Background(), &corev1.ConfigMapList{}) }()
			<-mapper.asked
			go func() { read <- c.Get(context.Background(), key("a", "x"), &corev1.Pod{}) }()
			select {
			case err := <-read:
				assert.True(t, reads)
				require.NoError(t, err)
				close(mapper.release)
			case <-time.After(300 * time.Millisecond):
				assert.False(t, reads, "the reader of Pods waits for the discovery of ConfigMaps")
				close(mapper.release)
				require.NoError(t, <-read)
			}
			require.NoError(t, <-listed)
		})
	}
}

func TestInformersKeepNoObjectOfTheCaller(t *testing.T) {
	for name, same := range map[string]bool{"controller-runtime": true, "informermap": false} {
		t.Run(name, func(t *testing.T) {
			examples := map[runtime.Object]bool{}
			c := newOn(t, both[name], cachetest.NewAPIServer(), func(o *cache.Options) {
				o.NewInformer = func(lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
					examples[obj] = true
					return toolscache.NewSharedIndexInformer(lw, obj, resync, indexers)
				}
			})
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
			m := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
			for _, obj := range []client.Object{&corev1.Pod{}, u, m} {
				_, err := c.GetInformer(within(t, patience), obj)
				require.NoError(t, err)
				assert.Equal(t, same, examples[obj], "%T: a later write to it must not reach the informer", obj)
			}
			for example := range examples {
				if _, structured := example.(*corev1.Pod); !structured {
					assert.Equal(t, "Pod", example.GetObjectKind().GroupVersionKind().Kind, "reflectors check kinds against it")
				}
			}
		})
	}
}

func TestInformerOverNamespacesLeavesNoGoroutine(t *testing.T) {
	api := cachetest.NewAPIServer()
	release := api.Hold("pods")
	defer release()
	c := newOn(t, New, api, inTwoNamespaces)
	stop := start(t, c)
	ignore := goleak.IgnoreCurrent()
	informer, err := c.GetInformer(within(t, patience), &corev1.Pod{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	handle, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
	require.NoError(t, err)
	assert.False(t, toolscache.IsDone(informer.HasSyncedChecker()))
	assert.False(t, toolscache.IsDone(handle.HasSyncedChecker()))
	assert.False(t, handle.HasSynced())
	stop()
	require.NoError(t, goleak.Find(ignore), "informers that never synced are waited for no longer than they run")

	c = newOn(t, New, api, inTwoNamespaces)
	informer, err = c.GetInformer(within(t, patience), &corev1.Pod{})
	require.NoError(t, err)
	assert.False(t, toolscache.IsDone(informer.HasSyncedChecker()))
	require.NoError(t, c.RemoveInformer(within(t, patience), &corev1.Pod{}))
	require.NoError(t, goleak.Find(ignore), "nor those that were removed before they ran")
}

// countingInformer counts the handlers it has.
type countingInformer struct {
	toolscache.SharedIndexInformer
	handlers int
}

func (i *countingInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	handle, err := i.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
	if err == nil {
		i.handlers++
	}
	return handle, err
}

func (i *countingInformer) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	i.handlers--
	return i.SharedIndexInformer.RemoveEventHandler(handle)
}

func TestHandlerIsAddedInAllNamespacesOrNone(t *testing.T) {
	running, stopped := newMapEntry(schema.GroupVersionKind{}), newMapEntry(schema.GroupVersionKind{})
	counts := map[*MapEntry]*countingInformer{}
	for _, i := range []*MapEntry{running, stopped} {
		counts[i] = &countingInformer{SharedIndexInformer: toolscache.NewSharedIndexInformer(&toolscache.ListWatch{}, &corev1.Pod{}, 0, toolscache.Indexers{})}
		i.Informer = counts[i]
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	stopped.Informer.RunWithContext(ended)
	_, err := newMultiNamespaceInformer([]*MapEntry{running, stopped}).AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
	require.Error(t, err, "an informer that has stopped takes no handler")
	assert.Zero(t, counts[running].handlers, "the one that could take it was told to forget it")

	informer := newMultiNamespaceInformer([]*MapEntry{running})
	handle, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
	require.NoError(t, err)
	assert.Equal(t, 1, counts[running].handlers)
	require.NoError(t, informer.RemoveEventHandler(handle))
	assert.Zero(t, counts[running].handlers)
	assert.ErrorContains(t, informer.RemoveEventHandler(nil), "not a registration")
}

func TestNamespacedKindThatBecameClusterScoped(t *testing.T) {
	// As after its CRD was installed anew; upstream dereferences nil.
	opts := cachetest.NewAPIServer().Options()
	c := newMultiNamespaceCache(opts.Scheme, opts.Mapper, map[string]*informerCache{}, nil)
	require.ErrorContains(t, c.Get(within(t, patience), key("", "n"), &corev1.Node{}), "cluster-scoped now")
}

func TestReplicasFillTheirCachesWithoutBeingLeader(t *testing.T) {
	for name, edit := range map[string]func(*cache.Options){
		"plain": nil, "namespaces": inTwoNamespaces,
		"by object": func(o *cache.Options) { o.ByObject = map[client.Object]cache.ByObject{&corev1.Node{}: {}} },
	} {
		c, ok := newOn(t, New, cachetest.NewAPIServer(), edit).(interface{ NeedLeaderElection() bool })
		require.True(t, ok, name)
		assert.False(t, c.NeedLeaderElection(), name)
	}
}
