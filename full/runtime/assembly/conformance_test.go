package assembly_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run/informertest"
	. "github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
)

// queues are the layers that differ in the queue of deltas only; the rest is ours.
var queues = map[string]Layers{
	"our DeltaFIFO":              {},
	"our in-order queue":         {Queue: OurInOrder},
	"our in-order queue, atomic": {Queue: OurAtomicInOrder},
	"client-go's DeltaFIFO":      {Queue: ClientGoDeltaFIFO},
	"RealFIFO":                   {Queue: ClientGoRealFIFO},
	"RealFIFO, atomic":           {Queue: ClientGoAtomicRealFIFO},
}

func TestInformerOfAllOurLayers(t *testing.T) {
	for name, layers := range queues {
		t.Run(name, func(t *testing.T) {
			informertest.Run(t, NewInformer(layers), informertest.Capabilities{InOrder: layers.Queue.InOrder})
		})
	}
}

func TestClientGoInformer(t *testing.T) {
	informertest.Run(t, NewInformer(Layers{Informer: ClientGoInformer}), informertest.ClientGo)
}

func TestCacheOfAllOurLayers(t *testing.T) {
	for name, layers := range map[string]Layers{
		"our DeltaFIFO":                           {},
		"our in-order queue, atomic":              {Queue: OurAtomicInOrder},
		"controller-runtime's map, our informers": {NewCache: cache.New},
		"our map, client-go's informers":          {Informer: ClientGoInformer},
	} {
		t.Run(name, func(t *testing.T) { cachetest.Run(t, NewCache(layers)) })
	}
}
