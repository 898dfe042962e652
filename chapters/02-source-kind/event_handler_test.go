package source_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	upstream "sigs.k8s.io/controller-runtime/pkg/source"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

// newKind is the seam: ours and upstream's constructor have one signature.
type newKind[object client.Object, request comparable] func(cache.Cache, object, handler.TypedEventHandler[object, request], ...predicate.TypedPredicate[object]) upstream.TypedSyncingSource[request]

// onBoth runs a test on ours and on upstream's Kind.
func onBoth[object client.Object, request comparable](t *testing.T, test func(t *testing.T, newKind newKind[object, request])) {
	t.Run("ours", func(t *testing.T) { test(t, source.TypedKind[object, request]) })
	t.Run("upstream", func(t *testing.T) { test(t, upstream.TypedKind[object, request]) })
}

// bridge starts a source over a fake cache and returns what it put on the informer.
func bridge[request comparable](t *testing.T, src func(cache.Cache) upstream.TypedSyncingSource[request], q workqueue.TypedRateLimitingInterface[request]) toolscache.ResourceEventHandler {
	t.Helper()
	c := &fakeCache{}
	s := src(c)
	require.NoError(t, s.Start(t.Context(), q))
	require.NoError(t, s.WaitForSync(t.Context()))
	return c.informer.handler()
}

// say writes each event as one word into a list.
func say[object client.Object](got *[]string) handler.TypedFuncs[object, string] {
	add := func(format string, args ...any) { *got = append(*got, fmt.Sprintf(format, args...)) }
	return handler.TypedFuncs[object, string]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[object], _ queue) {
			add("create %s initial=%t", e.Object.GetName(), e.IsInInitialList)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[object], _ queue) {
			add("update %s->%s", e.ObjectOld.GetResourceVersion(), e.ObjectNew.GetResourceVersion())
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[object], _ queue) {
			add("delete %s unknown=%t", e.Object.GetName(), e.DeleteStateUnknown)
		},
	}
}

func pod(name, rv string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: rv}}
}

func TestBridge(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	cases := map[string]struct {
		reason string
		do     func(h toolscache.ResourceEventHandler)
		want   []string
	}{
		"Create":        {"an object that is new", func(h toolscache.ResourceEventHandler) { h.OnAdd(pod("a", "1"), false) }, []string{"create a initial=false"}},
		"CreateInitial": {"handlers lower the priority of the initial list", func(h toolscache.ResourceEventHandler) { h.OnAdd(pod("a", "1"), true) }, []string{"create a initial=true"}},
		"Update":        {"both objects must arrive, in order", func(h toolscache.ResourceEventHandler) { h.OnUpdate(pod("a", "1"), pod("a", "2")) }, []string{"update 1->2"}},
		"Resync":        {"an unchanged update is an update", func(h toolscache.ResourceEventHandler) { h.OnUpdate(pod("a", "1"), pod("a", "1")) }, []string{"update 1->1"}},
		"Delete":        {"the last state is known", func(h toolscache.ResourceEventHandler) { h.OnDelete(pod("a", "1")) }, []string{"delete a unknown=false"}},
		"Tombstone": {"the event must say that the state is only the last known one", func(h toolscache.ResourceEventHandler) {
			h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod("a", "1")})
		}, []string{"delete a unknown=true"}},
		"WrongTypes": {"a wrong type is dropped, everywhere", func(h toolscache.ResourceEventHandler) {
			h.OnAdd(secret, false)
			h.OnUpdate(secret, pod("a", "1"))
			h.OnUpdate(pod("a", "1"), secret)
			h.OnDelete(secret)
			h.OnDelete("text")
			h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "s", Obj: secret})
		}, nil},
		"Nil": {"nil is dropped, everywhere", func(h toolscache.ResourceEventHandler) {
			h.OnAdd(nil, false)
			h.OnUpdate(nil, pod("a", "1"))
			h.OnUpdate(pod("a", "1"), nil)
			h.OnDelete(nil)
			h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "ns/a"})
		}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newKind newKind[*corev1.Pod, string]) {
				var got []string
				h := bridge(t, func(c cache.Cache) upstream.TypedSyncingSource[string] {
					return newKind(c, &corev1.Pod{}, say[*corev1.Pod](&got))
				}, newQueue[string](t))
				tc.do(h)
				assert.Equal(t, tc.want, got, tc.reason)
			})
		})
	}
}

func TestBridgePredicates(t *testing.T) {
	events := map[string]func(h toolscache.ResourceEventHandler){
		"create": func(h toolscache.ResourceEventHandler) { h.OnAdd(pod("a", "1"), false) },
		"update": func(h toolscache.ResourceEventHandler) { h.OnUpdate(pod("a", "1"), pod("a", "2")) },
		"delete": func(h toolscache.ResourceEventHandler) { h.OnDelete(pod("a", "1")) },
	}
	cases := map[string]struct {
		reason  string
		answers []bool
		asked   int
		handled bool
	}{
		"None":     {"nothing filters", nil, 0, true},
		"AllPass":  {"all are asked", []bool{true, true}, 2, true},
		"First":    {"the first no ends it", []bool{false, true}, 1, false},
		"Second":   {"a later no counts too", []bool{true, false}, 2, false},
		"InMiddle": {"those behind the no are not asked", []bool{true, false, true}, 2, false},
	}
	for name, tc := range cases {
		for verb, fire := range events {
			t.Run(name+"/"+verb, func(t *testing.T) {
				onBoth(t, func(t *testing.T, newKind newKind[*corev1.Pod, string]) {
					var got []string
					var asked []int
					var predicates []predicate.TypedPredicate[*corev1.Pod]
					for i, answer := range tc.answers {
						// One func per verb: a bridge that asks for the wrong verb finds a yes and no trace.
						yes := predicate.NewTypedPredicateFuncs(func(*corev1.Pod) bool { return true })
						say := func() bool { asked = append(asked, i); return answer }
						switch verb {
						case "create":
							yes.CreateFunc = func(event.TypedCreateEvent[*corev1.Pod]) bool { return say() }
						case "update":
							yes.UpdateFunc = func(event.TypedUpdateEvent[*corev1.Pod]) bool { return say() }
						case "delete":
							yes.DeleteFunc = func(event.TypedDeleteEvent[*corev1.Pod]) bool { return say() }
						}
						predicates = append(predicates, yes)
					}
					h := bridge(t, func(c cache.Cache) upstream.TypedSyncingSource[string] {
						return newKind(c, &corev1.Pod{}, say[*corev1.Pod](&got), predicates...)
					}, newQueue[string](t))
					fire(h)
					assert.Equal(t, tc.handled, len(got) == 1, tc.reason)
					require.Len(t, asked, tc.asked, tc.reason)
					for i, n := range asked {
						assert.Equal(t, i, n, "predicates are asked in their order")
					}
				})
			})
		}
	}
}

func TestBridgeContexts(t *testing.T) {
	onBoth(t, func(t *testing.T, newKind newKind[*corev1.Pod, string]) {
		type key struct{}
		var during []error
		var seen []context.Context
		note := func(ctx context.Context) {
			assert.Equal(t, "value", ctx.Value(key{}), "a handler's context comes from the source's")
			during, seen = append(during, ctx.Err()), append(seen, ctx)
		}
		h := handler.TypedFuncs[*corev1.Pod, string]{
			CreateFunc: func(ctx context.Context, _ event.TypedCreateEvent[*corev1.Pod], _ queue) { note(ctx) },
			UpdateFunc: func(ctx context.Context, _ event.TypedUpdateEvent[*corev1.Pod], _ queue) { note(ctx) },
			DeleteFunc: func(ctx context.Context, _ event.TypedDeleteEvent[*corev1.Pod], _ queue) { note(ctx) },
		}
		c := &fakeCache{}
		src := newKind(c, &corev1.Pod{}, h)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		defer cancel()
		require.NoError(t, src.Start(ctx, newQueue[string](t)))
		require.NoError(t, src.WaitForSync(t.Context()))
		b := c.informer.handler()
		b.OnAdd(pod("a", "1"), false)
		b.OnUpdate(pod("a", "1"), pod("a", "2"))
		b.OnDelete(pod("a", "2"))
		require.Equal(t, []error{nil, nil, nil}, during)
		for _, ctx := range seen {
			assert.ErrorIs(t, ctx.Err(), context.Canceled, "what a handler left running must learn that the event is over")
		}
		cancel()
		b.OnDelete(pod("a", "2"))
		require.ErrorIs(t, during[3], context.Canceled, "the controller has stopped")
	})
}

func TestBridgeHandsTheQueueOn(t *testing.T) {
	type want struct {
		key      string
		priority int
	}
	cases := map[string]struct {
		reason string
		do     func(h toolscache.ResourceEventHandler)
		want   want
	}{
		"Initial":   {"the initial list must not hold up what changes now", func(h toolscache.ResourceEventHandler) { h.OnAdd(pod("a", "1"), true) }, want{"a", handler.LowPriority}},
		"New":       {"a new object is urgent", func(h toolscache.ResourceEventHandler) { h.OnAdd(pod("a", "1"), false) }, want{"a", 0}},
		"Unchanged": {"a resync is not urgent", func(h toolscache.ResourceEventHandler) { h.OnUpdate(pod("a", "1"), pod("a", "1")) }, want{"a", handler.LowPriority}},
		"Changed":   {"a change is urgent", func(h toolscache.ResourceEventHandler) { h.OnUpdate(pod("a", "1"), pod("a", "2")) }, want{"a", 0}},
		"Deleted":   {"a deletion is urgent", func(h toolscache.ResourceEventHandler) { h.OnDelete(pod("a", "1")) }, want{"a", 0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newKind newKind[*corev1.Pod, reconcile.Request]) {
				q := priorityqueue.New[reconcile.Request]("")
				defer q.ShutDown()
				h := bridge(t, func(c cache.Cache) upstream.TypedSyncingSource[reconcile.Request] {
					return newKind(c, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
				}, q)
				tc.do(h)
				req, priority, _ := q.GetWithPriority()
				q.Done(req)
				assert.Equal(t, tc.want, want{req.Name, priority}, tc.reason)
			})
		})
	}
}

// TestBridgeObjectTypes: an interface type takes every object; a Go type takes only its own.
func TestBridgeObjectTypes(t *testing.T) {
	onBoth(t, func(t *testing.T, newKind newKind[client.Object, string]) {
		var got []string
		h := bridge(t, func(c cache.Cache) upstream.TypedSyncingSource[string] {
			return newKind(c, &corev1.Pod{}, say[client.Object](&got))
		}, newQueue[string](t))
		h.OnAdd(pod("a", "1"), false)
		h.OnAdd(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, false)
		assert.Equal(t, []string{"create a initial=false", "create m initial=false"}, got)
	})
}

// TestB19_Tombstones: the last known state arrives, and says that it is no more than that.
func TestB19_Tombstones(t *testing.T) {
	onBoth(t, func(t *testing.T, newKind newKind[*corev1.Pod, string]) {
		var got []event.TypedDeleteEvent[*corev1.Pod]
		h := bridge(t, func(c cache.Cache) upstream.TypedSyncingSource[string] {
			return newKind(c, &corev1.Pod{}, handler.TypedFuncs[*corev1.Pod, string]{
				DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*corev1.Pod], _ queue) { got = append(got, e) },
			})
		}, newQueue[string](t))
		p := pod("a", "1")
		h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "ns/a", Obj: p})
		h.OnDelete(p)
		require.Equal(t, []event.TypedDeleteEvent[*corev1.Pod]{{Object: p, DeleteStateUnknown: true}, {Object: p}}, got)

		got = nil
		for _, obj := range []any{nil, &corev1.ConfigMap{}} {
			require.NotPanics(t, func() { h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "ns/a", Obj: obj}) })
		}
		require.Empty(t, got, "an event without its object must not reach the handler")
	})
}

// What is dropped is named in the log, and a nil pointer of the right type is dropped, too.
func TestTombstonesWithoutTheirObjectAreNamed(t *testing.T) {
	h := bridge(t, func(c cache.Cache) upstream.TypedSyncingSource[string] {
		return source.TypedKind(c, &corev1.Pod{}, handler.TypedFuncs[*corev1.Pod, string]{
			DeleteFunc: func(context.Context, event.TypedDeleteEvent[*corev1.Pod], queue) {
				assert.Fail(t, "an event without an object must not reach the handler")
			},
		})
	}, newQueue[string](t))
	dropped := map[string]any{
		"<nil>":         nil,
		"*v1.ConfigMap": &corev1.ConfigMap{},
		"*v1.Pod":       (*corev1.Pod)(nil),
	}
	for name, obj := range dropped {
		before := logged.with("OnDelete dropped", `"got"="`+name+`"`, `"want"="*v1.Pod"`)
		require.NotPanics(t, func() { h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "ns/a", Obj: obj}) })
		assert.Equal(t, before+1, logged.with("OnDelete dropped", `"got"="`+name+`"`, `"want"="*v1.Pod"`), "the log must name %s", name)
	}
}
