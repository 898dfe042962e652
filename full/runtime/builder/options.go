package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	source "github.com/informer-walkthrough/informer-walkthrough/chapters/02-source-kind"
)

type (
	// ForInput is what For records.
	ForInput = source.ForInput
	// OwnsInput is what Owns records.
	OwnsInput = source.OwnsInput
	// WatchesInput is what Watches records.
	WatchesInput[request comparable] = source.WatchesInput[request]
	// NewKind makes the source of a kind.
	NewKind[request comparable] = source.NewKind[request]
)

// ForOption changes what For records.
type ForOption interface {
	ApplyToFor(*ForInput)
}

// OwnsOption changes what Owns records.
type OwnsOption interface {
	ApplyToOwns(*OwnsInput)
}

// WatchesOption changes what Watches records: the part of a WatchesInput that
// does not depend on the type of request.
type WatchesOption interface {
	ApplyToWatches(*ForInput)
}

// Predicates filter the events of one kind, after those of WithEventFilter.
type Predicates struct {
	predicates []predicate.Predicate
}

// WithPredicates filters the events of one kind. Given twice, the last one counts.
func WithPredicates(predicates ...predicate.Predicate) Predicates {
	return Predicates{predicates: predicates}
}

// ApplyToFor implements ForOption.
func (p Predicates) ApplyToFor(in *ForInput) { in.Predicates = p.predicates }

// ApplyToOwns implements OwnsOption.
func (p Predicates) ApplyToOwns(in *OwnsInput) { in.Predicates = p.predicates }

// ApplyToWatches implements WatchesOption.
func (p Predicates) ApplyToWatches(in *ForInput) { in.Predicates = p.predicates }

type onlyMetadata struct{}

// ApplyToFor implements ForOption.
func (onlyMetadata) ApplyToFor(in *ForInput) { in.OnlyMetadata = true }

// ApplyToOwns implements OwnsOption.
func (onlyMetadata) ApplyToOwns(in *OwnsInput) { in.OnlyMetadata = true }

// ApplyToWatches implements WatchesOption.
func (onlyMetadata) ApplyToWatches(in *ForInput) { in.OnlyMetadata = true }

type matchEveryOwner struct{}

// ApplyToOwns implements OwnsOption.
func (matchEveryOwner) ApplyToOwns(in *OwnsInput) { in.MatchEveryOwner = true }

var (
	// OnlyMetadata watches and caches the kind as PartialObjectMetadata. Read it
	// as PartialObjectMetadata too: a typed read makes a second informer, which
	// costs memory and knows another state.
	OnlyMetadata onlyMetadata

	// MatchEveryOwner enqueues every owner of the For kind, not only the
	// controlling one.
	MatchEveryOwner matchEveryOwner

	_ ForOption     = Predicates{}
	_ OwnsOption    = Predicates{}
	_ WatchesOption = Predicates{}
	_ ForOption     = OnlyMetadata
	_ OwnsOption    = OnlyMetadata
	_ WatchesOption = OnlyMetadata
	_ OwnsOption    = MatchEveryOwner
)
