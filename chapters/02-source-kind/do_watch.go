package source

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// ForInput is a kind to watch: what a builder's For records, and the part that
// Owns and Watches share with it.
type ForInput struct {
	// Object is an empty object of the kind; nil in Inputs.For means no For.
	Object client.Object
	// Predicates come after the global ones.
	Predicates []predicate.Predicate
	// OnlyMetadata watches the kind as PartialObjectMetadata. It stands for
	// upstream's objectProjection.
	OnlyMetadata bool
}

// OwnsInput is a kind whose objects the For object owns.
type OwnsInput struct {
	ForInput
	// MatchEveryOwner enqueues every owner, not only the one that controls.
	MatchEveryOwner bool
}

// WatchesInput is a kind with a handler of the user's.
type WatchesInput[request comparable] struct {
	ForInput
	Handler handler.TypedEventHandler[client.Object, request]
}

// Inputs is all that DoWatch makes sources of.
type Inputs[request comparable] struct {
	Cache  cache.Cache
	Scheme *runtime.Scheme
	Mapper meta.RESTMapper

	For     ForInput
	Owns    []OwnsInput
	Watches []WatchesInput[request]
	// Raw sources are passed on as they are: global predicates don't reach them.
	Raw []source.TypedSource[request]
	// Predicates are global: they come first, for every kind.
	Predicates []predicate.Predicate

	// NewKind makes the source of a kind; nil is this chapter's TypedKind.
	NewKind NewKind[request]
}

// NewKind makes a source of the events of one kind. TypedKind of this chapter and
// of controller-runtime have this signature.
type NewKind[request comparable] func(cache.Cache, client.Object, handler.TypedEventHandler[client.Object, request], ...predicate.Predicate) source.TypedSyncingSource[request]

// DoWatch makes the sources of one controller, in the order For, Owns, Watches,
// Raw. It stands for the builder's doWatch, but only makes sources, so that a
// mistake in the last one leaves no controller behind that watches the first.
func DoWatch[request comparable](in Inputs[request]) ([]source.TypedSource[request], error) {
	if in.Cache == nil {
		return nil, errors.New("can't watch without a cache: pass the manager's GetCache()")
	}
	hasFor := in.For.Object != nil
	if !hasFor && len(in.Owns) > 0 {
		return nil, errors.New("Owns() can only be used together with For()")
	}
	if !hasFor && len(in.Watches) == 0 && len(in.Raw) == 0 {
		return nil, errors.New("there are no watches configured, the controller would never be triggered: use For(), Owns(), Watches() or WatchesRawSource()")
	}

	var sources []source.TypedSource[request]
	if hasFor {
		h, ok := any(&handler.EnqueueRequestForObject{}).(handler.TypedEventHandler[client.Object, request])
		if !ok {
			return nil, fmt.Errorf("For() can only be used with reconcile.Request, got %T", *new(request))
		}
		src, err := in.kind("For()", in.For, h)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	for _, own := range in.Owns {
		h, err := in.ownerHandler(own.MatchEveryOwner)
		if err != nil {
			return nil, err
		}
		src, err := in.kind("Owns()", own.ForInput, h)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	for _, w := range in.Watches {
		src, err := in.kind("Watches()", w.ForInput, w.Handler)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	for _, src := range in.Raw {
		if isNil(src) {
			return nil, errors.New("WatchesRawSource() needs a non-nil source")
		}
		sources = append(sources, src)
	}
	return sources, nil
}

// kind makes the source of one input. method is the builder's, for errors.
func (in *Inputs[request]) kind(method string, input ForInput, h handler.TypedEventHandler[client.Object, request]) (source.TypedSource[request], error) {
	if isNil(input.Object) {
		return nil, fmt.Errorf("%s needs a non-nil object, such as &corev1.Pod{}", method)
	}
	obj, err := in.project(input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	// A new slice: append could write into spare capacity of the global ones,
	// and the predicates of one kind would then filter another.
	predicates := slices.Concat(in.Predicates, input.Predicates)
	src := &kind[client.Object, request]{cache: in.Cache, obj: obj, handler: h, predicates: predicates}
	if err := src.validate(); err != nil {
		return nil, fmt.Errorf("%s of %T: %w", method, input.Object, err)
	}
	if in.NewKind != nil {
		return in.NewKind(in.Cache, obj, h, predicates...), nil
	}
	return src, nil
}

// project swaps the object for a metadata-only one of the same kind if asked to.
func (in *Inputs[request]) project(input ForInput) (client.Object, error) {
	if !input.OnlyMetadata {
		return input.Object, nil
	}
	gvk, err := apiutil.GVKForObject(input.Object, in.Scheme)
	if err != nil {
		return nil, fmt.Errorf("unable to determine GVK of %T for a metadata-only watch: %w", input.Object, err)
	}
	obj := &metav1.PartialObjectMetadata{}
	obj.SetGroupVersionKind(gvk)
	return obj, nil
}

// ownerHandler enqueues the owners that are of For's kind.
func (in *Inputs[request]) ownerHandler(matchEveryOwner bool) (handler.TypedEventHandler[client.Object, request], error) {
	gvk, err := apiutil.GVKForObject(in.For.Object, in.Scheme)
	if err != nil {
		return nil, fmt.Errorf("unable to determine GVK of owner %T: %w", in.For.Object, err)
	}
	// Upstream's handler panics for an owner that the scheme does not know, such
	// as PartialObjectMetadata. It only wants the kind, and gets it this way.
	owner := &unstructured.Unstructured{}
	owner.SetGroupVersionKind(gvk)
	var opts []handler.OwnerOption
	if !matchEveryOwner {
		opts = append(opts, handler.OnlyControllerOwner())
	}
	h := handler.EnqueueRequestForOwner(in.Scheme, in.Mapper, owner, opts...)
	// For() has made sure that request is reconcile.Request.
	return any(h).(handler.TypedEventHandler[client.Object, request]), nil
}
