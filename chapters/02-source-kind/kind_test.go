package source_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	upstream "sigs.k8s.io/controller-runtime/pkg/source"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

var (
	noHandler = handler.TypedFuncs[client.Object, string]{}
	noMatch   = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"}}
)

func TestKindRefuses(t *testing.T) {
	c := &fakeCache{}
	pass := predicate.ResourceVersionChangedPredicate{}
	cases := map[string]struct {
		reason     string
		cache      cache.Cache
		obj        client.Object
		handler    handler.TypedEventHandler[client.Object, string]
		predicates []predicate.Predicate
		want       string
		upstream   bool // upstream refuses too
	}{
		"NoObject":       {"nothing to watch", c, nil, noHandler, nil, "must create Kind with a non-nil object", true},
		"NilPod":         {"a variable that was never set", c, (*corev1.Pod)(nil), noHandler, nil, "must create Kind with a non-nil object", true},
		"NoCache":        {"nothing to read from", nil, &corev1.Pod{}, noHandler, nil, "must create Kind with a non-nil cache", true},
		"NilCache":       {"a variable that was never set", (*fakeCache)(nil), &corev1.Pod{}, noHandler, nil, "must create Kind with a non-nil cache", true},
		"NoHandler":      {"nothing to tell", c, &corev1.Pod{}, nil, nil, "must create Kind with a non-nil handler", true},
		"NilHandler":     {"a variable that was never set", c, &corev1.Pod{}, (*handler.TypedFuncs[client.Object, string])(nil), nil, "must create Kind with a non-nil handler", true},
		"NilPredicate":   {"it would panic at the first event", c, &corev1.Pod{}, noHandler, []predicate.Predicate{pass, nil}, "non-nil predicates", false},
		"KindlessMeta":   {"it would be looked up for ever", c, &metav1.PartialObjectMetadata{}, noHandler, nil, "call SetGroupVersionKind on the *v1.PartialObjectMetadata", false},
		"KindlessObject": {"it would be looked up for ever", c, &unstructured.Unstructured{}, noHandler, nil, "call SetGroupVersionKind on the *unstructured.Unstructured", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			src := source.TypedKind(tc.cache, tc.obj, tc.handler, tc.predicates...)
			require.ErrorContains(t, src.Start(t.Context(), newQueue[string](t)), tc.want, tc.reason)
			require.Zero(t, c.lookups(), "what is refused must not be looked up")
			if tc.upstream {
				require.Error(t, upstream.TypedKind(tc.cache, tc.obj, tc.handler).Start(t.Context(), newQueue[string](t)))
			}
		})
	}
}

func TestKindString(t *testing.T) {
	widget := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	metadata, object := &metav1.PartialObjectMetadata{}, &unstructured.Unstructured{}
	metadata.SetGroupVersionKind(widget)
	object.SetGroupVersionKind(widget)
	cases := map[string]struct {
		obj  client.Object
		want string
	}{
		"Typed":        {&corev1.Pod{}, "kind source: *v1.Pod"},
		"Metadata":     {metadata, "kind source: *v1.PartialObjectMetadata[example.com/v1 Widget]"},
		"Unstructured": {object, "kind source: *unstructured.Unstructured[example.com/v1 Widget]"},
		"Nil":          {nil, "kind source: unknown type"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, newKind newKind[client.Object, string]) {
				assert.Equal(t, tc.want, fmt.Sprint(newKind(&fakeCache{}, tc.obj, noHandler)))
			})
		})
	}
}

// TestB16_CRDNotInstalledYet: the source keeps looking, says why, and ends when told to.
func TestB16_CRDNotInstalledYet(t *testing.T) {
	onBoth(t, func(t *testing.T, newKind newKind[client.Object, string]) {
		cases := map[string]struct {
			reason  string
			failing int // lookups that fail
			timeout time.Duration
			cancel  time.Duration
			after   time.Duration
			lookups int
			want    string
		}{
			"Installed": {reason: "two failures, then the CRD is there", failing: 2, timeout: time.Minute, after: 20 * time.Second, lookups: 3},
			"TimedOut":  {reason: "the error must name the source", failing: 100, timeout: time.Second, after: time.Second, lookups: 1, want: "timed out waiting for cache to be synced for kind source: *v1.Pod"},
			"Cancelled": {reason: "a stop is no error", failing: 100, timeout: time.Hour, cancel: 15 * time.Second, after: 15 * time.Second, lookups: 2},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := &fakeCache{get: func(_ context.Context, call int) error {
						if call <= tc.failing {
							return noMatch
						}
						return nil
					}}
					src := newKind(c, &corev1.Pod{}, noHandler)
					require.NoError(t, src.Start(t.Context(), nil))
					ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
					defer cancel()
					if tc.cancel > 0 {
						time.AfterFunc(tc.cancel, cancel)
					}
					begin := time.Now()
					err := src.WaitForSync(ctx)
					assert.Equal(t, tc.after, time.Since(begin), tc.reason)
					if tc.want == "" {
						require.NoError(t, err, tc.reason)
					} else {
						require.ErrorContains(t, err, tc.want, tc.reason)
					}
					time.Sleep(time.Minute)
					assert.Equal(t, tc.lookups, c.lookups(), "nothing is looked up after the end")
				})
			})
		}
	})
}

func TestKindTimeoutSaysWhatTheLookupLacked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := source.TypedKind(&fakeCache{get: func(context.Context, int) error { return noMatch }}, client.Object(&corev1.Pod{}), noHandler)
		require.NoError(t, src.Start(t.Context(), nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, src.WaitForSync(ctx), noMatch)
	})
}

func TestKindLogsWhyItLooksAgain(t *testing.T) {
	cases := map[string]struct {
		err  error
		want []string
	}{
		"NoCRD":         {fmt.Errorf("wrapped: %w", noMatch), []string{"install the CRD", "Widget"}},
		"NoGroup":       {fmt.Errorf("wrapped: %w", &meta.NoResourceMatchError{}), []string{"install the CRD", "kind source: *v1.Pod"}},
		"NotRegistered": {runtime.NewNotRegisteredErrForType("a scheme", nil), []string{"not in the scheme", "AddToScheme", "kind source: *v1.Pod"}},
		"Other":         {errors.New("some boom"), []string{"Could not get the informer", "some boom", "kind source: *v1.Pod"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := logged.with(tc.want...)
				c := &fakeCache{get: func(_ context.Context, call int) error {
					if call <= 2 {
						return tc.err
					}
					return nil
				}}
				src := source.TypedKind(c, client.Object(&corev1.Pod{}), noHandler)
				require.NoError(t, src.Start(t.Context(), nil))
				require.NoError(t, src.WaitForSync(t.Context()))
				assert.Equal(t, before+2, logged.with(tc.want...), "one line for each lookup that failed")
			})
		})
	}
}

func TestKindGivesTheInformerItsLogger(t *testing.T) {
	c := &fakeCache{}
	src := source.Kind(c, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
	require.NoError(t, src.Start(t.Context(), newQueue[reconcile.Request](t)))
	require.NoError(t, src.WaitForSync(t.Context()))
	require.NotNil(t, c.informer.options[0].Logger)
	require.Nil(t, c.informer.options[0].ResyncPeriod, "the informer's own resync period counts")
}

// TestKindForTwoControllers: one source value given to two controllers serves both.
func TestKindForTwoControllers(t *testing.T) {
	c := &fakeCache{}
	src := source.Kind(c, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
	q1, q2 := newQueue[reconcile.Request](t), newQueue[reconcile.Request](t)
	require.NoError(t, src.Start(t.Context(), q1))
	require.NoError(t, src.WaitForSync(t.Context()))
	require.NoError(t, src.Start(t.Context(), q2))
	require.NoError(t, src.WaitForSync(t.Context()))
	for _, h := range c.informer.handlers {
		h.OnAdd(pod("a", "1"), false)
	}
	assert.Equal(t, 1, q1.Len())
	assert.Equal(t, 1, q2.Len())
}

// TestKindKeepsItsPredicates: the caller may use its slice again.
func TestKindKeepsItsPredicates(t *testing.T) {
	q := newQueue[reconcile.Request](t)
	predicates := []predicate.TypedPredicate[*corev1.Pod]{predicate.NewTypedPredicateFuncs(func(*corev1.Pod) bool { return true })}
	h := bridge(t, func(c cache.Cache) upstream.SyncingSource {
		src := source.Kind(c, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{}, predicates...)
		predicates[0] = predicate.NewTypedPredicateFuncs(func(*corev1.Pod) bool { return false })
		return src
	}, q)
	h.OnAdd(pod("a", "1"), false)
	require.Equal(t, 1, q.Len())
}
