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
	return builder.ControllerManagedBy(m).WithNewKind(l.NewKind).WithNewController(NewController(l))
}

// NewController returns what makes controllers on the chosen workqueue. Options that ask for another
// queue win: NewQueue, or UsePriorityQueue of controller or manager.
func NewController(l Layers) builder.NewController[reconcile.Request] {
	l = l.WithDefaults()
	return func(name string, m manager.Manager, o controller.Options) (controller.Controller, error) {
		byPriority := o.UsePriorityQueue
		if byPriority == nil && m != nil {
			byPriority = m.GetControllerOptions().UsePriorityQueue
		}
		if o.NewQueue == nil && (byPriority == nil || *byPriority == l.Workqueue.ByPriority) {
			o.NewQueue = l.Workqueue.New
			o.UsePriorityQueue = &l.Workqueue.ByPriority
		}
		return l.NewController(name, m, o)
	}
}
