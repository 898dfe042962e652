// Package controller is the Mirror operator: it keeps copies of one Secret or
// ConfigMap in every namespace that a selector matches, and keeps them right.
//
// Reading order: mirror_controller.go (the loop), setup.go (what it watches and
// caches), targets.go (which namespaces), claim.go (may this object be written?),
// copies.go (which copies are there, and what has to be done with each), write.go (how a
// copy is written), content.go (what is copied), status.go.
//
// Three caches, each for one question:
//   - the manager's, for Secrets and ConfigMaps that carry LabelCopy, whole: is
//     each copy right?
//   - the manager's, for namespaces, metadata only: where should copies be?
//   - a second one, for all Secrets and ConfigMaps, metadata stripped to identity:
//     does a foreign object stand in the way, has the source changed, has a copy
//     lost its label? One cache can't hold both views of a kind, ByObject being per
//     kind.
//
// The source itself is read live, once in a pass: its data is not kept, and an
// event about it may come from a cache that is ahead of the others.
//
// Every write carries the state that it was decided on, so that a cache which lags
// costs a refused request, and never somebody else's object.
package controller

// FieldManager owns every field that the operator applies.
const FieldManager = "mirror-operator"

// prefix begins every key that the operator writes on objects; no key that begins
// with it is copied.
const prefix = "walkthrough.example.com/"

// Finalizer keeps a Mirror until its copies are deleted or released.
const Finalizer = prefix + "copies"

// LabelCopy marks every copy, with the UID of its Mirror; the cache of copies
// selects by it.
const LabelCopy = prefix + "copy"

// AnnotationSource says on a copy where it comes from, as namespace/name.
const AnnotationSource = prefix + "source"

// AnnotationMetadata holds a hash of the labels and annotations that a copy took
// from its source, so that one that the source dropped is noticed.
const AnnotationMetadata = prefix + "metadata-hash"
