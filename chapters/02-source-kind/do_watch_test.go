package source_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	upstream "sigs.k8s.io/controller-runtime/pkg/source"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

type (
	inputs       = source.Inputs[reconcile.Request]
	handlerQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]
)

// in fills what every case needs.
func in(i inputs) inputs {
	if i.Cache == nil {
		i.Cache = &fakeCache{}
	}
	i.Scheme, i.Mapper = scheme.Scheme, mapper
	return i
}

var mapper = func() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for gvk := range scheme.Scheme.AllKnownTypes() {
		scope := meta.RESTScopeNamespace
		if gvk.Kind == "Node" || gvk.Kind == "Namespace" {
			scope = meta.RESTScopeRoot
		}
		m.Add(gvk, scope)
	}
	return m
}()

// startAll starts sources and waits for their sync, one after the other.
func startAll(t *testing.T, c *fakeCache, sources []upstream.Source, q handlerQueue) {
	t.Helper()
	for _, src := range sources {
		require.NoError(t, src.Start(t.Context(), q))
		require.NoError(t, src.(upstream.SyncingSource).WaitForSync(t.Context()))
	}
}

func TestDoWatchMakesSourcesInOrder(t *testing.T) {
	raw := upstream.Func(func(context.Context, handlerQueue) error { return nil })
	sources, err := source.DoWatch(in(inputs{
		For:     source.ForInput{Object: &appsv1.Deployment{}},
		Owns:    []source.OwnsInput{{ForInput: source.ForInput{Object: &corev1.Pod{}}}, {ForInput: source.ForInput{Object: &corev1.Secret{}, OnlyMetadata: true}}},
		Watches: []source.WatchesInput[reconcile.Request]{{ForInput: source.ForInput{Object: &corev1.Node{}}, Handler: &handler.EnqueueRequestForObject{}}},
		Raw:     []upstream.Source{raw},
	}))
	require.NoError(t, err)
	var names []string
	for _, s := range sources {
		names = append(names, fmt.Sprint(s))
	}
	require.Equal(t, []string{
		"kind source: *v1.Deployment",
		"kind source: *v1.Pod",
		"kind source: *v1.PartialObjectMetadata[v1 Secret]",
		"kind source: *v1.Node",
		fmt.Sprint(raw),
	}, names)
}

func TestDoWatchErrors(t *testing.T) {
	forPod := source.ForInput{Object: &corev1.Pod{}}
	unknown := &unregistered{}
	cases := map[string]struct {
		reason string
		in     inputs
		want   string
	}{
		"Nothing":            {"such a controller would never run", in(inputs{}), "there are no watches configured"},
		"OwnsWithoutFor":     {"there is no owner to enqueue", in(inputs{Owns: []source.OwnsInput{{ForInput: forPod}}}), "Owns() can only be used together with For()"},
		"NoCache":            {"nothing to read from", inputs{For: forPod}, "without a cache"},
		"NilFor":             {"a variable that was never set", in(inputs{For: source.ForInput{Object: (*corev1.Pod)(nil)}}), "For() needs a non-nil object"},
		"NilOwns":            {"upstream finds out when the controller starts", in(inputs{For: forPod, Owns: []source.OwnsInput{{}}}), "Owns() needs a non-nil object"},
		"NilWatches":         {"upstream finds out when the controller starts", in(inputs{Watches: []source.WatchesInput[reconcile.Request]{{Handler: &handler.EnqueueRequestForObject{}}}}), "Watches() needs a non-nil object"},
		"NilHandler":         {"upstream finds out when the controller starts", in(inputs{Watches: []source.WatchesInput[reconcile.Request]{{ForInput: forPod}}}), "Watches() of *v1.Pod: must create Kind with a non-nil handler"},
		"NilRaw":             {"upstream panics when the controller starts", in(inputs{Raw: []upstream.Source{nil}}), "WatchesRawSource() needs a non-nil source"},
		"NilPredicate":       {"upstream panics at the first event", in(inputs{For: forPod, Predicates: []predicate.Predicate{nil}}), "For() of *v1.Pod: must create Kind with non-nil predicates"},
		"UnknownForMetadata": {"the kind is looked up in the scheme", in(inputs{For: source.ForInput{Object: unknown, OnlyMetadata: true}}), "unable to determine GVK of *source_test.unregistered"},
		"UnknownOwner":       {"upstream panics", in(inputs{For: source.ForInput{Object: unknown}, Owns: []source.OwnsInput{{ForInput: forPod}}}), "unable to determine GVK of owner *source_test.unregistered"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sources, err := source.DoWatch(tc.in)
			require.ErrorContains(t, err, tc.want, tc.reason)
			require.Nil(t, sources)
		})
	}
}

func TestDoWatchForNeedsReconcileRequest(t *testing.T) {
	_, err := source.DoWatch(source.Inputs[string]{Cache: &fakeCache{}, Scheme: scheme.Scheme, For: source.ForInput{Object: &corev1.Pod{}}})
	require.EqualError(t, err, "For() can only be used with reconcile.Request, got string")

	sources, err := source.DoWatch(source.Inputs[string]{Cache: &fakeCache{}, Scheme: scheme.Scheme,
		Watches: []source.WatchesInput[string]{{ForInput: source.ForInput{Object: &corev1.Pod{}}, Handler: noHandler}}})
	require.NoError(t, err, "Watches takes any type of request")
	require.Len(t, sources, 1)
}

// TestDoWatchCopiesGlobalPredicates: append to the global ones wrote into their
// spare capacity, so that the predicates of the last kind filtered all kinds.
func TestDoWatchCopiesGlobalPredicates(t *testing.T) {
	var asked []string
	say := func(name string) predicate.Predicate {
		return predicate.NewPredicateFuncs(func(client.Object) bool { asked = append(asked, name); return true })
	}
	global := make([]predicate.Predicate, 0, 10)
	global = append(global, say("global"))
	c := &fakeCache{}
	sources, err := source.DoWatch(in(inputs{
		Cache:      c,
		Predicates: global,
		For:        source.ForInput{Object: &corev1.Pod{}, Predicates: []predicate.Predicate{say("for")}},
		Owns:       []source.OwnsInput{{ForInput: source.ForInput{Object: &corev1.Secret{}, Predicates: []predicate.Predicate{say("owns")}}}},
		Watches: []source.WatchesInput[reconcile.Request]{{
			ForInput: source.ForInput{Object: &corev1.Node{}, Predicates: []predicate.Predicate{say("watches")}},
			Handler:  &handler.EnqueueRequestForObject{}}},
	}))
	require.NoError(t, err)
	startAll(t, c, sources, newQueue[reconcile.Request](t))
	for i, own := range []string{"for", "owns", "watches"} {
		asked = nil
		c.informer.handlers[i].OnAdd(pod("a", "1"), false)
		assert.Equal(t, []string{"global", own}, asked, "global predicates come first, then the kind's own")
	}
}

// TestB20_OwnersAndScope: the owner handler added the child's namespace to the
// request for a cluster-scoped owner, which Get then never found.
func TestB20_OwnersAndScope(t *testing.T) {
	ref := func(apiVersion, kind, name string, controller bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, Controller: ptr.To(controller)}
	}
	child := func(rv string, refs ...metav1.OwnerReference) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "child", ResourceVersion: rv, OwnerReferences: refs}}
	}
	request := func(namespace, name string) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
	}
	metadataOwner := &metav1.PartialObjectMetadata{}
	metadataOwner.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	deployment := &appsv1.Deployment{}
	cases := map[string]struct {
		reason string
		owner  client.Object
		every  bool
		old    *corev1.Secret
		new    *corev1.Secret
		want   []reconcile.Request
	}{
		"ClusterScoped":   {"no namespace", &corev1.Node{}, false, nil, child("1", ref("v1", "Node", "n", true)), []reconcile.Request{request("", "n")}},
		"Namespaced":      {"the child's namespace", deployment, false, nil, child("1", ref("apps/v1", "Deployment", "d", true)), []reconcile.Request{request("x", "d")}},
		"OtherGroup":      {"the same kind name of another group", deployment, false, nil, child("1", ref("example.com/v1", "Deployment", "d", true)), nil},
		"OtherVersion":    {"the group counts, the version does not", deployment, false, nil, child("1", ref("apps/v1beta1", "Deployment", "d", true)), []reconcile.Request{request("x", "d")}},
		"NotController":   {"only the controller by default", deployment, false, nil, child("1", ref("apps/v1", "Deployment", "d", false)), nil},
		"EveryOwner":      {"MatchEveryOwner takes the others too", deployment, true, nil, child("1", ref("apps/v1", "Deployment", "d", false), ref("apps/v1", "Deployment", "e", true)), []reconcile.Request{request("x", "d"), request("x", "e")}},
		"OwnerChanged":    {"the old owner has to notice", deployment, false, child("1", ref("apps/v1", "Deployment", "d", true)), child("2", ref("apps/v1", "Deployment", "e", true)), []reconcile.Request{request("x", "d"), request("x", "e")}},
		"OwnerUnchanged":  {"one request", deployment, false, child("1", ref("apps/v1", "Deployment", "d", true)), child("2", ref("apps/v1", "Deployment", "d", true)), []reconcile.Request{request("x", "d")}},
		"OwnerAsMetadata": {"upstream panics", metadataOwner, false, nil, child("1", ref("apps/v1", "Deployment", "d", true)), []reconcile.Request{request("x", "d")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &fakeCache{}
			sources, err := source.DoWatch(in(inputs{
				Cache: c,
				For:   source.ForInput{Object: tc.owner},
				Owns:  []source.OwnsInput{{ForInput: source.ForInput{Object: &corev1.Secret{}}, MatchEveryOwner: tc.every}},
			}))
			require.NoError(t, err)
			q := newQueue[reconcile.Request](t)
			startAll(t, c, sources[1:], q)
			if tc.old == nil {
				c.informer.handler().OnAdd(tc.new, false)
			} else {
				c.informer.handler().OnUpdate(tc.old, tc.new)
			}
			var got []reconcile.Request
			for q.Len() > 0 {
				req, _ := q.Get()
				got = append(got, req)
				q.Done(req)
			}
			assert.ElementsMatch(t, tc.want, got, tc.reason)
		})
	}
}

func TestDoWatchForEnqueuesTheObject(t *testing.T) {
	c := &fakeCache{}
	sources, err := source.DoWatch(in(inputs{Cache: c, For: source.ForInput{Object: &corev1.Pod{}, OnlyMetadata: true}}))
	require.NoError(t, err)
	q := newQueue[reconcile.Request](t)
	startAll(t, c, sources, q)
	asked := c.asked[0]
	require.IsType(t, &metav1.PartialObjectMetadata{}, asked, "a metadata-only watch must ask for a metadata informer")
	require.Equal(t, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, asked.GetObjectKind().GroupVersionKind())
	c.informer.handler().OnAdd(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}, false)
	req, _ := q.Get()
	q.Done(req)
	require.Equal(t, "ns/a", req.String())
}

// unregistered is a type that no scheme knows.
type unregistered struct{ corev1.Pod }

func (u *unregistered) DeepCopyObject() runtime.Object { return u }

// TestDoWatchNewKind: what makes the source of a kind is a choice, and gets the
// projected object, the handler and all predicates.
func TestDoWatchNewKind(t *testing.T) {
	c := &fakeCache{}
	i := in(inputs{
		Cache:      c,
		For:        source.ForInput{Object: &corev1.Pod{}, OnlyMetadata: true},
		Predicates: []predicate.Predicate{predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() != "filtered" })},
		NewKind:    upstream.TypedKind[client.Object, reconcile.Request],
	})
	sources, err := source.DoWatch(i)
	require.NoError(t, err)
	require.IsType(t, upstream.Kind(c, client.Object(&corev1.Pod{}), &handler.EnqueueRequestForObject{}), sources[0])
	require.Equal(t, "kind source: *v1.PartialObjectMetadata[v1 Pod]", fmt.Sprint(sources[0]))
	q := newQueue[reconcile.Request](t)
	startAll(t, c, sources, q)
	c.informer.handler().OnAdd(pod("filtered", "1"), false)
	c.informer.handler().OnAdd(pod("a", "1"), false)
	req, _ := q.Get()
	q.Done(req)
	require.Equal(t, "ns/a", req.String())

	i.Watches = []source.WatchesInput[reconcile.Request]{{ForInput: source.ForInput{Object: &corev1.Pod{}}}}
	_, err = source.DoWatch(i)
	require.ErrorContains(t, err, "non-nil handler", "what is wrong is found out whoever makes the source")
}
