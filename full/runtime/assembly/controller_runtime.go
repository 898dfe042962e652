package assembly

import (
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
)

// ControllerRuntime are controller-runtime's layers on client-go's informers, as they come: what the
// same operator stands on without this project.
var ControllerRuntime = Layers{
	NewManager:    manager.New,
	NewCache:      cache.New,
	Informer:      ClientGoInformer,
	NewKind:       source.TypedKind[client.Object, reconcile.Request],
	Workqueue:     ControllerRuntimePriorityQueue,
	NewController: controller.NewTyped[reconcile.Request],
	Build:         builder.ControllerRuntime[reconcile.Request],
}
