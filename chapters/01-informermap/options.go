package informermap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// plan is cache.Options with every default filled in: what each kind gets.
type plan struct {
	byGVK  map[schema.GroupVersionKind]kindPlan
	others kindPlan // of all kinds without an entry
}

// kindPlan has a config per namespace, or, without namespaces, one for all.
type kindPlan struct {
	namespaces map[string]cache.Config
	config     cache.Config
}

// withClients fills in what it takes to talk to the API server.
func withClients(config *rest.Config, opts cache.Options) (cache.Options, error) {
	var err error
	if opts.HTTPClient == nil {
		if opts.HTTPClient, err = rest.HTTPClientFor(config); err != nil {
			return opts, fmt.Errorf("could not create HTTP client from config: %w", err)
		}
	}
	if opts.Scheme == nil {
		opts.Scheme = scheme.Scheme
	}
	if opts.Mapper == nil {
		if opts.Mapper, err = apiutil.NewDynamicRESTMapper(config, opts.HTTPClient); err != nil {
			return opts, fmt.Errorf("could not create RESTMapper from config: %w", err)
		}
	}
	return opts, nil
}

// planFor works out every config, and refuses those that contradict themselves.
// The caller's maps are left alone.
func planFor(opts cache.Options) (plan, error) {
	defaults := cache.Config{
		LabelSelector:         opts.DefaultLabelSelector,
		FieldSelector:         opts.DefaultFieldSelector,
		Transform:             opts.DefaultTransform,
		UnsafeDisableDeepCopy: opts.DefaultUnsafeDisableDeepCopy,
		EnableWatchBookmarks:  opts.DefaultEnableWatchBookmarks,
		SyncPeriod:            opts.SyncPeriod,
	}
	p := plan{
		byGVK:  map[schema.GroupVersionKind]kindPlan{},
		others: kindPlan{config: defaults, namespaces: overAll(opts.DefaultNamespaces, defaults)},
	}
	if err := p.others.check("Default"); err != nil {
		return p, err
	}
	for obj, byObject := range opts.ByObject {
		gvk, k, err := planForObject(opts, defaults, obj, byObject)
		if err != nil {
			return p, fmt.Errorf("cache.Options.ByObject[%T]: %w", obj, err)
		}
		if _, twice := p.byGVK[gvk]; twice {
			return p, fmt.Errorf("cache.Options.ByObject has two entries for %s: an entry is for all representations of a kind, so merge them", gvk)
		}
		p.byGVK[gvk] = k
	}
	return p, nil
}

func planForObject(opts cache.Options, defaults cache.Config, obj client.Object, byObject cache.ByObject) (schema.GroupVersionKind, kindPlan, error) {
	gvk, err := kindOf(obj, opts.Scheme)
	if err != nil {
		return gvk, kindPlan{}, err
	}
	namespaced, err := apiutil.IsGVKNamespaced(gvk, opts.Mapper)
	if err != nil {
		return gvk, kindPlan{}, fmt.Errorf("failed to determine if %s is namespaced (if it is a CRD: install it first): %w", gvk, err)
	}
	if !namespaced && byObject.Namespaces != nil {
		return gvk, kindPlan{}, fmt.Errorf("type %T is not namespaced, but its ByObject.Namespaces setting is not nil", obj)
	}
	own := cache.Config{
		LabelSelector:         byObject.Label,
		FieldSelector:         byObject.Field,
		Transform:             byObject.Transform,
		UnsafeDisableDeepCopy: byObject.UnsafeDisableDeepCopy,
		EnableWatchBookmarks:  byObject.EnableWatchBookmarks,
		SyncPeriod:            byObject.SyncPeriod,
	}
	k := kindPlan{config: over(own, defaults)}
	if namespaced {
		namespaces := byObject.Namespaces
		if namespaces == nil { // An empty map is not nil: it asks for all namespaces.
			namespaces = opts.DefaultNamespaces
		}
		configs := map[string]cache.Config{}
		for namespace, c := range namespaces {
			configs[namespace] = over(over(c, own), opts.DefaultNamespaces[namespace])
		}
		k.namespaces = overAll(configs, defaults)
	}
	return gvk, k, k.check("")
}

// overAll puts each namespace's config over the defaults. The entry for all
// namespaces gets a selector that leaves out those with an entry of their own.
func overAll(namespaces map[string]cache.Config, defaults cache.Config) map[string]cache.Config {
	filled := map[string]cache.Config{}
	for namespace, c := range namespaces {
		filled[namespace] = over(c, defaults)
	}
	if c, ok := filled[cache.AllNamespaces]; ok {
		var terms []fields.Selector
		for _, namespace := range slices.Sorted(maps.Keys(filled)) {
			if namespace != cache.AllNamespaces {
				terms = append(terms, fields.OneTermNotEqualSelector(namespaceField, namespace))
			}
		}
		if c.FieldSelector != nil {
			terms = append(terms, c.FieldSelector)
		}
		c.FieldSelector = fields.AndSelectors(terms...)
		filled[cache.AllNamespaces] = c
	}
	return filled
}

// over fills what is unset in c from defaults.
func over(c, defaults cache.Config) cache.Config {
	if c.LabelSelector == nil {
		c.LabelSelector = defaults.LabelSelector
	}
	if c.FieldSelector == nil {
		c.FieldSelector = defaults.FieldSelector
	}
	if c.Transform == nil {
		c.Transform = defaults.Transform
	}
	if c.UnsafeDisableDeepCopy == nil {
		c.UnsafeDisableDeepCopy = defaults.UnsafeDisableDeepCopy
	}
	if c.EnableWatchBookmarks == nil {
		c.EnableWatchBookmarks = defaults.EnableWatchBookmarks
	}
	if c.SyncPeriod == nil {
		c.SyncPeriod = defaults.SyncPeriod
	}
	return c
}

func (k kindPlan) check(prefix string) error {
	if len(k.namespaces) == 0 {
		return check(prefix, metav1.NamespaceAll, k.config)
	}
	for _, namespace := range slices.Sorted(maps.Keys(k.namespaces)) {
		if err := check(fmt.Sprintf("%sNamespaces[%q].", prefix, namespace), namespace, k.namespaces[namespace]); err != nil {
			return err
		}
	}
	return nil
}

// check refuses configs under which a cache would hold something else than what
// they say.
func check(where, namespace string, c cache.Config) error {
	// A selector for nothing is written like one for everything: empty.
	if s := c.LabelSelector; s != nil && !s.Empty() && s.String() == "" {
		return fmt.Errorf("%sLabelSelector selects nothing, which can't be cached: use ReaderFailOnMissingInformer or leave the kind out", where)
	}
	if s := c.FieldSelector; s != nil && !s.Empty() && s.String() == "" {
		return fmt.Errorf("%sFieldSelector selects nothing, which can't be cached: use ReaderFailOnMissingInformer or leave the kind out", where)
	}
	if c.FieldSelector != nil && namespace != metav1.NamespaceAll {
		if other, ok := c.FieldSelector.RequiresExactMatch(namespaceField); ok && other != namespace {
			return fmt.Errorf("%sFieldSelector %q contradicts the namespace %q: nothing would be cached", where, c.FieldSelector, namespace)
		}
	}
	if c.SyncPeriod != nil && *c.SyncPeriod < 0 {
		return fmt.Errorf("%sSyncPeriod is %s: it must be positive, or zero for no resync", strings.TrimSuffix(where, "Default"), *c.SyncPeriod)
	}
	return nil
}
