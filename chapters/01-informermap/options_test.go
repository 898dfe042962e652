package informermap

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

// informerSeen is what the options made of one informer.
type informerSeen struct {
	Path, Label, Field, Bookmarks, Transform string
	Resync                                   time.Duration
}

// seenInformer notes the transform that it is given. It is never run but always
// synced: upstream leaves a goroutine waiting for that, for each informer over
// several namespaces.
type seenInformer struct {
	toolscache.SharedIndexInformer
	transform toolscache.TransformFunc
}

func (s *seenInformer) SetTransform(f toolscache.TransformFunc) error {
	s.transform = f
	return s.SharedIndexInformer.SetTransform(f)
}

func (s *seenInformer) HasSyncedChecker() toolscache.DoneChecker { return synced{} }

type synced struct{}

func (synced) Name() string { return "synced" }
func (synced) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// informersFor makes a cache, asks for informers of three kinds, and returns
// what each of them would ask the API server for, by URL.
func informersFor(t require.TestingT, newCache cache.NewCacheFunc, opts cache.Options) []informerSeen {
	api := cachetest.NewAPIServer()
	access := api.Options()
	opts.HTTPClient, opts.Mapper, opts.Scheme = access.HTTPClient, access.Mapper, access.Scheme
	var informers []*seenInformer
	var seen []informerSeen
	opts.NewInformer = func(lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		w, err := lw.Watch(metav1.ListOptions{})
		require.NoError(t, err)
		w.Stop()
		_, err = lw.List(metav1.ListOptions{})
		require.NoError(t, err)
		requests := api.Requests()
		watched, listed := requests[len(requests)-2].Query(), requests[len(requests)-1].Query()
		for _, q := range []string{"labelSelector", "fieldSelector"} {
			require.Equal(t, watched.Get(q), listed.Get(q), "list and watch select the same")
		}
		seen = append(seen, informerSeen{
			Path: requests[len(requests)-1].Path, Label: listed.Get("labelSelector"), Field: listed.Get("fieldSelector"),
			Bookmarks: watched.Get("allowWatchBookmarks"), Resync: resync,
		})
		i := &seenInformer{SharedIndexInformer: toolscache.NewSharedIndexInformer(lw, obj, resync, indexers)}
		informers = append(informers, i)
		return i
	}
	c, err := newCache(api.Config(), opts)
	require.NoError(t, err)
	for _, obj := range []client.Object{&corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Node{}} {
		_, err := c.GetInformer(context.Background(), obj)
		require.NoError(t, err)
	}
	for n, i := range informers {
		if i.transform != nil {
			name, err := i.transform("")
			require.NoError(t, err)
			seen[n].Transform = name.(string)
		}
	}
	slices.SortFunc(seen, func(a, b informerSeen) int { return strings.Compare(a.Path, b.Path) })
	return seen
}

func transformNamed(name string) toolscache.TransformFunc {
	return func(any) (any, error) { return name, nil }
}

func label(value string) labels.Selector { return labels.SelectorFromSet(labels.Set{"from": value}) }

func TestOptionsGiveTheSameInformersAsUpstream(t *testing.T) {
	namespaced := func(c cache.Config) map[string]cache.Config { return map[string]cache.Config{"a": c} }
	for name, tc := range map[string]struct {
		reason string
		opts   cache.Options
	}{
		"nothing": {reason: "all namespaces, bookmarks, ten hours"},
		"defaults": {reason: "each default reaches every kind", opts: cache.Options{
			DefaultLabelSelector: label("default"), DefaultFieldSelector: fields.OneTermEqualSelector("metadata.name", "x"),
			DefaultTransform: transformNamed("default"), DefaultEnableWatchBookmarks: ptr.To(false), SyncPeriod: ptr.To(time.Minute)}},
		"namespace in a selector": {reason: "requests go to that namespace, rights elsewhere are not needed", opts: cache.Options{
			DefaultFieldSelector: fields.OneTermEqualSelector("metadata.namespace", "a")}},
		"object over default namespace": {reason: "an entry of its own begins from ByObject", opts: cache.Options{
			DefaultNamespaces: namespaced(cache.Config{LabelSelector: label("default-namespace"), Transform: transformNamed("default namespace")}),
			ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
				Namespaces: map[string]cache.Config{"a": {}}, Label: label("object")}}}},
		"default namespace over object": {reason: "without namespaces of its own a kind takes the default ones as they are", opts: cache.Options{
			DefaultNamespaces: namespaced(cache.Config{LabelSelector: label("default-namespace")}),
			ByObject:          map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: label("object"), Transform: transformNamed("object")}}}},
		"empty namespaces": {reason: "an empty map asks for all namespaces", opts: cache.Options{
			DefaultNamespaces: namespaced(cache.Config{LabelSelector: label("default-namespace")}),
			ByObject:          map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: map[string]cache.Config{}}}}},
		"all other namespaces": {reason: "the rest leaves out what has an entry", opts: cache.Options{
			DefaultFieldSelector: fields.OneTermEqualSelector("metadata.name", "x"),
			DefaultNamespaces:    map[string]cache.Config{"": {}, "b": {}, "a": {FieldSelector: fields.Everything()}}}},
	} {
		t.Run(name, func(t *testing.T) {
			want := informersFor(t, cache.New, tc.opts)
			require.NotEmpty(t, want)
			requireSame(t, want, informersFor(t, New, tc.opts), tc.reason)
		})
	}
}

// requireSame compares all but the jitter of the resync period.
func requireSame(t require.TestingT, want, got []informerSeen, reason string) {
	require.Len(t, got, len(want), reason)
	for n := range want {
		require.InEpsilon(t, want[n].Resync, got[n].Resync, 0.25, reason)
		got[n].Resync = want[n].Resync
	}
	require.Equal(t, want, got, reason)
}

func TestRandomOptionsGiveTheSameInformersAsUpstream(t *testing.T) {
	labelSelectors := rapid.SampledFrom([]labels.Selector{nil, nil, labels.Everything(), label("x"), label("y")})
	fieldSelectors := rapid.SampledFrom([]fields.Selector{nil, nil, fields.Everything(), fields.OneTermEqualSelector("metadata.name", "x"), fields.OneTermNotEqualSelector("metadata.namespace", "b")})
	bools := rapid.SampledFrom([]*bool{nil, nil, ptr.To(true), ptr.To(false)})
	periods := rapid.SampledFrom([]*time.Duration{nil, nil, ptr.To(time.Minute), ptr.To(24 * time.Hour)})
	transforms := rapid.SampledFrom([]string{"", "", "one", "two"})
	transform := func(rt *rapid.T) toolscache.TransformFunc {
		if name := transforms.Draw(rt, "transform"); name != "" {
			return transformNamed(name)
		}
		return nil
	}
	configs := rapid.Custom(func(rt *rapid.T) cache.Config {
		return cache.Config{
			LabelSelector: labelSelectors.Draw(rt, "label"), FieldSelector: fieldSelectors.Draw(rt, "field"), Transform: transform(rt),
			EnableWatchBookmarks: bools.Draw(rt, "bookmarks"), SyncPeriod: periods.Draw(rt, "period")}
	})
	namespaces := rapid.Custom(func(rt *rapid.T) map[string]cache.Config {
		if rapid.Bool().Draw(rt, "no namespaces") {
			return nil
		}
		return rapid.MapOf(rapid.SampledFrom([]string{"", "a", "b", "c"}), configs).Draw(rt, "namespaces")
	})
	rapid.Check(t, func(rt *rapid.T) {
		d := configs.Draw(rt, "defaults")
		opts := cache.Options{
			DefaultLabelSelector: d.LabelSelector, DefaultFieldSelector: d.FieldSelector, DefaultTransform: d.Transform,
			DefaultEnableWatchBookmarks: d.EnableWatchBookmarks, SyncPeriod: d.SyncPeriod,
			DefaultNamespaces: namespaces.Draw(rt, "default namespaces"), ByObject: map[client.Object]cache.ByObject{},
		}
		for _, obj := range []client.Object{&corev1.Pod{}, &corev1.Node{}} {
			if rapid.Bool().Draw(rt, "no entry") {
				continue
			}
			c := configs.Draw(rt, "by object")
			by := cache.ByObject{Label: c.LabelSelector, Field: c.FieldSelector, Transform: c.Transform, EnableWatchBookmarks: c.EnableWatchBookmarks, SyncPeriod: c.SyncPeriod}
			if _, ok := obj.(*corev1.Pod); ok {
				by.Namespaces = namespaces.Draw(rt, "namespaces of the object")
			}
			opts.ByObject[obj] = by
		}
		before := maps.Clone(opts.DefaultNamespaces)
		want := informersFor(rt, cache.New, opts)
		requireSame(rt, want, informersFor(rt, New, opts), "")
		require.Equal(rt, len(before), len(opts.DefaultNamespaces))
	})
}

func TestOptionsThatAreRefused(t *testing.T) {
	gone := func(o *cache.Options) { o.ByObject[nil] = cache.ByObject{} }
	for name, tc := range map[string]struct {
		reason string
		edit   func(*cache.Options)
		want   string
	}{
		"nil object": {"a map key can be nil", gone, "the object is nil"},
		"two entries for a kind": {"which one would hold is left to chance upstream", func(o *cache.Options) {
			o.ByObject[&corev1.Pod{}] = cache.ByObject{}
			o.ByObject[&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}] = cache.ByObject{}
		}, "two entries for /v1, Kind=Pod"},
		"unknown kind": {"its CRD may be missing", func(o *cache.Options) {
			o.ByObject[&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}}] = cache.ByObject{}
		}, `no matches for kind "Widget"`},
		"not in the scheme": {"a Go type needs a kind", func(o *cache.Options) {
			o.Scheme = runtime.NewScheme()
			o.ByObject[&corev1.Pod{}] = cache.ByObject{}
		}, "AddToScheme"},
		"label selector for nothing": {"it is written like one for everything", func(o *cache.Options) {
			o.ByObject[&corev1.Pod{}] = cache.ByObject{Label: labels.Nothing()}
		}, "ByObject[*v1.Pod]: LabelSelector selects nothing"},
		"field selector for nothing": {"it is written like one for everything", func(o *cache.Options) {
			o.DefaultFieldSelector = fields.Nothing()
		}, "DefaultFieldSelector selects nothing"},
		"selector for another namespace": {"nothing would be cached", func(o *cache.Options) {
			o.DefaultNamespaces = map[string]cache.Config{"a": {FieldSelector: fields.OneTermEqualSelector("metadata.namespace", "b")}}
		}, `DefaultNamespaces["a"].FieldSelector "metadata.namespace=b" contradicts the namespace "a"`},
		"negative period": {"there is no such thing", func(o *cache.Options) {
			o.SyncPeriod = ptr.To(-time.Second)
		}, "SyncPeriod is -1s"},
	} {
		t.Run(name, func(t *testing.T) {
			api := cachetest.NewAPIServer()
			opts := api.Options()
			opts.ByObject = map[client.Object]cache.ByObject{}
			tc.edit(&opts)
			_, err := New(api.Config(), opts)
			require.ErrorContains(t, err, tc.want, tc.reason)
			assert.NotContains(t, err.Error(), "\n", "one line")
		})
	}
	_, err := New(nil, cache.Options{})
	require.ErrorContains(t, err, "the rest.Config is nil")
	assert.Panics(t, func() { _, _ = cache.New(nil, cache.Options{}) }, "upstream")
}
