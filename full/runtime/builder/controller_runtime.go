package builder

import (
	crbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

// Inputs is what was said to a builder.
type Inputs[request comparable] = source.Inputs[request]

// BuildFunc makes a controller of what was said to a builder, and adds it to the
// manager. The options hold the reconciler, and are else as WithOptions set them.
type BuildFunc[request comparable] func(name string, mgr manager.Manager, said Inputs[request], o controller.TypedOptions[request]) (controller.TypedController[request], error)

// WithBuild hands what was said to this builder to another one.
func (b *TypedBuilder[request]) WithBuild(build BuildFunc[request]) *TypedBuilder[request] {
	b.build = build
	return b
}

// ControllerRuntime says what was said to a builder to controller-runtime's. That
// one always makes its own controller and, but for raw sources, its own Kind: what
// was chosen by WithNewController and WithNewKind does not count.
func ControllerRuntime[request comparable](name string, mgr manager.Manager, said Inputs[request], o controller.TypedOptions[request]) (controller.TypedController[request], error) {
	r := o.Reconciler
	o.Reconciler = nil // it wants the reconciler in one place only
	b := crbuilder.TypedControllerManagedBy[request](mgr).Named(name).WithOptions(o)
	for _, p := range said.Predicates {
		b.WithEventFilter(p)
	}
	if said.For.Object != nil {
		b.For(said.For.Object, upstreamOptions[crbuilder.ForOption](said.For)...)
	}
	for _, own := range said.Owns {
		options := upstreamOptions[crbuilder.OwnsOption](own.ForInput)
		if own.MatchEveryOwner {
			options = append(options, crbuilder.MatchEveryOwner)
		}
		b.Owns(own.Object, options...)
	}
	for _, w := range said.Watches {
		b.Watches(w.Object, w.Handler, upstreamOptions[crbuilder.WatchesOption](w.ForInput)...)
	}
	for _, src := range said.Raw {
		b.WatchesRawSource(src)
	}
	return b.Build(r)
}

// upstreamOptions are the options of one kind. Both fit For, Owns and Watches.
func upstreamOptions[option any](in ForInput) []option {
	options := []option{any(crbuilder.WithPredicates(in.Predicates...)).(option)}
	if in.OnlyMetadata {
		options = append(options, any(crbuilder.OnlyMetadata).(option))
	}
	return options
}
