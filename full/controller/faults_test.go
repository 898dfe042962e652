package controller

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// "A watch that was closed is never opened again until the pod restarts."
func TestClosedWatchesAreOpenedAgain(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		want := map[string]string{"user": "a"}
		source := w.source(want)
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)
		for i := range 2 { // once, and once more
			w.op.cut()
			want["user"] = fmt.Sprint("b", i)
			touch(want)(w, m, source, client.ObjectKey{})
			w.secret(one, source.Name, want)
			w.secret(w.namespace(fmt.Sprint("later-", i), w.team()), source.Name, want)
			w.ready(m, i+2)
		}
	})
}

// "'Already exists' races at start-up": what the last run left is what this one finds.
func TestStartsAmongCopiesAndForeignObjects(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	inEachWorld(t, func(w *world) {
		source := w.source(want)
		var mirrors []*v1alpha1.Mirror
		for i := range 5 { // of one source, so that all want the same places
			mirrors = append(mirrors, w.mirror(source, func(m *v1alpha1.Mirror) { m.Name += fmt.Sprint("-", i) }))
		}
		for i := range 10 {
			w.namespace(fmt.Sprint("n", i), w.team())
		}
		for range 2 {
			w.start()
			w.ready(mirrors[0], 10)
			for _, m := range mirrors[1:] {
				w.eventually("ten conflicts", func() error {
					w.condition(m, v1alpha1.Ready, metav1.ConditionFalse, reasonConflicts)
					if n := len(m.Status.Conflicts); n != 10 {
						return fmt.Errorf("%d", n)
					}
					return nil
				})
			}
			w.quiet()
			assert.Empty(w, w.op.log.errors())
			w.stop()
		}
	})
}

// "A crash at a hundred namespaces."
func TestHundredNamespaces(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "a"})
		w.parallel(100, func(i int) error {
			return w.Create(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name(fmt.Sprint("n", i)), Labels: w.team()}})
		})
		for i := range 30 { // more than the status names
			require.NoError(w, w.Create(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.name(fmt.Sprint("n", i)), Name: source.Name}}))
		}
		m := w.mirror(source)
		c := w.condition(m, v1alpha1.Conflicted, metav1.ConditionTrue, reasonConflicts)
		assert.Contains(w, c.Message, "in 30 namespaces")
		assert.Contains(w, c.Message, "and 27 more")
		assert.Len(w, m.Status.Conflicts, v1alpha1.MaxConflicts)
		assert.EqualValues(w, 70, m.Status.Synced)
		assert.Empty(w, w.op.log.errors())
	})
}

func TestKilledInTheMiddleAndStartedAgain(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	const n = 20
	inEachWorld(t, func(w *world) {
		source := w.source(want)
		for i := range n {
			w.namespace(fmt.Sprint("n", i), w.team())
		}
		copyWritten := func(r *http.Request) bool {
			return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/secrets/"+source.Name)
		}
		killAfter := func(k int64) {
			w.start()
			var written atomic.Int64
			op := w.op
			op.handle(func(r *http.Request) *http.Response {
				if copyWritten(r) && written.Add(1) > k {
					op.kill()
					return answer(http.StatusServiceUnavailable)
				}
				return nil
			})
		}
		killAfter(n / 2)
		m := w.mirror(source)
		require.NoError(w, <-w.op.done)
		w.op = nil
		var copies corev1.SecretList
		require.NoError(w, w.List(w.ctx, &copies, client.MatchingLabels{LabelCopy: string(m.UID)}))
		assert.Len(w, copies.Items, n/2, "it was killed in the middle")

		w.start()
		w.ready(m, n)
		assert.Equal(w, n-n/2, w.op.count(func(s *sent) bool { return s.write() && strings.HasSuffix(s.path, "/secrets/"+source.Name) }), "what was there is not written again")
		w.stop()

		// And in the middle of going: nothing is left behind.
		w.start()
		op, deleted := w.op, atomic.Int64{}
		op.handle(func(r *http.Request) *http.Response {
			if r.Method == http.MethodDelete && deleted.Add(1) > n/2 {
				op.kill()
				return answer(http.StatusServiceUnavailable)
			}
			return nil
		})
		require.NoError(w, w.Delete(w.ctx, m))
		require.NoError(w, <-w.op.done)
		w.op = nil
		w.start()
		w.gone(m, "all copies are deleted")
		require.NoError(w, w.List(w.ctx, &copies, client.MatchingLabels{LabelCopy: string(m.UID)}))
		assert.Empty(w, copies.Items)
	})
}

func TestFlappingSource(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "start"})
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)
		var last map[string]string
		for i := range 15 {
			require.NoError(w, w.Delete(w.ctx, source))
			last = map[string]string{"user": fmt.Sprint("v", i)}
			source = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name}, StringData: last}
			require.NoError(w, w.Create(w.ctx, source))
		}
		w.secret(one, source.Name, last)
		w.ready(m, 1)
		w.quiet()
		w.secret(one, source.Name, last)
		assert.Empty(w, w.op.log.errors())
	})
}

// Each kind of write is refused as a conflict a few times, as any write may be.
func TestAPIConflictsAreRetriedQuietly(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	onEachRuntime(t, func(w *world) {
		source := w.source(want)
		one := w.namespace("one", w.team())
		conflicts := map[string]*atomic.Int64{}
		for _, end := range []string{"/mirrors/" + w.name("mirror"), "/secrets/" + source.Name, "/status"} {
			n := &atomic.Int64{}
			conflicts[end] = n
			w.op.refuse(func(r *http.Request) bool {
				return r.Method != http.MethodGet && strings.HasSuffix(r.URL.Path, end) && n.Add(1) <= 3
			}, http.StatusConflict)
		}
		m := w.mirror(source)
		w.secret(one, source.Name, want)
		w.ready(m, 1)
		for end, n := range conflicts {
			assert.GreaterOrEqual(w, n.Load(), int64(4), end)
			n.Store(0)
		}
		require.NoError(w, w.Delete(w.ctx, m))
		w.gone(m, "deletion meets conflicts, too")
		assert.Empty(w, w.op.log.errors())
	})
}

// B114: the Mirror vanishes between the clean-up and the removal of the finalizer.
func TestB114_MirrorVanishesBeforeItsFinalizerIsRemoved(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		m := w.mirror(w.source(map[string]string{"user": "a"}))
		w.ready(m, 0)
		key := client.ObjectKeyFromObject(m)
		w.op.handle(func(r *http.Request) *http.Response { // somebody is faster
			if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/mirrors/"+key.Name) {
				now := &v1alpha1.Mirror{}
				if assert.NoError(w, w.Get(w.ctx, key, now)) {
					now.Finalizers = nil
					assert.NoError(w, w.Update(w.ctx, now))
				}
			}
			return nil
		})
		require.NoError(w, w.Delete(w.ctx, m))
		w.gone(m, "somebody took the finalizer off")
		w.quiet()
		assert.Empty(w, w.op.log.errors(), "NotFound is what was wanted")
	})
}

// B108, B112: the operator's own writes, and what the server fills in, settle.
// B109, B110: a deletion is noticed behind the predicate on the generation, and
// nothing is written, or fails, once the finalizer is off.
func TestB108_B109_B110_B112_LifeOfAMirrorSettles(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "a"}) // without a type
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)
		w.quiet()
		assert.LessOrEqual(w, w.op.writes()-w.op.refused(0), 3, "finalizer, copy, status; it sent %s", w.op.since(0))
		version := w.secret(one, source.Name, map[string]string{"user": "a"}).ResourceVersion
		touched := w.op.writes()
		source.Annotations = map[string]string{"kubectl.kubernetes.io/x": "makes a pass"}
		require.NoError(w, w.Update(w.ctx, source))
		w.quiet()
		assert.Equal(w, touched, w.op.writes(), "a pass over what is right writes nothing")
		assert.Equal(w, version, w.secret(one, source.Name, map[string]string{"user": "a"}).ResourceVersion)

		seen := w.op.count(func(*sent) bool { return true })
		require.NoError(w, w.Delete(w.ctx, m))
		w.gone(m, "the generation rises when a deletion begins")
		w.quiet()
		assert.Empty(w, w.op.log.errors())
		for _, line := range w.op.since(seen) {
			assert.NotContains(w, line, "/status", "the status of what is gone")
		}
	})
}

// An event tells of a change of state, and of nothing else.
func TestEventsTellOfChangesOnly(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "a"})
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)
		touch(map[string]string{"user": "b"})(w, m, source, client.ObjectKey{})
		w.secret(one, source.Name, map[string]string{"user": "b"})
		w.namespace("two", w.team())
		w.ready(m, 2)
		require.NoError(w, w.Delete(w.ctx, source))
		w.condition(m, v1alpha1.Ready, metav1.ConditionFalse, reasonSourceMissing)
		w.eventually("its events", func() error {
			var all eventsv1.EventList
			if err := w.List(w.ctx, &all); err != nil {
				return err
			}
			got := map[string]int{}
			for _, e := range all.Items {
				if e.Regarding.UID == m.UID {
					got[e.Type+" "+e.Reason]++
				}
			}
			if fmt.Sprint(got) != "map[Normal Synced:1 Warning SourceMissing:1]" {
				return fmt.Errorf("%v", got)
			}
			return nil
		})
	})
}

// One manager owns what the operator applies, by apply alone.
func TestOneFieldManager(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "a"})
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)
		touch(map[string]string{"user": "b"})(w, m, source, client.ObjectKey{})
		c := w.secret(one, source.Name, map[string]string{"user": "b"})
		require.Len(w, c.ManagedFields, 1)
		f := c.ManagedFields[0]
		assert.Equal(w, FieldManager+" Apply", f.Manager+" "+string(f.Operation))
		var fields map[string]map[string]any
		require.NoError(w, json.Unmarshal(f.FieldsV1.Raw, &fields))
		assert.NotContains(w, fields["f:metadata"], "f:deletionGracePeriodSeconds", "the mark of creation is not kept")
		for _, f := range m.ManagedFields {
			if f.Subresource == "status" {
				assert.Equal(w, FieldManager+" Apply", f.Manager+" "+string(f.Operation))
			}
		}
	})
}

func TestSourceMovedOntoOneOfItsCopies(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	onEachRuntime(t, func(w *world) {
		source := w.source(want)
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)
		m.Spec.Source.Namespace = one
		require.NoError(w, w.Update(w.ctx, m))
		c := w.condition(m, v1alpha1.SourceAvailable, metav1.ConditionFalse, reasonSourceIsCopy)
		assert.Contains(w, c.Message, "name the original, "+source.Namespace+"/"+source.Name)
		w.secret(one, source.Name, want) // reported, not deleted
	})
}

// What a copy carries, and what not.
func TestCopiesCarryNoToolsMarks(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "a"})
		source.Labels = map[string]string{"tier": "gold", "app.kubernetes.io/managed-by": "Helm", "argocd.argoproj.io/instance": "x"}
		source.Annotations = map[string]string{"note": "n", "kubectl.kubernetes.io/last-applied-configuration": "{}", "meta.helm.sh/release-name": "x"}
		require.NoError(w, w.Update(w.ctx, source))
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)
		c := w.secret(one, source.Name, map[string]string{"user": "a"})
		assert.Equal(w, map[string]string{"tier": "gold", LabelCopy: string(m.UID)}, c.Labels)
		assert.Equal(w, "n", c.Annotations["note"])
		assert.Len(w, c.Annotations, 3, "%v", c.Annotations)
	})
}
