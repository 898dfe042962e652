package trace

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clientgo "k8s.io/client-go/util/workqueue"
)

// Handler tells t of what a Kind hands to h, and gives h a workqueue that knows
// which event it is called for. Wrap does this for every Kind that the builder
// makes; it is exported for raw sources.
func Handler[object client.Object](h handler.TypedEventHandler[object, reconcile.Request], t *Tracer) handler.TypedEventHandler[object, reconcile.Request] {
	return &eventHandler[object]{h, t}
}

type eventHandler[object client.Object] struct {
	inner  handler.TypedEventHandler[object, reconcile.Request]
	tracer *Tracer
}

type requestQueue = clientgo.TypedRateLimitingInterface[reconcile.Request]

func (h *eventHandler[object]) Create(ctx context.Context, e event.TypedCreateEvent[object], q requestQueue) {
	h.inner.Create(ctx, e, h.step("Create", e.Object, q))
}

func (h *eventHandler[object]) Update(ctx context.Context, e event.TypedUpdateEvent[object], q requestQueue) {
	h.inner.Update(ctx, e, h.step("Update", e.ObjectNew, q))
}

func (h *eventHandler[object]) Delete(ctx context.Context, e event.TypedDeleteEvent[object], q requestQueue) {
	h.inner.Delete(ctx, e, h.step("Delete", e.Object, q))
}

func (h *eventHandler[object]) Generic(ctx context.Context, e event.TypedGenericEvent[object], q requestQueue) {
	h.inner.Generic(ctx, e, h.step("Generic", e.Object, q))
}

func (h *eventHandler[object]) step(verb string, obj object, q requestQueue) requestQueue {
	id := identify(obj)
	h.tracer.step(Kind, verb, id, "")
	if traced, ok := q.(*workqueue); ok {
		return traced.because(id)
	}
	return q
}
