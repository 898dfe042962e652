package controller

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// `kubectl get mirrors`, and -o wide.
func TestColumns(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(nil)
		w.namespace("one", w.team())
		m := w.mirror(source)
		w.ready(m, 1)

		answer, err := discovery.NewDiscoveryClientForConfigOrDie(w.cfg).RESTClient().Get().
			AbsPath("/apis/"+v1alpha1.GroupVersion.String()+"/mirrors/"+m.Name).
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(w.ctx)
		require.NoError(w, err)
		var table metav1.Table
		require.NoError(w, json.Unmarshal(answer, &table))
		require.Len(w, table.Rows, 1)
		type column struct {
			name string
			wide bool
			cell any
		}
		var got []column
		for i, c := range table.ColumnDefinitions {
			got = append(got, column{c.Name, c.Priority > 0, table.Rows[0].Cells[i]})
		}
		require.Len(w, got, 9)
		assert.Equal(w, []column{
			{"Name", false, m.Name},
			{"Kind", false, "Secret"}, {"Source", false, source.Name}, {"From", false, source.Namespace},
			{"Synced", false, 1.0}, {"Desired", false, 1.0}, {"Ready", false, "True"}, {"Reason", true, reasonSynced},
		}, got[:8])
		assert.Equal(w, "Age", got[8].name)
		assert.Regexp(w, `^\d+s$`, got[8].cell)
	})
}

// `kubectl get mir` and `kubectl get walkthrough` find Mirrors.
func TestShortNameAndCategory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list, err := discovery.NewDiscoveryClientForConfigOrDie(w.cfg).ServerResourcesForGroupVersion(v1alpha1.GroupVersion.String())
	require.NoError(t, err)
	i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == "mirrors" })
	require.GreaterOrEqual(t, i, 0)
	mirrors := list.APIResources[i]
	assert.Equal(t, []string{"mir"}, mirrors.ShortNames)
	assert.Equal(t, []string{"walkthrough"}, mirrors.Categories)
	assert.False(t, mirrors.Namespaced, "a Mirror reaches across namespaces")
}

// `kubectl explain mirrors`, down to the last field, out of what the API server publishes.
func TestEveryFieldIsExplained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var published struct {
		Components struct{ Schemas map[string]apiType }
	}
	w.eventually("the API server publishes the schema", func() error {
		paths, err := discovery.NewDiscoveryClientForConfigOrDie(w.cfg).OpenAPIV3().Paths()
		if err != nil || paths["apis/"+v1alpha1.GroupVersion.String()] == nil {
			return assert.AnError
		}
		text, err := paths["apis/"+v1alpha1.GroupVersion.String()].Schema("application/json")
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &published)
	})
	group := strings.Split(v1alpha1.GroupVersion.Group, ".")
	slices.Reverse(group)
	mirror := published.Components.Schemas[strings.Join(group, ".")+"."+v1alpha1.GroupVersion.Version+".Mirror"]
	assert.Contains(t, mirror.Description, "can read its source", "who may create a Mirror has to know")
	told := mirror.explain(t, "mirror", nil)
	for _, field := range []string{
		"mirror.spec.source.kind", "mirror.spec.source.namespace", "mirror.spec.source.name",
		"mirror.spec.namespaceSelector.matchExpressions.values", "mirror.spec.conflictPolicy", "mirror.spec.deletionPolicy",
		"mirror.status.observedGeneration", "mirror.status.desired", "mirror.status.synced", "mirror.status.conflicts",
		"mirror.status.conditions.reason", "mirror.metadata",
	} {
		assert.Contains(t, told, field)
	}
}

// apiType is what kubectl explain reads of OpenAPI.
type apiType struct {
	Description string
	Properties  map[string]apiType
	Items       *apiType
}

// explain checks the text of every field below s, and appends their paths to told.
func (s apiType) explain(t *testing.T, path string, told []string) []string {
	t.Helper()
	for name, field := range s.Properties {
		at := path + "." + name
		assert.NotEmpty(t, strings.TrimSpace(field.Description), "%s has no text", at)
		told = field.explain(t, at, append(told, at))
	}
	if s.Items != nil {
		return s.Items.explain(t, path, told)
	}
	return told
}
