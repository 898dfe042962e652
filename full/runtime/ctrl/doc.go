// Package ctrl has every name that package sigs.k8s.io/controller-runtime has, so that an operator
// written for controller-runtime runs on our layers after one import is changed:
//
//   - ctrl "sigs.k8s.io/controller-runtime"
//   - ctrl "github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
//
// Manager, cache, controllers and their builder are ours; types, webhooks, logging, signals and
// controllerutil are upstream's. Options of the builder (WithPredicates, OnlyMetadata, MatchEveryOwner)
// come from our package builder: upstream's can't be read from outside its package.
package ctrl
