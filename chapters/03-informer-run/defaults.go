package informer

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// withDefaults fills in the parts that the caller left to this package.
func (o Options) withDefaults() Options {
	if o.NewQueue == nil {
		o.NewQueue = newClientGoQueue
	}
	if o.NewReflector == nil {
		o.NewReflector = NewClientGoReflector
	}
	if o.NewIndexer == nil {
		o.NewIndexer = func(key cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
			return cache.NewIndexer(key, indexers)
		}
	}
	if o.HandleDeltas == nil {
		o.HandleDeltas = NaiveHandleDeltas
	}
	if o.NewProcessor == nil {
		o.NewProcessor = NewNaiveProcessor
	}
	return o
}

// newClientGoQueue makes the queue of the article. EmitDeltaTypeReplaced keeps
// what a relist brings apart from a resync.
func newClientGoQueue(known cache.KeyListerGetter) cache.Queue {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true})
}

// describe names the type an informer is for: in an unstructured object it is
// the kind that tells, not the Go type.
func describe(obj runtime.Object, description string) string {
	name := fmt.Sprintf("%T", obj)
	if u, ok := obj.(*unstructured.Unstructured); ok && !u.GroupVersionKind().Empty() {
		name = u.GroupVersionKind().String()
	}
	return "SharedIndexInformer " + cmp.Or(description, name)
}
