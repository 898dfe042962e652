package builder

import (
	"errors"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	ours "github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/controller"
)

// Builder builds a controller whose requests are reconcile.Requests.
type Builder = TypedBuilder[reconcile.Request]

// NewController makes the controller. controller.NewTyped of chapter 6 and of
// controller-runtime have this signature.
type NewController[request comparable] func(name string, mgr manager.Manager, options controller.TypedOptions[request]) (controller.TypedController[request], error)

// TypedBuilder builds a controller. It stands for controller-runtime's
// builder.TypedBuilder. It is for one goroutine and one Build.
type TypedBuilder[request comparable] struct {
	mgr           manager.Manager
	name          string
	options       controller.TypedOptions[request]
	newController NewController[request]
	newKind       NewKind[request]   // nil is chapter 2's
	build         BuildFunc[request] // nil: DoWatch and newController

	forInput ForInput
	owns     []OwnsInput
	watches  []WatchesInput[request]
	raw      []source.TypedSource[request]
	global   []predicate.Predicate

	err error // the first mistake that a method can't return
}

// ControllerManagedBy begins a controller that m will start.
func ControllerManagedBy(m manager.Manager) *Builder {
	return TypedControllerManagedBy[reconcile.Request](m)
}

// TypedControllerManagedBy is ControllerManagedBy for any type of request. For
// and Owns enqueue reconcile.Requests, so other types use Watches.
func TypedControllerManagedBy[request comparable](m manager.Manager) *TypedBuilder[request] {
	return &TypedBuilder[request]{mgr: m, newController: ours.NewTyped[request]}
}

// For names the kind that is reconciled: its events enqueue the object itself.
// It also names the controller, unless Named does.
func (b *TypedBuilder[request]) For(object client.Object, opts ...ForOption) *TypedBuilder[request] {
	if b.forInput.Object != nil {
		b.err = errors.New("For(...) should only be called once, could not assign multiple objects for reconciliation")
		return b
	}
	b.forInput = ForInput{Object: object}
	for _, opt := range opts {
		opt.ApplyToFor(&b.forInput)
	}
	return b
}

// Owns names a kind whose objects the For object owns: its events enqueue the
// controlling owner, or every owner with MatchEveryOwner.
func (b *TypedBuilder[request]) Owns(object client.Object, opts ...OwnsOption) *TypedBuilder[request] {
	input := OwnsInput{ForInput: ForInput{Object: object}}
	for _, opt := range opts {
		opt.ApplyToOwns(&input)
	}
	b.owns = append(b.owns, input)
	return b
}

// Watches names a kind whose events h turns into requests.
func (b *TypedBuilder[request]) Watches(object client.Object, h handler.TypedEventHandler[client.Object, request], opts ...WatchesOption) *TypedBuilder[request] {
	input := WatchesInput[request]{ForInput: ForInput{Object: object}, Handler: h}
	for _, opt := range opts {
		opt.ApplyToWatches(&input.ForInput)
	}
	b.watches = append(b.watches, input)
	return b
}

// WatchesMetadata is Watches with OnlyMetadata.
func (b *TypedBuilder[request]) WatchesMetadata(object client.Object, h handler.TypedEventHandler[client.Object, request], opts ...WatchesOption) *TypedBuilder[request] {
	b.Watches(object, h, opts...)
	OnlyMetadata.ApplyToWatches(&b.watches[len(b.watches)-1].ForInput)
	return b
}

// WatchesRawSource adds a source as it is; WithEventFilter does not reach it.
func (b *TypedBuilder[request]) WatchesRawSource(src source.TypedSource[request]) *TypedBuilder[request] {
	b.raw = append(b.raw, src)
	return b
}

// WithEventFilter adds a predicate for all kinds, before each kind's own.
func (b *TypedBuilder[request]) WithEventFilter(p predicate.Predicate) *TypedBuilder[request] {
	b.global = append(b.global, p)
	return b
}

// WithOptions sets the controller's options, all of them.
func (b *TypedBuilder[request]) WithOptions(options controller.TypedOptions[request]) *TypedBuilder[request] {
	b.options = options
	return b
}

// WithLogConstructor sets what makes the logger of a request; it gets nil
// outside of a reconciliation.
func (b *TypedBuilder[request]) WithLogConstructor(logConstructor func(*request) logr.Logger) *TypedBuilder[request] {
	b.options.LogConstructor = logConstructor
	return b
}

// WithNewController sets what makes the controller.
func (b *TypedBuilder[request]) WithNewController(newController NewController[request]) *TypedBuilder[request] {
	b.newController = newController
	return b
}

// WithNewKind sets what makes the sources of For, Owns and Watches.
func (b *TypedBuilder[request]) WithNewKind(newKind NewKind[request]) *TypedBuilder[request] {
	b.newKind = newKind
	return b
}

// Named names the controller, in logs and metrics; the name must be unique in
// the process. The default is For's kind in lower case.
func (b *TypedBuilder[request]) Named(name string) *TypedBuilder[request] {
	b.name = name
	return b
}

// Complete builds the controller and adds it to the manager.
func (b *TypedBuilder[request]) Complete(r reconcile.TypedReconciler[request]) error {
	_, err := b.Build(r)
	return err
}
