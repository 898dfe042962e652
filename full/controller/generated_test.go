package controller

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/config/configtest"
)

// What `make generate` writes is what is checked in.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("go", "tool", "-modfile=tools/go.mod", "controller-gen",
		"object", "crd", "rbac:roleName="+configtest.ServiceAccount, "paths=./full/api/...;./full/controller/...",
		"output:object:dir="+dir, "output:crd:dir="+dir, "output:rbac:dir="+dir)
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for generated, kept := range map[string]string{
		"zz_generated.deepcopy.go":                    "../api/v1alpha1",
		v1alpha1.GroupVersion.Group + "_mirrors.yaml": "../config/crd",
		"role.yaml": "../config/rbac",
	} {
		want, err := os.ReadFile(filepath.Join(dir, generated))
		require.NoError(t, err)
		have, err := os.ReadFile(filepath.Join(kept, generated))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(have), "run make generate")
	}
}

// The samples do what their comments say.
func TestSamples(t *testing.T) {
	inEachWorldAlone(t, func(w *world) {
		w.start()
		files, err := filepath.Glob("../config/samples/*.yaml")
		require.NoError(w, err)
		require.NotEmpty(w, files)
		w.ensureNamespace("platform")
		one := w.namespace("one", map[string]string{"team": "true"})
		for _, file := range files {
			for _, u := range configtest.Apply(w, w.Client, file) {
				m := &v1alpha1.Mirror{}
				require.NoError(w, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, m), file)
				source := newObject(m.Spec.Source.Kind)
				source.SetNamespace(m.Spec.Source.Namespace)
				source.SetName(m.Spec.Source.Name)
				require.NoError(w, client.IgnoreAlreadyExists(w.Create(w.ctx, source)))
				w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
				copied := newObject(m.Spec.Source.Kind)
				require.NoError(w, w.Get(w.ctx, client.ObjectKey{Namespace: one, Name: source.GetName()}, copied), file)
			}
		}
		relabel(w, one, "")
	})
}

func (w *world) ensureNamespace(name string) {
	w.Helper()
	require.NoError(w, client.IgnoreAlreadyExists(w.Create(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})))
}
