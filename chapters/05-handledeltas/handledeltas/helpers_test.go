package handledeltas_test

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
)

// stores are the kinds that HandleDeltas treats differently: with batches, with
// transactions that it does not use, and with nothing beyond cache.Store.
var stores = map[string]func() cache.Store{
	"ours": func() cache.Store { return indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, nil) },
	"upstream": func() cache.Store {
		return cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{})
	},
	"plain": func() cache.Store {
		return struct{ cache.Store }{cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)}
	},
}

func pod(name, resourceVersion string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: resourceVersion}}
}

func tombstone(key string, obj any) cache.DeletedFinalStateUnknown {
	return cache.DeletedFinalStateUnknown{Key: key, Obj: obj}
}

// recorder writes down what was reported and, if it has a store, what the store
// did not know by then.
type recorder struct {
	store  cache.Store
	events []string
}

func (r *recorder) OnAdd(obj any, isInInitialList bool) {
	r.record(fmt.Sprintf("add %s initial=%t", describe(obj), isInInitialList), obj, true)
}

func (r *recorder) OnUpdate(old, obj any) {
	r.record(fmt.Sprintf("update %s to %s", describe(old), describe(obj)), obj, true)
}

func (r *recorder) OnDelete(obj any) {
	r.record("delete "+describe(obj), obj, false)
}

func (r *recorder) record(event string, obj any, stored bool) {
	if r.store != nil {
		if _, exists, _ := r.store.Get(obj); exists != stored {
			event += " BEFORE THE STORE"
		}
	}
	r.events = append(r.events, event)
}

func describe(obj any) string {
	switch obj := obj.(type) {
	case *corev1.Pod:
		return obj.Name + obj.ResourceVersion
	case cache.DeletedFinalStateUnknown:
		return fmt.Sprintf("tombstone(%s, %s)", obj.Key, describe(obj.Obj))
	default:
		return fmt.Sprint(obj)
	}
}

func contents(s cache.Store) []string {
	list := []string{}
	for _, obj := range s.List() {
		list = append(list, describe(obj))
	}
	slices.Sort(list)
	return list
}

var errBroken = errors.New("broken")

// brokenStore refuses every write of one pod, and every Replace.
type brokenStore struct {
	cache.Store
	refused string
}

func (s brokenStore) Add(obj any) error    { return s.unless(obj, s.Store.Add) }
func (s brokenStore) Update(obj any) error { return s.unless(obj, s.Store.Update) }
func (s brokenStore) Delete(obj any) error { return s.unless(obj, s.Store.Delete) }

func (s brokenStore) Replace([]any, string) error { return errBroken }

func (s brokenStore) unless(obj any, write func(any) error) error {
	if p, ok := obj.(*corev1.Pod); ok && p.Name == s.refused {
		return errBroken
	}
	return write(obj)
}

// brokenBatchStore offers batches and never gets one done.
type brokenBatchStore struct{ brokenStore }

func (s brokenBatchStore) Apply([]cache.Delta) ([]any, error) { return nil, errBroken }
