package builder

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

// Build builds the controller, adds it to the manager and returns it.
func (b *TypedBuilder[request]) Build(r reconcile.TypedReconciler[request]) (controller.TypedController[request], error) {
	switch {
	case r == nil:
		return nil, errors.New("must provide a non-nil Reconciler")
	case b.mgr == nil:
		return nil, errors.New("must provide a non-nil Manager")
	case b.newController == nil:
		return nil, errors.New("must provide a non-nil function to WithNewController")
	case b.err != nil:
		return nil, b.err
	case b.options.Reconciler != nil:
		return nil, errors.New("reconciler was set via WithOptions() and via Build() or Complete()")
	}
	var gvk schema.GroupVersionKind
	if b.forInput.Object != nil {
		if v := reflect.ValueOf(b.forInput.Object); v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, fmt.Errorf("For() needs a non-nil object, got a nil %T", b.forInput.Object)
		}
		var err error
		if gvk, err = apiutil.GVKForObject(b.forInput.Object, b.mgr.GetScheme()); err != nil {
			return nil, fmt.Errorf("For(%T): %w", b.forInput.Object, err)
		}
	}
	name := b.name
	if name == "" {
		name = strings.ToLower(gvk.Kind)
	}
	if name == "" {
		return nil, errors.New("one of For() or Named() must be called")
	}
	said := Inputs[request]{
		Cache:      b.mgr.GetCache(),
		Scheme:     b.mgr.GetScheme(),
		Mapper:     b.mgr.GetRESTMapper(),
		For:        b.forInput,
		Owns:       b.owns,
		Watches:    b.watches,
		Raw:        b.raw,
		Predicates: b.global,
		NewKind:    b.newKind,
	}
	if b.build != nil {
		o := b.options
		o.Reconciler = r
		return b.build(name, b.mgr, said, o)
	}
	// Before the controller is made: making it adds it to the manager.
	sources, err := source.DoWatch(said)
	if err != nil {
		return nil, err
	}
	ctrl, err := b.newController(name, b.mgr, b.optionsFor(r, name, gvk))
	if err != nil {
		return nil, err
	}
	for _, src := range sources {
		if err := ctrl.Watch(src); err != nil {
			return nil, err
		}
	}
	return ctrl, nil
}

// optionsFor fills in what the user left open and the manager knows.
func (b *TypedBuilder[request]) optionsFor(r reconcile.TypedReconciler[request], name string, gvk schema.GroupVersionKind) controller.TypedOptions[request] {
	options, global := b.options, b.mgr.GetControllerOptions()
	options.Reconciler = r
	if options.MaxConcurrentReconciles == 0 && !gvk.Empty() {
		options.MaxConcurrentReconciles = max(0, global.GroupKindConcurrency[gvk.GroupKind().String()])
	}
	if options.CacheSyncTimeout == 0 && global.CacheSyncTimeout > 0 {
		options.CacheSyncTimeout = global.CacheSyncTimeout
	}
	if options.LogConstructor == nil {
		options.LogConstructor = logConstructor[request](b.mgr.GetLogger(), name, gvk)
	}
	return options
}

// logConstructor names the controller in each line and, where the type of
// request tells it, the object.
func logConstructor[request comparable](log logr.Logger, name string, gvk schema.GroupVersionKind) func(*request) logr.Logger {
	log = log.WithValues("controller", name)
	if !gvk.Empty() {
		log = log.WithValues("controllerGroup", gvk.Group, "controllerKind", gvk.Kind)
	}
	return func(in *request) logr.Logger {
		req, ok := any(in).(*reconcile.Request)
		if !ok || req == nil {
			return log
		}
		log := log
		if !gvk.Empty() {
			log = log.WithValues(gvk.Kind, klog.KRef(req.Namespace, req.Name))
		}
		return log.WithValues("namespace", req.Namespace, "name", req.Name)
	}
}
