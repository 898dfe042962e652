package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

func TestCopiesFollowTheirSource(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "a", "old": "x"})
		one, two := w.namespace("one", w.team()), w.namespace("two", w.team())
		other := w.namespace("other", nil)
		m := w.mirror(source)

		made := w.secret(one, source.Name, map[string]string{"user": "a", "old": "x"})
		w.secret(two, source.Name, map[string]string{"user": "a", "old": "x"})
		assert.True(w, metav1.IsControlledBy(made, m), "a copy is owned by its Mirror")
		assert.Equal(w, source.Namespace+"/"+source.Name, made.Annotations[AnnotationSource])
		w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
		assert.EqualValues(w, 2, m.Status.Desired)
		assert.EqualValues(w, 2, m.Status.Synced)
		err := w.Get(w.ctx, client.ObjectKey{Namespace: other, Name: source.Name}, &corev1.Secret{})
		assert.True(w, apierrors.IsNotFound(err), "a namespace that does not match gets no copy: %v", err)

		source.Data = map[string][]byte{"user": []byte("b")}
		source.Labels = map[string]string{"tier": "gold"}
		require.NoError(w, w.Update(w.ctx, source))
		made = w.secret(one, source.Name, map[string]string{"user": "b"})
		w.secret(two, source.Name, map[string]string{"user": "b"})
		assert.Equal(w, "gold", made.Labels["tier"], "labels are copied")

		source.Labels = nil
		require.NoError(w, w.Update(w.ctx, source))
		w.eventually("a label that the source dropped is dropped", func() error {
			got := w.secret(one, source.Name, map[string]string{"user": "b"})
			if _, there := got.Labels["tier"]; there {
				return assert.AnError
			}
			return nil
		})

		require.NoError(w, w.Delete(w.ctx, m))
		w.gone(m, "the finalizer is taken off")
		w.gone(made, "its copies go with it")
		assert.NoError(w, w.Get(w.ctx, client.ObjectKeyFromObject(source), source), "the source stays")
	})
}

func TestConfigMapsAreMirroredToo(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace("platform", nil), Name: w.name("ca")},
			Data:       map[string]string{"ca.crt": "cert"}, BinaryData: map[string][]byte{"store": {0, 1}},
		}
		require.NoError(w, w.Create(w.ctx, source))
		one := w.namespace("one", w.team())
		m := w.mirror(source)
		w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
		got := &corev1.ConfigMap{}
		require.NoError(w, w.Get(w.ctx, client.ObjectKey{Namespace: one, Name: source.Name}, got))
		assert.Equal(w, source.Data, got.Data)
		assert.Equal(w, source.BinaryData, got.BinaryData)
	})
}

func TestDriftIsMended(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	for name, tt := range map[string]struct {
		reason string
		drift  func(w *world, c *corev1.Secret) error
	}{
		"data changed": {"a changed value is put back", func(w *world, c *corev1.Secret) error {
			c.Data["user"] = []byte("evil")
			return w.Update(w.ctx, c)
		}},
		"key added": {"server-side apply alone would leave a key that another manager added", func(w *world, c *corev1.Secret) error {
			c.Data["more"] = []byte("x")
			return w.Update(w.ctx, c)
		}},
		"deleted": {"a copy that was deleted is made again", func(w *world, c *corev1.Secret) error {
			return w.Delete(w.ctx, c)
		}},
		"label taken": {"a copy that leaves the cache by losing its label is still ours", func(w *world, c *corev1.Secret) error {
			delete(c.Labels, LabelCopy)
			return w.Update(w.ctx, c)
		}},
		"owner taken": {"a copy that lost its owner looks foreign; with Overwrite it is taken back", func(w *world, c *corev1.Secret) error {
			c.OwnerReferences = nil
			return w.Update(w.ctx, c)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachRuntime(t, func(w *world) {
				source := w.source(want)
				one := w.namespace("one", w.team())
				m := w.mirror(source, func(m *v1alpha1.Mirror) { m.Spec.ConflictPolicy = v1alpha1.Overwrite })
				w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
				c := w.secret(one, source.Name, want)
				require.NoError(w, tt.drift(w, c))
				w.eventually(tt.reason, func() error {
					got := &corev1.Secret{}
					if err := w.Get(w.ctx, client.ObjectKeyFromObject(c), got); err != nil {
						return err
					}
					if len(got.Data) != 1 || string(got.Data["user"]) != "a" || got.Labels[LabelCopy] != string(m.UID) || !metav1.IsControlledBy(got, m) {
						return assert.AnError
					}
					return nil
				})
			})
		})
	}
}

func TestNamespacesComeAndGo(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	onEachRuntime(t, func(w *world) {
		source := w.source(want)
		m := w.mirror(source)
		w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)

		w.secret(w.namespace("made-later", w.team()), source.Name, want)

		late := w.namespace("labelled-later", nil)
		ns := &corev1.Namespace{}
		require.NoError(w, w.Get(w.ctx, client.ObjectKey{Name: late}, ns))
		ns.Labels["team"] = w.suffix
		require.NoError(w, w.Update(w.ctx, ns))
		made := w.secret(late, source.Name, want)

		delete(ns.Labels, "team")
		require.NoError(w, w.Update(w.ctx, ns))
		w.gone(made, "the namespace stopped matching")

		going := w.namespace("going", w.team())
		w.secret(going, source.Name, want)
		require.NoError(w, w.Delete(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: going}}))
		w.eventually("a namespace on its way out is not counted", func() error {
			w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
			if m.Status.Desired != 1 {
				return assert.AnError
			}
			return nil
		})
	})
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	foreign := func(w *world, ns, name string) *corev1.Secret {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, StringData: map[string]string{"mine": "1"}}
		require.NoError(w, w.Create(w.ctx, s))
		return s
	}
	t.Run("Skip leaves it alone, and notices when it is removed by hand", func(t *testing.T) {
		t.Parallel()
		onEachRuntime(t, func(w *world) {
			source := w.source(want)
			one := w.namespace("one", w.team())
			w.namespace("two", w.team())
			theirs := foreign(w, one, source.Name)
			m := w.mirror(source)
			w.condition(m, v1alpha1.Conflicted, metav1.ConditionTrue, reasonConflicts)
			w.condition(m, v1alpha1.Ready, metav1.ConditionFalse, reasonConflicts)
			assert.Equal(w, []string{one}, m.Status.Conflicts)
			assert.EqualValues(w, 1, m.Status.Synced, "the other namespace is served")
			w.secret(one, source.Name, map[string]string{"mine": "1"})

			require.NoError(w, w.Delete(w.ctx, theirs))
			w.secret(one, source.Name, want)
			w.condition(m, v1alpha1.Conflicted, metav1.ConditionFalse, reasonNoConflicts)
			w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
		})
	})
	t.Run("Overwrite takes it over, another type and immutable data too", func(t *testing.T) {
		t.Parallel()
		onEachRuntime(t, func(w *world) {
			source := w.source(want)
			one, two := w.namespace("one", w.team()), w.namespace("two", w.team())
			foreign(w, one, source.Name)
			require.NoError(w, w.Create(w.ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: two, Name: source.Name},
				Type:       "example.com/other", Immutable: ptr.To(true), StringData: map[string]string{"user": "z"},
			}))
			m := w.mirror(source, func(m *v1alpha1.Mirror) { m.Spec.ConflictPolicy = v1alpha1.Overwrite })
			w.secret(one, source.Name, want)
			w.secret(two, source.Name, want)
			w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
		})
	})
	t.Run("of two Mirrors the older keeps the place, the other takes it when that goes", func(t *testing.T) {
		t.Parallel()
		onEachRuntime(t, func(w *world) {
			source := w.source(want)
			second := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace("platform-2", nil), Name: source.Name}, StringData: map[string]string{"user": "b"}}
			require.NoError(w, w.Create(w.ctx, second))
			one := w.namespace("one", w.team())
			older := w.mirror(source)
			w.condition(older, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
			younger := w.mirror(second, func(m *v1alpha1.Mirror) { m.Name += "-younger" })
			w.condition(younger, v1alpha1.Ready, metav1.ConditionFalse, reasonConflicts)
			w.secret(one, source.Name, want)
			require.NoError(w, w.Delete(w.ctx, older))
			w.secret(one, source.Name, map[string]string{"user": "b"})
			w.condition(younger, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
		})
	})
}

func TestSource(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	t.Run("deleted and made again", func(t *testing.T) {
		t.Parallel()
		onEachRuntime(t, func(w *world) {
			source := w.source(want)
			one := w.namespace("one", w.team())
			m := w.mirror(source)
			w.secret(one, source.Name, want)
			require.NoError(w, w.Delete(w.ctx, source))
			c := w.condition(m, v1alpha1.SourceAvailable, metav1.ConditionFalse, reasonSourceMissing)
			assert.Contains(w, c.Message, source.Namespace+"/"+source.Name)
			w.secret(one, source.Name, want) // a source that is gone takes nothing with it
			again := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name},
				Immutable: ptr.To(true), StringData: map[string]string{"user": "b"}}
			require.NoError(w, w.Create(w.ctx, again))
			w.secret(one, source.Name, map[string]string{"user": "b"})
			w.condition(m, v1alpha1.SourceAvailable, metav1.ConditionTrue, reasonFound)

			require.NoError(w, w.Delete(w.ctx, again))
			again = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name},
				Immutable: ptr.To(true), StringData: map[string]string{"user": "c"}}
			require.NoError(w, w.Create(w.ctx, again))
			w.secret(one, source.Name, map[string]string{"user": "c"}) // immutable, so made anew
		})
	})
	t.Run("in a namespace that is not there", func(t *testing.T) {
		t.Parallel()
		onEachRuntime(t, func(w *world) {
			m := w.mirror(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.name("nowhere"), Name: "x"}})
			c := w.condition(m, v1alpha1.Ready, metav1.ConditionFalse, reasonSourceMissing)
			assert.Contains(w, c.Message, w.name("nowhere")+"/x does not exist")
		})
	})
	t.Run("that is itself a copy", func(t *testing.T) {
		t.Parallel()
		onEachRuntime(t, func(w *world) {
			source := w.source(want)
			one := w.namespace("one", w.team())
			w.mirror(source)
			c := w.secret(one, source.Name, want)
			m := w.mirror(c, func(m *v1alpha1.Mirror) {
				m.Name += "-of-copy"
				m.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": "another"}
			})
			cond := w.condition(m, v1alpha1.SourceAvailable, metav1.ConditionFalse, reasonSourceIsCopy)
			assert.Contains(w, cond.Message, source.Namespace+"/"+source.Name, "the message names the original")
		})
	})
	t.Run("moved: the copies of the old name go", func(t *testing.T) {
		t.Parallel()
		onEachRuntime(t, func(w *world) {
			source := w.source(want)
			one := w.namespace("one", w.team())
			m := w.mirror(source)
			old := w.secret(one, source.Name, want)
			moved := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: w.name("moved")}, Data: map[string]string{"k": "v"}}
			require.NoError(w, w.Create(w.ctx, moved))
			w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
			m.Spec.Source.Kind, m.Spec.Source.Name = v1alpha1.ConfigMap, moved.Name
			require.NoError(w, w.Update(w.ctx, m))
			w.gone(old, "the spec names another source")
			w.eventually("the new source is copied", func() error {
				return w.Get(w.ctx, client.ObjectKey{Namespace: one, Name: moved.Name}, &corev1.ConfigMap{})
			})
		})
	})
}

func TestRetainLeavesCopiesToNobody(t *testing.T) {
	t.Parallel()
	want := map[string]string{"user": "a"}
	onEachRuntime(t, func(w *world) {
		source := w.source(want)
		one := w.namespace("one", w.team())
		m := w.mirror(source, func(m *v1alpha1.Mirror) { m.Spec.DeletionPolicy = v1alpha1.Retain })
		w.secret(one, source.Name, want)
		w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
		require.NoError(w, w.Delete(w.ctx, m))
		w.gone(m, "the finalizer is taken off")
		left := w.secret(one, source.Name, want)
		assert.Empty(w, left.OwnerReferences, "or the garbage collector would take it")
		assert.NotContains(w, left.Labels, LabelCopy)
	})
}

func TestAPIRefusesWhatCanNotWork(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		base := v1alpha1.MirrorSpec{
			Source:            v1alpha1.SourceReference{Kind: v1alpha1.Secret, Namespace: "a", Name: "b"},
			NamespaceSelector: metav1.LabelSelector{MatchLabels: w.team()},
		}
		for name, tt := range map[string]struct {
			edit func(*v1alpha1.MirrorSpec)
			want string
		}{
			"kind that can't be mirrored": {func(s *v1alpha1.MirrorSpec) { s.Source.Kind = "Pod" }, `supported values: "Secret", "ConfigMap"`},
			"empty selector":              {func(s *v1alpha1.MirrorSpec) { s.NamespaceSelector = metav1.LabelSelector{} }, "must not be empty; to mean every namespace"},
			"no source name":              {func(s *v1alpha1.MirrorSpec) { s.Source.Name = "" }, "spec.source.name"},
			"name with capitals":          {func(s *v1alpha1.MirrorSpec) { s.Source.Name = "Pull" }, "must be the name of a Secret or ConfigMap: lower case"},
			"namespace with a dot":        {func(s *v1alpha1.MirrorSpec) { s.Source.Namespace = "a.b" }, "must be the name of a namespace: lower case"},
			"unknown operator": {func(s *v1alpha1.MirrorSpec) {
				s.NamespaceSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Near"}}}
			}, "must be In, NotIn, Exists or DoesNotExist"},
			"In without values": {func(s *v1alpha1.MirrorSpec) {
				s.NamespaceSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "In"}}}
			}, "In and NotIn need values"},
			"unknown policy": {func(s *v1alpha1.MirrorSpec) { s.ConflictPolicy = "Fight" }, `supported values: "Skip", "Overwrite"`},
		} {
			m := &v1alpha1.Mirror{ObjectMeta: metav1.ObjectMeta{Name: w.name("bad"), Labels: w.mark()}, Spec: base}
			tt.edit(&m.Spec)
			err := w.Create(w.ctx, m)
			if assert.Error(w, err, name) {
				assert.Contains(w, err.Error(), tt.want, name)
			}
		}
		// What only the parser of selectors refuses is reported.
		m := &v1alpha1.Mirror{ObjectMeta: metav1.ObjectMeta{Name: w.name("bad-selector"), Labels: w.mark()}, Spec: base}
		m.Spec.NamespaceSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "not a key", Operator: "Exists"}}}
		require.NoError(w, w.Create(w.ctx, m))
		c := w.condition(m, v1alpha1.Ready, metav1.ConditionFalse, reasonInvalidSelector)
		assert.Contains(w, c.Message, "not a key")
	})
}

// The roles for people: an editor may write Mirrors, a viewer only look.
func TestRolesForPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for role, may := range map[string]bool{"mirror-editor": true, "mirror-viewer": false} {
		b := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: w.name(role)},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: role}},
		}
		require.NoError(t, w.Create(w.ctx, b))
		as := rest.CopyConfig(w.cfg)
		as.Impersonate = rest.ImpersonationConfig{UserName: role}
		c, err := client.New(as, client.Options{Scheme: w.Scheme(), Mapper: w.RESTMapper()})
		require.NoError(t, err)
		w.eventually(role+" may look", func() error { return c.List(w.ctx, &v1alpha1.MirrorList{}) })
		m := &v1alpha1.Mirror{ObjectMeta: metav1.ObjectMeta{Name: w.name("by-" + role), Labels: w.mark()}, Spec: v1alpha1.MirrorSpec{
			Source:            v1alpha1.SourceReference{Kind: v1alpha1.Secret, Namespace: "a", Name: "b"},
			NamespaceSelector: metav1.LabelSelector{MatchLabels: w.team()},
		}}
		err = c.Create(w.ctx, m)
		assert.Equal(t, !may, apierrors.IsForbidden(err), "%s: %v", role, err)
		assert.True(t, apierrors.IsForbidden(c.List(w.ctx, &corev1.SecretList{})), "%s may read no Secrets by itself", role)
	}
}
