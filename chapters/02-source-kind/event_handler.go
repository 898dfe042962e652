package source

import (
	"context"
	"fmt"
	"reflect"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

var bridgeLog = log.Log.WithName("source").WithName("EventHandler")

// eventHandler is the bridge between an informer and a workqueue: what the
// informer tells becomes a typed event, passes the predicates in their order,
// and reaches the handler, which decides what to enqueue. It stands for
// controller-runtime's internal source.EventHandler.
//
// It holds no state: an informer calls it from one goroutine, and a cache of
// several namespaces from one per namespace.
//
// The queue is handed on as it is. Handlers look at its type, and lower the
// priority of the initial list and of unchanged updates if it is a PriorityQueue.
type eventHandler[object any, request comparable] struct {
	ctx        context.Context // the source's life
	queue      workqueue.TypedRateLimitingInterface[request]
	handler    handler.TypedEventHandler[object, request]
	predicates []predicate.TypedPredicate[object]
}

var _ toolscache.ResourceEventHandler = &eventHandler[any, string]{}

// OnAdd is called for each object of the initial list and for each new one.
func (e *eventHandler[object, request]) OnAdd(obj any, isInInitialList bool) {
	o, ok := typed[object](obj, "OnAdd")
	if !ok {
		return
	}
	evt := event.TypedCreateEvent[object]{Object: o, IsInInitialList: isInInitialList}
	for _, p := range e.predicates {
		if !p.Create(evt) {
			return
		}
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	e.handler.Create(ctx, evt, e.queue)
}

// OnUpdate is called for each change, and for a resync with one object twice.
func (e *eventHandler[object, request]) OnUpdate(oldObj, newObj any) {
	o, ok := typed[object](oldObj, "OnUpdate")
	if !ok {
		return
	}
	n, ok := typed[object](newObj, "OnUpdate")
	if !ok {
		return
	}
	evt := event.TypedUpdateEvent[object]{ObjectOld: o, ObjectNew: n}
	for _, p := range e.predicates {
		if !p.Update(evt) {
			return
		}
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	e.handler.Update(ctx, evt, e.queue)
}

// OnDelete is called with the object, or with a tombstone if the deletion itself
// was missed: then the object is only the last one known, and the event says so.
func (e *eventHandler[object, request]) OnDelete(obj any) {
	tombstone, unknown := obj.(toolscache.DeletedFinalStateUnknown)
	if unknown {
		obj = tombstone.Obj
	}
	o, ok := typed[object](obj, "OnDelete")
	if !ok {
		return
	}
	evt := event.TypedDeleteEvent[object]{Object: o, DeleteStateUnknown: unknown}
	for _, p := range e.predicates {
		if !p.Delete(evt) {
			return
		}
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	e.handler.Delete(ctx, evt, e.queue)
}

// typed takes what the informer gave for an object. Anything else is dropped
// with a log line: a panic here would take the whole informer down.
func typed[object any](obj any, method string) (object, bool) {
	o, ok := obj.(object)
	if !ok || isNil(obj) {
		bridgeLog.Error(nil, method+" dropped an event whose object is nil or of another type",
			"got", fmt.Sprintf("%T", obj), "want", reflect.TypeFor[object]().String())
		return o, false
	}
	return o, true
}
