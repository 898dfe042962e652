package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
)

// Fields that the caches are indexed by.
const (
	// ownerIndex: a copy by the UID of the Mirror that owns it.
	ownerIndex = "owner"
	// strayIndex: the same, of the copies that lost LabelCopy and are thereby
	// missing in the cache of copies. The second cache has it.
	strayIndex = "stray"
	// sourceIndex: a Mirror by kind/name of its source, which is kind/name of
	// every copy as well.
	sourceIndex = "source"
)

// NewScheme knows the kinds that the operator works with.
func NewScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, err
	}
	return s, v1alpha1.AddToScheme(s)
}

// CacheOptions are what the manager's cache has to be made with: of Secrets and
// ConfigMaps it holds the copies only.
func CacheOptions() cache.Options {
	marked, err := labels.NewRequirement(LabelCopy, selection.Exists, nil)
	if err != nil {
		panic(err) // LabelCopy is a constant
	}
	copies := cache.ByObject{Label: labels.NewSelector().Add(*marked)}
	return cache.Options{
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}:    copies,
			&corev1.ConfigMap{}: copies,
		},
		DefaultTransform: cache.TransformStripManagedFields(), // nobody reads them
	}
}

// identityOnly strips the metadata of an object to what claim reads, so that the
// second cache stays small however many Secrets there are.
func identityOnly(obj any) (any, error) {
	m, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return obj, nil
	}
	isCopy, marked := m.Labels[LabelCopy]
	m.ObjectMeta = metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		DeletionTimestamp: m.DeletionTimestamp, OwnerReferences: m.OwnerReferences,
	}
	if marked {
		m.Labels = map[string]string{LabelCopy: isCopy}
	}
	return m, nil
}

// SetupWithManager makes the second cache and the controller of the given layers
// and adds both to mgr, whose cache must have been made with CacheOptions.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, layers assembly.Layers) error {
	layers = layers.WithDefaults()
	objects, err := assembly.NewCache(layers)(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultTransform: identityOnly,
	})
	if err != nil {
		return fmt.Errorf("making the cache of all Secrets and ConfigMaps: %w", err)
	}
	if err := mgr.Add(objects); err != nil {
		return err
	}
	r.Objects = objects
	if err := errors.Join(indexFields(mgr.GetFieldIndexer()), indexOwners(objects)); err != nil {
		return err
	}

	b := assembly.ControllerManagedBy(mgr, layers).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 4, // Mirrors that write don't keep others waiting
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minRetry, maxRetry),
		}).
		For(&v1alpha1.Mirror{}, builder.WithPredicates(mirrorChanged)).
		Owns(&corev1.Secret{}).
		Owns(&corev1.ConfigMap{}).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.mirrorsOfNamespace),
			builder.WithPredicates(namespaceChanged))
	for _, kind := range kinds {
		b = b.WatchesRawSource(layers.NewKind(objects, newMetadata(kind), handler.EnqueueRequestsFromMapFunc(r.mirrorsOfObject), notCopies))
	}
	return b.Complete(r)
}

// indexFields makes the indexes of the manager's cache.
func indexFields(indexer client.FieldIndexer) error {
	for _, kind := range kinds {
		if err := indexer.IndexField(context.Background(), newObject(kind), ownerIndex, ownerUID); err != nil {
			return err
		}
	}
	return indexer.IndexField(context.Background(), &v1alpha1.Mirror{}, sourceIndex, func(obj client.Object) []string {
		ref := obj.(*v1alpha1.Mirror).Spec.Source
		return []string{sourceKey(ref.Kind, ref.Name)}
	})
}

// indexOwners makes the indexes of the second cache.
func indexOwners(indexer client.FieldIndexer) error {
	for _, kind := range kinds {
		err := errors.Join(
			indexer.IndexField(context.Background(), newMetadata(kind), ownerIndex, ownerUID),
			indexer.IndexField(context.Background(), newMetadata(kind), strayIndex, func(obj client.Object) []string {
				if isCopy(obj) {
					return nil
				}
				return ownerUID(obj)
			}))
		if err != nil {
			return err
		}
	}
	return nil
}

func ownerUID(obj client.Object) []string {
	if o := metav1.GetControllerOf(obj); o != nil && isMirror(o) {
		return []string{string(o.UID)}
	}
	return nil
}

func sourceKey(kind v1alpha1.SourceKind, name string) string { return string(kind) + "/" + name }

// What failed is tried again after minRetry, then after twice as long, up to
// maxRetry: whoever lifts a quota should not wait for long.
const (
	minRetry = 50 * time.Millisecond
	maxRetry = time.Minute
)

// Changes that a pass depends on; a deletion raises a Mirror's generation, too.
var (
	mirrorChanged    = predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, remade, statusChanged, finalizerTaken)
	namespaceChanged = predicate.Or[client.Object](predicate.LabelChangedPredicate{}, remade, leaving)
)

// remade passes the update in which another object of the same name took the
// place: a watch that was cut may have missed that the first one went.
var remade = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() },
}

// statusChanged passes the update in which the status came in, our own as a rule.
// A pass that ran before it compared with the status before, and may have found
// nothing to write; only the pass after it is right for sure. It writes nothing
// if all is well, so this comes to rest.
var statusChanged = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(e.ObjectOld.(*v1alpha1.Mirror).Status, e.ObjectNew.(*v1alpha1.Mirror).Status)
	},
}

// finalizerTaken passes the update in which somebody took our finalizer off.
var finalizerTaken = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		return controllerutil.ContainsFinalizer(e.ObjectOld, Finalizer) && !controllerutil.ContainsFinalizer(e.ObjectNew, Finalizer)
	},
}

// leaving passes the update in which an object begins to go.
var leaving = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetDeletionTimestamp().IsZero() && !e.ObjectNew.GetDeletionTimestamp().IsZero()
	},
}

// notCopies keeps copies out of the second cache's events: Owns reports them. A
// copy that goes is let through: it may have stood in another Mirror's way.
var notCopies = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return !isCopy(e.Object) },
	UpdateFunc: func(e event.UpdateEvent) bool { return !isCopy(e.ObjectNew) || !isCopy(e.ObjectOld) },
}

func isCopy(obj client.Object) bool { return obj.GetLabels()[LabelCopy] != "" }

// mirrorsOfNamespace are the Mirrors whose selector matches a namespace. The
// handler asks for the old and the new state of an update, so that a label taken
// away is noticed too.
func (r *Reconciler) mirrorsOfNamespace(ctx context.Context, ns client.Object) []reconcile.Request {
	var mirrors v1alpha1.MirrorList
	if err := r.List(ctx, &mirrors); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the Mirrors for a namespace", "namespace", ns.GetName())
		return nil
	}
	var found []reconcile.Request
	for i := range mirrors.Items {
		selector, err := metav1.LabelSelectorAsSelector(&mirrors.Items[i].Spec.NamespaceSelector)
		if err == nil && selector.Matches(labels.Set(ns.GetLabels())) {
			found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&mirrors.Items[i])})
		}
	}
	return found
}

// mirrorsOfObject are the Mirrors for which an object is the source or stands
// where a copy should, their sources having its kind and name, and the one that
// owns it, if it is a copy that lost its label.
func (r *Reconciler) mirrorsOfObject(ctx context.Context, obj client.Object) []reconcile.Request {
	var mirrors v1alpha1.MirrorList
	key := sourceKey(kindOf(obj), obj.GetName())
	if err := r.List(ctx, &mirrors, client.MatchingFields{sourceIndex: key}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the Mirrors for an object", "object", key, "namespace", obj.GetNamespace())
		return nil
	}
	var found []reconcile.Request
	for i := range mirrors.Items {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&mirrors.Items[i])})
	}
	if o := metav1.GetControllerOf(obj); o != nil && isMirror(o) {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKey{Name: o.Name}})
	}
	return found
}
