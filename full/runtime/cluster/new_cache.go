package cluster

import "sigs.k8s.io/controller-runtime/pkg/cache"

var NewCache cache.NewCacheFunc = cache.New
