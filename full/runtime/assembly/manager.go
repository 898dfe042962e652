package assembly

import (
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
)

// NewManager makes a manager whose cache stands on the chosen layers. A NewCache of the options wins.
func NewManager(config *rest.Config, o manager.Options, l Layers) (manager.Manager, error) {
	l = l.WithDefaults()
	if o.NewCache == nil {
		o.NewCache = NewCache(l)
	}
	return l.NewManager(config, o)
}

// ControllerManagedBy begins a controller of the chosen layers that m will start.
func ControllerManagedBy(m manager.Manager, l Layers) *builder.Builder {
	l = l.WithDefaults()
	b := builder.ControllerManagedBy(m).WithNewKind(l.NewKind).WithNewController(NewController(l))
	if l.Build != nil {
		b = b.WithBuild(func(name string, m manager.Manager, said builder.Inputs[reconcile.Request], o controller.Options) (controller.Controller, error) {
			return l.Build(name, m, said, l.Workqueue.choose(m, o))
		})
	}
	return b
}

// NewController returns what makes controllers on the chosen workqueue. Options that ask for another
// queue win: NewQueue, or UsePriorityQueue of controller or manager.
func NewController(l Layers) builder.NewController[reconcile.Request] {
	l = l.WithDefaults()
	return func(name string, m manager.Manager, o controller.Options) (controller.Controller, error) {
		return l.NewController(name, m, l.Workqueue.choose(m, o))
	}
}
