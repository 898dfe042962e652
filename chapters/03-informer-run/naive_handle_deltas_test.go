package informer

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func podAt(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}}
}

func show(obj any) string {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return fmt.Sprintf("%s gone, was %v", t.Key, show(t.Obj))
	}
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return fmt.Sprint(obj)
	}
	return p.Name + p.ResourceVersion
}

func TestNaiveHandleDeltas(t *testing.T) {
	a1, a2, b1, c1 := podAt("a", "1"), podAt("a", "2"), podAt("b", "1"), podAt("c", "1")
	for name, tc := range map[string]struct {
		stored   []any
		deltas   []cache.Delta
		initial  bool
		fails    string // the store's Add, Update and Delete of this name fail
		reported []string
		left     []string
		err      string
		reason   string
	}{
		"added": {
			deltas: []cache.Delta{{Type: cache.Added, Object: a1}}, initial: true,
			reported: []string{"add a1 true"}, left: []string{"a1"},
			reason: "what is new is an add, and says whether it is of the initial list",
		},
		"added though it is there": {
			stored: []any{a1}, deltas: []cache.Delta{{Type: cache.Added, Object: a2}},
			reported: []string{"update a1 a2"}, left: []string{"a2"},
			reason: "the store decides, not the delta's type",
		},
		"updated though it is not there": {
			deltas:   []cache.Delta{{Type: cache.Updated, Object: a2}},
			reported: []string{"add a2 false"}, left: []string{"a2"},
			reason: "the same the other way round",
		},
		"replaced and sync": {
			stored:   []any{a1},
			deltas:   []cache.Delta{{Type: cache.Replaced, Object: a2}, {Type: cache.Sync, Object: a2}, {Type: cache.Replaced, Object: b1}},
			reported: []string{"update a1 a2", "update a2 a2", "add b1 false"}, left: []string{"a2", "b1"},
			reason: "both are states; who wants to hear of one without a change is the processor's to know",
		},
		"deleted": {
			stored: []any{a1, b1}, deltas: []cache.Delta{{Type: cache.Deleted, Object: a2}},
			reported: []string{"delete a2"}, left: []string{"b1"},
			reason: "handlers get the state that the deletion came with",
		},
		"deleted by a tombstone": {
			stored: []any{a1}, deltas: []cache.Delta{{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: a1}}},
			reported: []string{"delete ns/a gone, was a1"},
			reason:   "the key of a tombstone is enough for the store",
		},
		"deleted though it is not there": {
			deltas:   []cache.Delta{{Type: cache.Deleted, Object: a1}},
			reported: []string{"delete a1"},
			reason:   "an in-order queue leaves it to the handler",
		},
		"deltas of one object": {
			deltas:   []cache.Delta{{Type: cache.Added, Object: a1}, {Type: cache.Updated, Object: a2}, {Type: cache.Deleted, Object: a2}},
			reported: []string{"add a1 false", "update a1 a2", "delete a2"},
			reason:   "in order",
		},
		"replaced all": {
			stored:   []any{a1, c1},
			deltas:   []cache.Delta{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: "9", Objects: []any{a2, b1}}}},
			reported: []string{"delete ns/c gone, was c1", "update a1 a2", "add b1 false"}, left: []string{"a2", "b1"},
			reason: "deletions first, as tombstones; then the list",
		},
		"replaced all by nothing": {
			stored: []any{a1}, deltas: []cache.Delta{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{}}},
			reported: []string{"delete ns/a gone, was a1"},
			reason:   "an empty list is a list",
		},
		"replaced all, the first time": {
			deltas: []cache.Delta{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: []any{a1}}}}, initial: true,
			reported: []string{"add a1 true"}, left: []string{"a1"},
			reason: "the initial list of an atomic queue",
		},
		"replaced all with something that has no key": {
			stored: []any{a1}, deltas: []cache.Delta{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: []any{"no object"}}}},
			left: []string{"a1"}, err: `ReplacedAll delta: couldn't create key for object no object: object has no meta: object does not implement the Object interfaces`,
			reason: "nothing is replaced by half a list",
		},
		"sync all": {
			stored: []any{a1}, deltas: []cache.Delta{{Type: cache.SyncAll, Object: cache.SyncAllInfo{}}, {Type: cache.Added, Object: b1}},
			reported: []string{"update a1 a1", "add b1 false"}, left: []string{"a1", "b1"},
			reason: "all that is stored, and then on with the next delta",
		},
		"an error does not keep out the next": {
			stored:   []any{b1},
			deltas:   []cache.Delta{{Type: cache.Added, Object: a1}, {Type: cache.Updated, Object: podAt("b", "2")}, {Type: cache.Deleted, Object: a1}, {Type: cache.Added, Object: c1}},
			fails:    "a",
			reported: []string{"update b1 b2", "add c1 false"}, left: []string{"b2", "c1"},
			err:    "Added delta: ns/a: store is full\nDeleted delta: ns/a: store is full",
			reason: "what failed is named and not reported",
		},
		"an update that fails": {
			stored: []any{a1}, deltas: []cache.Delta{{Type: cache.Updated, Object: a2}}, fails: "a",
			left: []string{"a1"}, err: "Updated delta: ns/a: store is full",
			reason: "not reported either",
		},
		"objects without a key": {
			deltas: []cache.Delta{{Type: cache.Added, Object: 1}, {Type: cache.Deleted, Object: 2}},
			err:    "Added delta: couldn't create key for object 1: object has no meta: object does not implement the Object interfaces\nDeleted delta: int without a key: couldn't create key for object 2: object has no meta: object does not implement the Object interfaces",
			reason: "the object is in the error",
		},
		"infos of the wrong type": {
			stored: []any{a1},
			deltas: []cache.Delta{{Type: cache.ReplacedAll, Object: a1}, {Type: cache.SyncAll, Object: a1}, {Type: cache.Bookmark, Object: a1}},
			left:   []string{"a1"},
			err: "ReplacedAll delta: its object is a *v1.Pod; want the Info type of cache that belongs to it\n" +
				"SyncAll delta: its object is a *v1.Pod; want the Info type of cache that belongs to it\n" +
				"Bookmark delta: its object is a *v1.Pod; want the Info type of cache that belongs to it",
			reason: "a queue's mistake is said, not guessed around",
		},
		"an unknown type": {
			deltas: []cache.Delta{{Type: "Imagined", Object: a1}},
			err:    "Imagined delta: unknown type; the queue must give the types of cache.DeltaType",
			reason: "not silently ignored",
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := fullStore{cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc), tc.fails}
			require.NoError(t, store.Replace(tc.stored, ""))
			var reported []string
			report := func(obj any, stored bool, format string, args ...any) {
				_, is, _ := store.Get(obj)
				assert.Equal(t, stored, is, "the store comes before the report of %s", show(obj))
				reported = append(reported, fmt.Sprintf(format, args...))
			}
			h := cache.ResourceEventHandlerDetailedFuncs{
				AddFunc:    func(obj any, initial bool) { report(obj, true, "add %s %t", show(obj), initial) },
				UpdateFunc: func(old, obj any) { report(obj, true, "update %s %s", show(old), show(obj)) },
				DeleteFunc: func(obj any) { report(obj, false, "delete %s", show(obj)) },
			}
			err := NaiveHandleDeltas(h, store, tc.deltas, tc.initial)
			if tc.err == "" {
				assert.NoError(t, err, tc.reason)
			} else {
				assert.EqualError(t, err, tc.err, tc.reason)
			}
			assert.Equal(t, tc.reported, reported, tc.reason)
			var left []string
			for _, obj := range store.List() {
				left = append(left, show(obj))
			}
			slices.Sort(left)
			assert.Equal(t, tc.left, left, tc.reason)
		})
	}
}

// The default queue tells what a list brought from what a resync repeats.
func TestDefaultQueue(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	q := newClientGoQueue(known)
	var got []string
	pop := func() {
		_, err := q.Pop(func(obj any, _ bool) error {
			for _, d := range obj.(cache.Deltas) {
				got = append(got, string(d.Type)+" "+show(d.Object))
			}
			return nil
		})
		require.NoError(t, err)
	}
	require.NoError(t, q.Replace([]any{podAt("a", "1")}, "1"))
	pop()
	require.NoError(t, known.Add(podAt("a", "1")))
	require.NoError(t, q.Resync())
	pop()
	require.NoError(t, q.Replace(nil, "2"))
	pop()
	assert.Equal(t, []string{"Replaced a1", "Sync a1", "Deleted ns/a gone, was a1"}, got)
}

func TestNaiveHandleDeltasBookmark(t *testing.T) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	h := cache.ResourceEventHandlerFuncs{}
	require.NoError(t, NaiveHandleDeltas(h, store, []cache.Delta{{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: "7"}}}, false))
	assert.Equal(t, "7", store.LastStoreSyncResourceVersion())
	require.NoError(t, NaiveHandleDeltas(h, store, []cache.Delta{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: "9"}}}, false))
	assert.Equal(t, "9", store.LastStoreSyncResourceVersion(), "the list's version goes into the store")
}

// fullStore takes nothing of the name fails.
type fullStore struct {
	cache.Store
	fails string
}

func (s fullStore) unless(do func(any) error, obj any) error {
	if p, ok := obj.(*corev1.Pod); ok && p.Name == s.fails {
		return errors.New("store is full")
	}
	return do(obj)
}

func (s fullStore) Add(obj any) error    { return s.unless(s.Store.Add, obj) }
func (s fullStore) Update(obj any) error { return s.unless(s.Store.Update, obj) }
func (s fullStore) Delete(obj any) error { return s.unless(s.Store.Delete, obj) }
