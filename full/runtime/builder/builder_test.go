package builder_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
)

func TestBuildMakesOurKinds(t *testing.T) {
	mgr := newManager(t, nil)
	var r recorder
	raw := source.Func(func(context.Context, queue) error { return nil })
	_, err := builder.ControllerManagedBy(mgr).
		For(&appsv1.Deployment{}).
		Owns(&corev1.Pod{}).
		Owns(&corev1.Secret{}, builder.OnlyMetadata).
		Watches(&corev1.Node{}, &handler.EnqueueRequestForObject{}).
		Watches(&corev1.Service{}, &handler.EnqueueRequestForObject{}, builder.OnlyMetadata).
		WatchesMetadata(&corev1.Namespace{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(raw).
		WithNewController(r.make).
		Build(noop)
	require.NoError(t, err)
	var names []string
	for _, src := range r.watched[:len(r.watched)-1] {
		require.True(t, strings.HasPrefix(fmt.Sprintf("%T", src), "*source.kind["), "%T is not chapter 2's", src)
		names = append(names, fmt.Sprint(src))
	}
	require.Equal(t, []string{
		"kind source: *v1.Deployment",
		"kind source: *v1.Pod",
		"kind source: *v1.PartialObjectMetadata[v1 Secret]",
		"kind source: *v1.Node",
		"kind source: *v1.PartialObjectMetadata[v1 Service]",
		"kind source: *v1.PartialObjectMetadata[v1 Namespace]",
	}, names)
	require.IsType(t, raw, r.watched[6], "a raw source is passed on as it is")
}

// TestWithNewKind: the matrix of ours and upstream's layers needs both kinds.
func TestWithNewKind(t *testing.T) {
	mgr := newManager(t, nil)
	var r recorder
	require.NoError(t, builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).
		WithNewKind(source.TypedKind[client.Object, reconcile.Request]).WithNewController(r.make).Complete(noop))
	require.IsType(t, source.Kind(mgr.GetCache(), client.Object(&corev1.Pod{}), &handler.EnqueueRequestForObject{}), r.watched[0])
}

func TestBuildName(t *testing.T) {
	mgr := newManager(t, nil)
	var r recorder
	require.NoError(t, builder.ControllerManagedBy(mgr).For(&appsv1.ReplicaSet{}).WithNewController(r.make).Complete(noop))
	require.Equal(t, "replicaset", r.name, "the kind in lower case")
	require.NoError(t, builder.ControllerManagedBy(mgr).For(&appsv1.ReplicaSet{}).Named("mine").WithNewController(r.make).Complete(noop))
	require.Equal(t, "mine", r.name)
}

func TestBuildOptions(t *testing.T) {
	mgr := newManager(t, func(o *manager.Options) {
		o.Controller.GroupKindConcurrency = map[string]int{"ReplicaSet.apps": 7, "Pod": 3}
		o.Controller.CacheSyncTimeout = time.Minute
	})
	cases := map[string]struct {
		reason  string
		build   *builder.Builder
		workers int
		timeout time.Duration
	}{
		"FromManager":     {"the manager's options count for the kind", builder.ControllerManagedBy(mgr).For(&appsv1.ReplicaSet{}), 7, time.Minute},
		"CoreGroup":       {"a kind without a group is named without a dot", builder.ControllerManagedBy(mgr).For(&corev1.Pod{}), 3, time.Minute},
		"OtherKind":       {"the controller's own default", builder.ControllerManagedBy(mgr).For(&corev1.Node{}), 0, time.Minute},
		"NoFor":           {"a name is no kind", builder.ControllerManagedBy(mgr).Named("Pod").Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}), 0, time.Minute},
		"OwnOptionsFirst": {"the controller's options win", builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).WithOptions(controller.Options{MaxConcurrentReconciles: 2, CacheSyncTimeout: time.Hour}), 2, time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var r recorder
			require.NoError(t, tc.build.WithNewController(r.make).Complete(noop))
			assert.Equal(t, tc.workers, r.options.MaxConcurrentReconciles, tc.reason)
			assert.Equal(t, tc.timeout, r.options.CacheSyncTimeout, tc.reason)
			assert.NotNil(t, r.options.Reconciler)
		})
	}
}

func TestBuildLogs(t *testing.T) {
	var said string
	mgr := newManager(t, func(o *manager.Options) {
		o.Logger = funcr.New(func(_, args string) { said = args }, funcr.Options{})
		o.Controller = config.Controller{SkipNameValidation: new(true)}
	})
	request := &reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "a"}}
	cases := map[string]struct {
		build   *builder.Builder
		request *reconcile.Request
		want    string
	}{
		"For":        {builder.ControllerManagedBy(mgr).For(&corev1.Pod{}), request, `"controller"="pod" "controllerGroup"="" "controllerKind"="Pod" "Pod"={"name"="a" "namespace"="ns"} "namespace"="ns" "name"="a"`},
		"NoRequest":  {builder.ControllerManagedBy(mgr).For(&corev1.Pod{}), nil, `"controller"="pod" "controllerGroup"="" "controllerKind"="Pod"`},
		"Named":      {builder.ControllerManagedBy(mgr).Named("n").Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}), request, `"controller"="n" "namespace"="ns" "name"="a"`},
		"OwnBuilder": {builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).WithLogConstructor(func(*reconcile.Request) logr.Logger { return mgr.GetLogger().WithValues("own", true) }), request, `"own"=true`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var r recorder
			require.NoError(t, tc.build.WithNewController(r.make).Complete(noop))
			r.options.LogConstructor(tc.request).Info("hello")
			assert.Equal(t, `"level"=0 "msg"="hello" `+tc.want, said)
		})
	}
}

// TestBuildPredicates runs the sources that were built over the fake cache.
func TestBuildPredicates(t *testing.T) {
	mgr := newManager(t, nil)
	var r recorder
	named := func(names ...string) predicate.Predicate {
		return predicate.NewPredicateFuncs(func(o client.Object) bool {
			for _, n := range names {
				if o.GetName() == n {
					return true
				}
			}
			return false
		})
	}
	require.NoError(t, builder.ControllerManagedBy(mgr).
		For(&corev1.Pod{}, builder.WithPredicates(named("nobody")), builder.WithPredicates(named("for", "both"))).
		Owns(&corev1.Secret{}, builder.WithPredicates(named("owns", "both")), builder.MatchEveryOwner).
		WithEventFilter(named("for", "owns", "both", "all")).
		WithEventFilter(named("for", "owns", "all")).
		WithNewController(r.make).Complete(noop))
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	for _, src := range r.watched {
		require.NoError(t, src.Start(t.Context(), q))
		require.NoError(t, src.(source.SyncingSource).WaitForSync(t.Context()))
	}
	fake := mgr.GetCache().(*informertest.FakeInformers)
	pods, err := fake.FakeInformerFor(t.Context(), &corev1.Pod{})
	require.NoError(t, err)
	secrets, err := fake.FakeInformerFor(t.Context(), &corev1.Secret{})
	require.NoError(t, err)
	for _, name := range []string{"for", "owns", "both", "all", "nobody"} {
		meta := metav1.ObjectMeta{Namespace: "ns", Name: name}
		pods.Add(&corev1.Pod{ObjectMeta: meta})
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "owner-of-" + name}}
		secrets.Add(&corev1.Secret{ObjectMeta: meta})
	}
	var got []string
	for q.Len() > 0 {
		req, _ := q.Get()
		got = append(got, req.String())
		q.Done(req)
	}
	require.ElementsMatch(t, []string{"ns/for", "ns/owner-of-owns"}, got,
		"every event filter and the kind's own predicates, of which the last option counts; an owner that does not control, for MatchEveryOwner")
}

// TestEventFilterSparesRawSources, as upstream documents.
func TestEventFilterSparesRawSources(t *testing.T) {
	mgr := newManager(t, nil)
	var r recorder
	started := false
	require.NoError(t, builder.ControllerManagedBy(mgr).Named("n").
		WithEventFilter(predicate.NewPredicateFuncs(func(client.Object) bool { return false })).
		WatchesRawSource(source.Func(func(context.Context, queue) error { started = true; return nil })).
		WithNewController(r.make).Complete(noop))
	require.NoError(t, r.watched[0].Start(t.Context(), nil))
	require.True(t, started)
}

// TestTypedRequests: any comparable type may be a request, with the default controller.
func TestTypedRequests(t *testing.T) {
	mgr := newManager(t, nil)
	ctrl, err := builder.TypedControllerManagedBy[string](mgr).Named("n").
		Watches(&corev1.Pod{}, handler.TypedFuncs[client.Object, string]{}).
		Build(stringReconciler)
	require.NoError(t, err)
	require.NotNil(t, ctrl)
}
