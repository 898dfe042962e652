package controller

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// A write that was decided on is held on its way to the API server, and the world
// changes before it arrives.
func TestWorldChangesBeforeAWriteArrives(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	mine := map[string]string{"mine": "1"}
	foreign := func(w *world, key client.ObjectKey) {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, StringData: mine}
		require.NoError(w, w.Create(w.ctx, s))
	}
	for name, tt := range map[string]struct {
		reason string
		method string // of the request that is held
		edit   func(*v1alpha1.Mirror)
		// before is done with the first copy in place; nil: the first copy itself is held.
		before func(w *world, m *v1alpha1.Mirror, source *corev1.Secret, key client.ObjectKey)
		change func(w *world, m *v1alpha1.Mirror, source *corev1.Secret, key client.ObjectKey)
		check  func(w *world, m *v1alpha1.Mirror, source *corev1.Secret, key client.ObjectKey)
	}{
		"somebody else makes an object first": {
			reason: "apply, with force, would take it over",
			change: func(w *world, _ *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) { foreign(w, key) },
			check: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				w.condition(m, v1alpha1.Conflicted, metav1.ConditionTrue, reasonConflicts)
				s := w.secret(key.Namespace, key.Name, mine)
				assert.Empty(w, s.OwnerReferences)
				assert.NotContains(w, s.Labels, LabelCopy)
			},
		},
		"the copy is replaced by somebody else's object": {
			reason: "the cache still has the copy",
			before: touch(map[string]string{"user": "b"}),
			change: func(w *world, _ *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				require.NoError(w, w.Delete(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}))
				foreign(w, key)
			},
			check: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				w.condition(m, v1alpha1.Conflicted, metav1.ConditionTrue, reasonConflicts)
				w.secret(key.Namespace, key.Name, mine)
			},
		},
		"somebody takes the copy for their own": {
			reason: "the same object, but no longer ours",
			before: touch(map[string]string{"user": "b"}),
			change: func(w *world, _ *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) { disown(w, key, mine) },
			check: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				w.condition(m, v1alpha1.Conflicted, metav1.ConditionTrue, reasonConflicts)
				w.secret(key.Namespace, key.Name, mine)
			},
		},
		"somebody takes the copy for their own before it is deleted": {
			reason: "the UID is the same: only the resourceVersion tells",
			method: http.MethodDelete,
			before: unlabel,
			change: func(w *world, _ *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) { disown(w, key, mine) },
			check: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				w.ready(m, 0)
				w.secret(key.Namespace, key.Name, mine)
			},
		},
		"the namespace matches again before its copy is retained": {
			reason: "a release on the way must not strip what apply has written since",
			edit:   func(m *v1alpha1.Mirror) { m.Spec.DeletionPolicy = v1alpha1.Retain },
			before: unlabel,
			change: func(w *world, _ *v1alpha1.Mirror, source *corev1.Secret, key client.ObjectKey) {
				relabel(w, key.Namespace, w.suffix)
				source.Data = map[string][]byte{"user": []byte("b")}
				require.NoError(w, w.Update(w.ctx, source))
			},
			check: func(w *world, m *v1alpha1.Mirror, source *corev1.Secret, key client.ObjectKey) {
				// Either the release came first, and left a foreign object, or it did not.
				w.eventually("one of the two orders", func() error {
					s := &corev1.Secret{}
					if err := w.Get(w.ctx, key, s); err != nil {
						return err
					}
					released := len(s.OwnerReferences) == 0 && s.Labels[LabelCopy] == "" && string(s.Data["user"]) == "a"
					kept := metav1.IsControlledBy(s, m) && string(s.Data["user"]) == "b"
					if released == kept {
						return assert.AnError
					}
					return nil
				})
			},
		},
		"the namespace stops matching": {
			reason: "the copy that arrives is not in the cache of the next pass",
			change: func(w *world, _ *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				relabel(w, key.Namespace, "")
			},
			check: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				w.ready(m, 0)
				w.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}, "it matches no longer")
			},
		},
		"the namespace begins to go": {
			reason: "the API server refuses, and nothing is owed to it",
			change: func(w *world, _ *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				require.NoError(w, w.Delete(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}}))
			},
			check: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, _ client.ObjectKey) {
				w.ready(m, 0)
				assert.Empty(w, w.op.log.errors())
			},
		},
		"the Mirror gets another source": {
			reason: "the copy of the old source arrives after the edit",
			change: func(w *world, m *v1alpha1.Mirror, source *corev1.Secret, _ client.ObjectKey) {
				other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name + "-2"}, StringData: map[string]string{"user": "c"}}
				require.NoError(w, w.Create(w.ctx, other))
				w.eventually("the Mirror is edited", func() error {
					if err := w.Get(w.ctx, client.ObjectKeyFromObject(m), m); err != nil {
						return err
					}
					m.Spec.Source.Name = other.Name
					return w.Update(w.ctx, m)
				})
			},
			check: func(w *world, m *v1alpha1.Mirror, source *corev1.Secret, key client.ObjectKey) {
				w.ready(m, 1)
				w.secret(key.Namespace, source.Name+"-2", map[string]string{"user": "c"})
				w.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}, "the spec names another source")
			},
		},
		"the Mirror is deleted": {
			reason: "the copy that arrives is not in the cache when the finalizer runs",
			edit:   func(m *v1alpha1.Mirror) { m.Spec.DeletionPolicy = v1alpha1.Retain },
			change: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, _ client.ObjectKey) {
				require.NoError(w, w.Delete(w.ctx, m))
			},
			check: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				w.gone(m, "the finalizer is taken off")
				assert.Empty(w, w.secret(key.Namespace, key.Name, want).OwnerReferences, "it is retained, for nobody's garbage collector")
			},
		},
		"the source is deleted": {
			reason: "the copy is written once more, and stays",
			change: func(w *world, _ *v1alpha1.Mirror, source *corev1.Secret, _ client.ObjectKey) {
				require.NoError(w, w.Delete(w.ctx, source))
			},
			check: func(w *world, m *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
				w.condition(m, v1alpha1.SourceAvailable, metav1.ConditionFalse, reasonSourceMissing)
				w.secret(key.Namespace, key.Name, want)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachRuntime(t, func(w *world) {
				source := w.source(want)
				key := client.ObjectKey{Namespace: w.namespace("one", w.team()), Name: source.Name}
				method := tt.method
				if method == "" {
					method = http.MethodPatch
				}
				var m *v1alpha1.Mirror
				edit := func(m *v1alpha1.Mirror) {
					if tt.edit != nil {
						tt.edit(m)
					}
				}
				if tt.before != nil {
					m = w.mirror(source, edit)
					w.ready(m, 1)
					w.quiet()
				}
				reached, goOn := w.op.pause(on(method, "/secrets/"+key.Name))
				defer goOn()
				if tt.before != nil {
					tt.before(w, m, source, key)
				} else {
					m = w.mirror(source, edit)
				}
				w.reaches(reached)
				tt.change(w, m, source, key)
				goOn()
				tt.check(w, m, source, key)
			})
		})
	}
}

// touch gives the source other data.
func touch(data map[string]string) func(*world, *v1alpha1.Mirror, *corev1.Secret, client.ObjectKey) {
	return func(w *world, _ *v1alpha1.Mirror, source *corev1.Secret, _ client.ObjectKey) {
		source.Data, source.StringData = nil, data
		require.NoError(w, w.Update(w.ctx, source))
	}
}

func unlabel(w *world, _ *v1alpha1.Mirror, _ *corev1.Secret, key client.ObjectKey) {
	relabel(w, key.Namespace, "")
}

// relabel changes the team of a namespace; "" takes the label away.
func relabel(w *world, namespace, team string) {
	w.Helper()
	ns := &corev1.Namespace{}
	require.NoError(w, w.Get(w.ctx, client.ObjectKey{Name: namespace}, ns))
	before := ns.DeepCopy()
	if ns.Labels["team"] = team; team == "" {
		delete(ns.Labels, "team")
	}
	require.NoError(w, w.Patch(w.ctx, ns, client.MergeFrom(before)))
}

// disown makes a copy somebody's own object, with other data.
func disown(w *world, key client.ObjectKey, data map[string]string) {
	w.Helper()
	s := &corev1.Secret{}
	require.NoError(w, w.Get(w.ctx, key, s))
	s.OwnerReferences, s.Data, s.StringData = nil, nil, data
	delete(s.Labels, LabelCopy)
	require.NoError(w, w.Update(w.ctx, s))
}

// An older Mirror takes over a copy while the younger one is on its way to delete
// it: the UID is the same.
func TestTakeoverWhileTheOtherMirrorGoes(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "a"})
		second := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace("platform-2", nil), Name: source.Name}, StringData: map[string]string{"user": "b"}}
		require.NoError(w, w.Create(w.ctx, second))
		one := w.namespace("one", w.team())
		older := w.mirror(source, func(m *v1alpha1.Mirror) {
			m.Name = w.name("a-mirror") // decides, if both are made in one second
			m.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": w.suffix + "-later"}
		})
		w.ready(older, 0)
		younger := w.mirror(second, func(m *v1alpha1.Mirror) { m.Name = w.name("b-mirror") })
		w.ready(younger, 1)
		w.quiet()

		reached, goOn := w.op.pause(on(http.MethodDelete, "/secrets/"+source.Name))
		defer goOn()
		require.NoError(w, w.Delete(w.ctx, younger))
		w.reaches(reached)
		older.Spec.NamespaceSelector.MatchLabels = w.team()
		require.NoError(w, w.Update(w.ctx, older))
		taken := w.secret(one, source.Name, map[string]string{"user": "a"})
		goOn()
		w.gone(younger, "nothing keeps it")
		w.ready(older, 1)
		now := w.secret(one, source.Name, map[string]string{"user": "a"})
		assert.Equal(w, taken.UID, now.UID, "the copy that was taken over was never deleted")
		require.Len(w, now.OwnerReferences, 1)
		assert.Equal(w, older.UID, now.OwnerReferences[0].UID)
		assert.Empty(w, w.op.log.errors())
	})
}

// frozen is a Reconciler whose caches never hear of what it writes, but for Mirrors.
func frozen(w *world) *Reconciler {
	lagging := interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			switch list.(type) {
			case *corev1.SecretList, *corev1.ConfigMapList:
				return nil
			}
			return c.List(ctx, list, opts...)
		},
	})
	return &Reconciler{Client: lagging, Live: w.Client, Objects: knowsNothing{w.Client}, Recorder: &recorder{}}
}

type knowsNothing struct{ client.Reader }

func (knowsNothing) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func (knowsNothing) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
}

// A cache that lags gives no second copy, no false status, and no copy that is left behind.
func TestB107_LaggingCacheMakesNoDuplicate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	source := w.source(map[string]string{"user": "a"})
	one := w.namespace("one", w.team())
	m := w.mirror(source, func(m *v1alpha1.Mirror) { m.Spec.DeletionPolicy = v1alpha1.Retain })
	r := frozen(w)
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(m)}

	result, err := r.Reconcile(w.ctx, req)
	require.NoError(t, err)
	assert.Zero(t, result, "the first pass makes the copy and is done")
	w.ready(m, 1)
	first := w.secret(one, source.Name, map[string]string{"user": "a"})

	result, err = r.Reconcile(w.ctx, req)
	require.NoError(t, err, "a cache that lags is no error")
	assert.Equal(t, staleDelay, result.RequeueAfter, "but has to be asked again")
	assert.Equal(t, first.ResourceVersion, w.secret(one, source.Name, map[string]string{"user": "a"}).ResourceVersion, "nothing was written")
	w.ready(m, 1)
	var all corev1.SecretList
	require.NoError(t, w.List(w.ctx, &all, client.InNamespace(one)))
	assert.Len(t, all.Items, 1)

	require.NoError(t, w.Delete(w.ctx, m))
	_, err = r.Reconcile(w.ctx, req)
	require.NoError(t, err)
	w.gone(m, "the finalizer is taken off")
	assert.Empty(t, w.secret(one, source.Name, map[string]string{"user": "a"}).OwnerReferences, "the copy that the cache never saw is released")
}

// A status that is compared with an old one is not written over a newer one, and
// its event is not repeated.
func TestStaleStatusIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.mirror(w.source(map[string]string{"user": "a"}))
	rec := &recorder{}
	r := &Reconciler{Client: w.Client, Live: w.Client, Recorder: rec}
	old := m.DeepCopy()
	out := &outcome{desired: 1, synced: 1}
	require.NoError(t, r.writeStatus(w.ctx, m, out))
	require.ErrorIs(t, r.writeStatus(w.ctx, old, &outcome{}), errStale)
	assert.Len(t, rec.reasons, 1)
	w.ready(m, 1)
}

// A pass may find that nothing is to be written because the status it sees is an
// old one that happens to be right again. The update that brings the newer one
// has to start another pass, or the newer one stays for ever.
func TestStatusThatOnlyLooksRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.mirror(w.source(map[string]string{"user": "a"}))
	r := &Reconciler{Client: w.Client, Live: w.Client, Recorder: &recorder{}}
	one, two := &outcome{desired: 1, synced: 1}, &outcome{desired: 2, synced: 2}
	require.NoError(t, r.writeStatus(w.ctx, m, one))
	w.ready(m, 1)
	old := m.DeepCopy()
	require.NoError(t, r.writeStatus(w.ctx, m, two))
	w.ready(m, 2)

	require.NoError(t, r.writeStatus(w.ctx, old, one), "nothing to write, it seems")
	w.ready(m, 2) // wrong
	assert.True(t, mirrorChanged.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: m}), "so there is another pass")
	require.NoError(t, r.writeStatus(w.ctx, m, one))
	w.ready(m, 1)
	assert.False(t, mirrorChanged.Update(event.UpdateEvent{ObjectOld: m, ObjectNew: m.DeepCopy()}), "and then there is rest")
}

// recorder notes the reasons of events.
type recorder struct{ reasons []string }

func (r *recorder) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	r.reasons = append(r.reasons, reason)
}

// A watch that was cut may report another object of the same name as an update.
func TestPredicatesNoticeAnObjectMadeAnew(t *testing.T) {
	t.Parallel()
	now := ptr.To(metav1.Now())
	meta := func(uid types.UID, going *metav1.Time) client.Object {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{UID: uid, DeletionTimestamp: going}}
	}
	for name, tt := range map[string]struct {
		old, new client.Object
		want     bool
	}{
		"nothing happened":       {meta("a", nil), meta("a", nil), false},
		"it begins to go":        {meta("a", nil), meta("a", now), true},
		"it is still going":      {meta("a", now), meta("a", now), false},
		"it went and came again": {meta("a", now), meta("b", nil), true},
		"replaced unseen":        {meta("a", nil), meta("b", nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			e := event.UpdateEvent{ObjectOld: tt.old, ObjectNew: tt.new}
			assert.Equal(t, tt.want, namespaceChanged.Update(e))
			if tt.want && tt.old.GetUID() != tt.new.GetUID() {
				assert.True(t, mirrorChanged.Update(e))
			}
		})
	}
}
