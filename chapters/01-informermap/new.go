package informermap

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// defaultSyncPeriod is long because a resync repairs nothing between cache and
// server; it only shows handlers again what they have seen.
const defaultSyncPeriod = 10 * time.Hour

// New makes a cache; it stands for controller-runtime's cache.New and fits
// manager.Options.NewCache. The cache is empty until it is started and asked.
//
// One InformersMap has one namespace and one selector, so the options decide how
// many there are: one per kind in ByObject and per namespace of that kind, and
// one (or one per default namespace) for all other kinds.
func New(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	if config == nil {
		return nil, errors.New("informermap.New: the rest.Config is nil: take one from ctrl.GetConfig, clientcmd or envtest")
	}
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	opts, err := withClients(config, opts)
	if err != nil {
		return nil, err
	}
	plan, err := planFor(opts)
	if err != nil {
		return nil, err
	}

	newCache := func(c cache.Config, namespace string) *informerCache {
		return &informerCache{
			InformersMap:                NewInformersMap(config, settingsFor(opts, c, namespace)),
			readerFailOnMissingInformer: opts.ReaderFailOnMissingInformer,
		}
	}
	inNamespaces := func(configs map[string]cache.Config, clusterScoped *informerCache) cache.Cache {
		byNamespace := map[string]*informerCache{}
		for namespace, c := range configs {
			byNamespace[namespace] = newCache(c, namespace)
		}
		return newMultiNamespaceCache(opts.Scheme, opts.Mapper, byNamespace, clusterScoped)
	}

	others := cache.Cache(newCache(plan.others.config, metav1.NamespaceAll))
	if len(plan.others.namespaces) > 0 {
		others = inNamespaces(plan.others.namespaces, newCache(plan.others.config, metav1.NamespaceAll))
	}
	if len(plan.byGVK) == 0 {
		return others, nil
	}
	byGVK := map[schema.GroupVersionKind]cache.Cache{}
	for gvk, k := range plan.byGVK {
		if len(k.namespaces) > 0 {
			byGVK[gvk] = inNamespaces(k.namespaces, nil)
		} else {
			byGVK[gvk] = newCache(k.config, metav1.NamespaceAll)
		}
	}
	return newDelegatingCache(opts.Scheme, byGVK, others), nil
}

func settingsFor(opts cache.Options, c cache.Config, namespace string) Settings {
	return Settings{
		HTTPClient:           opts.HTTPClient,
		Scheme:               opts.Scheme,
		Mapper:               opts.Mapper,
		Namespace:            namespace,
		Selector:             Selector{Label: c.LabelSelector, Field: c.FieldSelector},
		Resync:               ptr.Deref(c.SyncPeriod, defaultSyncPeriod),
		Transform:            c.Transform,
		DisableDeepCopy:      ptr.Deref(c.UnsafeDisableDeepCopy, false),
		EnableWatchBookmarks: ptr.Deref(c.EnableWatchBookmarks, true),
		WatchErrorHandler:    opts.DefaultWatchErrorHandler,
		NewInformer:          opts.NewInformer,
	}
}
