package controller

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// A copy that lost its label is not among the copies that the cache selects, and is
// no less the Mirror's to delete or to release.
func TestCopiesThatLostTheirLabel(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	deleteMirror := func(w *world, m *v1alpha1.Mirror, _ client.ObjectKey) { require.NoError(w, w.Delete(w.ctx, m)) }
	unmatch := func(w *world, _ *v1alpha1.Mirror, key client.ObjectKey) { relabel(w, key.Namespace, "") }
	released := func(w *world, c *corev1.Secret) {
		w.eventually("it belongs to nobody", func() error {
			if err := w.Get(w.ctx, client.ObjectKeyFromObject(c), c); err != nil {
				return err
			}
			if len(c.OwnerReferences) > 0 {
				return fmt.Errorf("%v", c.OwnerReferences)
			}
			return nil
		})
	}
	deleted := func(w *world, c *corev1.Secret) { w.gone(c, "it is not wanted") }
	for name, tt := range map[string]struct {
		policy v1alpha1.DeletionPolicy
		change func(w *world, m *v1alpha1.Mirror, key client.ObjectKey)
		check  func(w *world, c *corev1.Secret)
	}{
		"the Mirror goes, and retains": {v1alpha1.Retain, deleteMirror, released},
		"the Mirror goes":              {v1alpha1.Delete, deleteMirror, deleted},
		"the namespace matches no longer, and the copy is retained": {v1alpha1.Retain, unmatch, released},
		"the namespace matches no longer":                           {v1alpha1.Delete, unmatch, deleted},
		"the Mirror gets another source": {v1alpha1.Delete, func(w *world, m *v1alpha1.Mirror, _ client.ObjectKey) {
			m.Spec.Source.Name += "-2"
			require.NoError(w, w.Update(w.ctx, m))
		}, deleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachRuntime(t, func(w *world) {
				source := w.source(want)
				other := source.DeepCopy()
				other.ObjectMeta = metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name + "-2"}
				require.NoError(w, w.Create(w.ctx, other))
				key := client.ObjectKey{Namespace: w.namespace("one", w.team()), Name: source.Name}
				m := w.mirror(source, func(m *v1alpha1.Mirror) { m.Spec.DeletionPolicy = tt.policy })
				w.ready(m, 1)
				w.stop() // both happen while nobody looks
				c := w.secret(key.Namespace, key.Name, want)
				delete(c.Labels, LabelCopy)
				require.NoError(w, w.Update(w.ctx, c))
				tt.change(w, m, key)
				w.start()
				tt.check(w, c)
			})
		})
	}
}

// The label goes while the clean-up already asks for what has it.
func TestLabelIsTakenDuringTheCleanUp(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	onEachRuntime(t, func(w *world) {
		source := w.source(want)
		one := w.namespace("one", w.team())
		m := w.mirror(source, func(m *v1alpha1.Mirror) { m.Spec.DeletionPolicy = v1alpha1.Retain })
		w.ready(m, 1)
		w.quiet()
		uid := string(m.UID) // what m is read into meanwhile is not for the handler
		reached, goOn := w.op.pause(func(r *http.Request) bool {
			return r.Method == http.MethodGet && r.URL.Path == "/api/v1/secrets" && strings.Contains(r.URL.Query().Get("labelSelector"), uid)
		})
		defer goOn()
		require.NoError(w, w.Delete(w.ctx, m))
		w.reaches(reached)
		c := w.secret(one, source.Name, want)
		delete(c.Labels, LabelCopy)
		require.NoError(w, w.Update(w.ctx, c))
		goOn()
		w.gone(m, "the finalizer is taken off")
		assert.Empty(w, w.secret(one, source.Name, want).OwnerReferences, "or the garbage collector would take it")
		assert.Empty(w, w.op.log.errors())
	})
}

// A Mirror that lives gets its finalizer back, without waiting for anything else.
func TestFinalizerTakenByHand(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		m := w.mirror(w.source(nil))
		w.ready(m, 0)
		w.quiet()
		require.NoError(w, w.Patch(w.ctx, m, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		w.eventually("it is back", func() error {
			if err := w.Get(w.ctx, client.ObjectKeyFromObject(m), m); err != nil {
				return err
			}
			if !controllerutil.ContainsFinalizer(m, Finalizer) {
				return fmt.Errorf("%v", m.Finalizers)
			}
			return nil
		})
	})
}

func TestSelectorChanged(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	onEachRuntime(t, func(w *world) {
		source := w.source(want)
		left := w.namespace("left", w.team())
		both := w.namespace("both", map[string]string{"team": w.suffix, "tier": w.suffix})
		joined := w.namespace("joined", map[string]string{"tier": w.suffix})
		m := w.mirror(source)
		w.ready(m, 2)
		kept := w.secret(both, source.Name, want)
		m.Spec.NamespaceSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "In", Values: []string{w.suffix}}}}
		require.NoError(w, w.Update(w.ctx, m))
		w.secret(joined, source.Name, want)
		w.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: left, Name: source.Name}}, "it matches no longer")
		w.ready(m, 2)
		assert.Equal(w, kept.ResourceVersion, w.secret(both, source.Name, want).ResourceVersion, "what stays is not touched")
	})
}

// What can't be changed is deleted and made anew. An operator that is killed between
// the two leaves a gap, which the next one fills.
func TestKilledBetweenDeletingAndMakingAnew(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		immutable := func(user string) *corev1.Secret {
			return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.name("platform"), Name: w.name("pull")},
				Immutable: ptr.To(true), StringData: map[string]string{"user": user}}
		}
		w.namespace("platform", nil)
		source := immutable("a")
		require.NoError(w, w.Create(w.ctx, source))
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)
		w.quiet()
		op, deleted := w.op, atomic.Bool{}
		op.handle(func(r *http.Request) *http.Response {
			if !strings.HasSuffix(r.URL.Path, "/secrets/"+source.Name) {
				return nil
			}
			if r.Method == http.MethodDelete {
				deleted.Store(true)
			} else if r.Method == http.MethodPatch && deleted.Load() {
				op.kill()
				return answer(http.StatusServiceUnavailable)
			}
			return nil
		})
		require.NoError(w, w.Delete(w.ctx, source))
		require.NoError(w, w.Create(w.ctx, immutable("b")))
		require.NoError(w, <-op.done)
		w.op = nil
		w.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: one, Name: source.Name}}, "it was killed between the two")
		w.start()
		w.secret(one, source.Name, map[string]string{"user": "b"})
		w.ready(m, 1)
	})
}

// What is not said is Skip and Delete, in the object as everybody reads it.
func TestDefaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.mirror(w.source(nil))
	assert.Equal(t, v1alpha1.Skip, m.Spec.ConflictPolicy)
	assert.Equal(t, v1alpha1.Delete, m.Spec.DeletionPolicy)
}
