package informermap

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

func TestRandomListsGiveTheSameAsUpstream(t *testing.T) {
	for name, edit := range map[string]func(*cache.Options){
		"plain": nil, "namespaces": inTwoNamespaces,
		"other namespaces": func(o *cache.Options) {
			o.DefaultNamespaces = map[string]cache.Config{"a": {}, cache.AllNamespaces: {}}
		},
		"by object": func(o *cache.Options) {
			o.ByObject = map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: labels.SelectorFromSet(labels.Set{"x": "1"})}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := cachetest.NewAPIServer()
			for n := range 40 {
				p := pod(string(rune('a'+n%3)), fmt.Sprint(n))
				p.Labels = map[string]string{"x": fmt.Sprint(n % 2), "y": fmt.Sprint(n % 5)}
				api.Put(p)
			}
			caches := map[string]cache.Cache{}
			for name, newCache := range both {
				c := newOn(t, newCache, api, edit)
				start(t, c)
				for _, field := range []string{"x", "y"} {
					require.NoError(t, c.IndexField(within(t, patience), &corev1.Pod{}, field, func(obj client.Object) []string {
						return []string{obj.GetLabels()[field], "any"}
					}))
				}
				caches[name] = c
			}
			rapid.Check(t, func(rt *rapid.T) {
				opts := &client.ListOptions{
					Namespace: rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(rt, "namespace"),
					LabelSelector: rapid.SampledFrom([]labels.Selector{nil, nil, labels.Everything(), labels.Nothing(),
						labels.SelectorFromSet(labels.Set{"x": "1"}), labels.SelectorFromSet(labels.Set{"y": "2"})}).Draw(rt, "label"),
					FieldSelector: rapid.SampledFrom([]fields.Selector{nil, nil, fields.Everything(), fields.Nothing(), fields.ParseSelectorOrDie("x=1"),
						fields.ParseSelectorOrDie("x=any,y=3"), fields.ParseSelectorOrDie("y==2,x==0"), fields.ParseSelectorOrDie("x!=1"), fields.ParseSelectorOrDie("x=1,none=2")}).Draw(rt, "field"),
					Limit:                 rapid.SampledFrom([]int64{0, 0, -1, 1, 7, 100}).Draw(rt, "limit"),
					Continue:              rapid.SampledFrom([]string{"", "", "", "token"}).Draw(rt, "continue"),
					UnsafeDisableDeepCopy: rapid.SampledFrom([]*bool{nil, ptr.To(false), ptr.To(true)}).Draw(rt, "unsafe"),
				}
				want, wantErr := podsListed(t, caches["controller-runtime"], opts)
				got, gotErr := podsListed(t, caches["informermap"], opts)
				require.Equal(rt, wantErr == nil, gotErr == nil, "%v / %v", wantErr, gotErr)
				require.Len(rt, got, len(want))
				if opts.Limit <= 0 {
					require.Equal(rt, want, got)
				}
			})
		})
	}
}

// podsListed are name, labels and kind of what a list holds.
func podsListed(t *testing.T, c cache.Cache, opts *client.ListOptions) ([]string, error) {
	var pods corev1.PodList
	err := c.List(within(t, patience), &pods, opts)
	var found []string
	for _, p := range pods.Items {
		found = append(found, fmt.Sprint(p.Namespace, "/", p.Name, p.Labels, p.Kind))
	}
	slices.Sort(found)
	return append(found, pods.Continue), err
}
