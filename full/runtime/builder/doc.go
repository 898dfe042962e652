// Package builder turns For, Owns and Watches into one controller, like
// controller-runtime's pkg/builder, and on any manager.Manager:
//
//	err := builder.ControllerManagedBy(mgr).
//		For(&appsv1.Deployment{}).
//		Owns(&corev1.Pod{}, builder.WithPredicates(predicate.LabelChangedPredicate{})).
//		Complete(reconciler)
//
// Upstream's builder always makes upstream's Kind, and what its options hold
// can't be read from outside. So this one has options of its own, with the same
// names; it makes chapter 2's Kind, through DoWatch, and chapter 6's controller.
//
// What is wrong with a build is known before the controller is made: a Build
// that fails adds nothing to the manager and takes no controller name.
package builder
