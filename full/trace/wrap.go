package trace

import (
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
)

// Wrap returns the same layers, which now tell t what passes them. Of client-go's
// informer, which is one piece, the inner layers stay silent.
func Wrap(l assembly.Layers, t *Tracer) assembly.Layers {
	l = l.WithDefaults()
	newReflector, handleDeltas, newKind, newController := l.NewReflector, l.HandleDeltas, l.NewKind, l.NewController

	l.NewReflector = func(lw toolscache.ListerWatcher, example runtime.Object, store toolscache.ReflectorStore, o informer.ReflectorOptions) informer.Reflector {
		return newReflector(newListWatch(lw, t), example, &reflectorStore{store, t}, o)
	}
	l.HandleDeltas = func(h toolscache.ResourceEventHandler, s toolscache.Store, deltas []toolscache.Delta, isInInitialList bool) error {
		for _, d := range deltas {
			t.delta(d)
		}
		return handleDeltas(&processor{h, t}, newStore(s, t), deltas, isInInitialList)
	}
	l.NewKind = func(c cache.Cache, obj client.Object, h handler.TypedEventHandler[client.Object, reconcile.Request], p ...predicate.Predicate) source.TypedSyncingSource[reconcile.Request] {
		return newKind(c, obj, Handler(h, t), p...)
	}
	l.NewController = func(name string, m manager.Manager, o controller.Options) (controller.Controller, error) {
		return newController(name, m, wrapController(o, m, t))
	}
	l.Build = nil // controller-runtime's builder asks neither of the two; ours does, and makes the same
	return l
}
