package cluster

import (
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	informermap "github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap"
	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

// NewCache is the cache of a cluster that is not given another one: chapter 1's, over informers of which
// every part is ours.
func NewCache(config *rest.Config, o cache.Options) (cache.Cache, error) {
	if o.NewInformer == nil {
		o.NewInformer = parts.Informer(informer.Options{})
	}
	return informermap.New(config, o)
}
