package handledeltas_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/handledeltas"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
)

func TestHandleDeltas(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas  []cache.Delta
		initial bool
		events  []string
		stored  []string
		version string
		reason  string
	}{
		"nothing": {stored: []string{"a1", "b2"}, version: "2", reason: "no delta, no event"},
		"added": {
			deltas: []cache.Delta{{Type: cache.Added, Object: pod("c", "3")}},
			events: []string{"add c3 initial=false"},
			stored: []string{"a1", "b2", "c3"}, version: "3",
		},
		"added and known": {
			deltas: []cache.Delta{{Type: cache.Added, Object: pod("a", "3")}},
			events: []string{"update a1 to a3"},
			stored: []string{"a3", "b2"}, version: "3",
			reason: "the store's word counts, not the delta's",
		},
		"updated and unknown": {
			deltas: []cache.Delta{{Type: cache.Updated, Object: pod("c", "3")}}, initial: true,
			events: []string{"add c3 initial=true"},
			stored: []string{"a1", "b2", "c3"}, version: "3",
		},
		"replaced": {
			deltas: []cache.Delta{{Type: cache.Replaced, Object: pod("a", "1")}, {Type: cache.Replaced, Object: pod("b", "3")}, {Type: cache.Replaced, Object: pod("c", "4")}}, initial: true,
			events: []string{"update a1 to a1", "update b2 to b3", "add c4 initial=true"},
			stored: []string{"a1", "b3", "c4"}, version: "4",
			reason: "what a relist repeats is reported too: who wants it is not decided here",
		},
		"sync": {
			deltas: []cache.Delta{{Type: cache.Sync, Object: pod("a", "1")}},
			events: []string{"update a1 to a1"},
			stored: []string{"a1", "b2"}, version: "1",
		},
		"deleted": {
			deltas: []cache.Delta{{Type: cache.Deleted, Object: pod("a", "3")}},
			events: []string{"delete a3"},
			stored: []string{"b2"}, version: "3",
			reason: "the handler gets the state that the deletion came with",
		},
		"deleted and unknown": {
			deltas: []cache.Delta{{Type: cache.Deleted, Object: pod("c", "3")}},
			events: []string{"delete c3"},
			stored: []string{"a1", "b2"}, version: "3",
			reason: "upstream's in-order queue lets these through, and they are reported",
		},
		"one object through its whole life": {
			deltas: []cache.Delta{
				{Type: cache.Added, Object: pod("c", "3")}, {Type: cache.Updated, Object: pod("c", "4")},
				{Type: cache.Deleted, Object: pod("c", "5")}, {Type: cache.Added, Object: pod("c", "6")},
			},
			events: []string{"add c3 initial=false", "update c3 to c4", "delete c5", "add c6 initial=false"},
			stored: []string{"a1", "b2", "c6"}, version: "6",
			reason: "each delta is seen with what was there just before it, also inside one batch",
		},
		"replaced all": {
			deltas: []cache.Delta{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: "9", Objects: []any{pod("c", "4"), pod("b", "3")}}}}, initial: true,
			events: []string{"delete tombstone(ns/a, a1)", "add c4 initial=true", "update b2 to b3"},
			stored: []string{"b3", "c4"}, version: "9",
			reason: "first what is gone, then the list in its order",
		},
		"replaced all by nothing": {
			deltas:  []cache.Delta{{Type: cache.Deleted, Object: pod("b", "2")}, {Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: "9"}}},
			events:  []string{"delete b2", "delete tombstone(ns/a, a1)"},
			stored:  []string{},
			version: "9",
		},
		"sync all": {
			deltas: []cache.Delta{{Type: cache.Deleted, Object: pod("a", "1")}, {Type: cache.SyncAll, Object: cache.SyncAllInfo{}}, {Type: cache.Added, Object: pod("c", "3")}},
			events: []string{"delete a1", "update b2 to b2", "add c3 initial=false"},
			stored: []string{"b2", "c3"}, version: "3",
			reason: "what comes behind a SyncAll must not be lost",
		},
		"bookmark": {
			deltas: []cache.Delta{{Type: cache.Updated, Object: pod("a", "3")}, {Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: "7"}}},
			events: []string{"update a1 to a3"},
			stored: []string{"a3", "b2"}, version: "7",
			reason: "a bookmark moves the version and tells nobody",
		},
	} {
		for storeName, newStore := range stores {
			t.Run(name+"/"+storeName, func(t *testing.T) {
				s := newStore()
				require.NoError(t, s.Add(pod("a", "1")))
				require.NoError(t, s.Add(pod("b", "2")))
				h := &recorder{}
				require.NoError(t, handledeltas.HandleDeltas(h, s, tc.deltas, tc.initial))
				assert.Equal(t, tc.events, h.events, tc.reason)
				assert.Equal(t, tc.stored, contents(s))
				assert.Equal(t, tc.version, s.LastStoreSyncResourceVersion())
			})
		}
	}
}

func TestNothingIsReportedBeforeTheStoreHasIt(t *testing.T) {
	for storeName, newStore := range stores {
		t.Run(storeName, func(t *testing.T) {
			s := newStore()
			h := &recorder{store: s}
			require.NoError(t, handledeltas.HandleDeltas(h, s, []cache.Delta{
				{Type: cache.Added, Object: pod("a", "1")},
				{Type: cache.Added, Object: pod("b", "2")},
			}, false))
			require.NoError(t, handledeltas.HandleDeltas(h, s, []cache.Delta{
				{Type: cache.Updated, Object: pod("a", "3")},
				{Type: cache.Deleted, Object: tombstone("ns/b", nil)},
			}, false))
			require.NoError(t, handledeltas.HandleDeltas(h, s, []cache.Delta{
				{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: []any{pod("c", "4")}}},
			}, false))
			assert.Equal(t, []string{
				"add a1 initial=false", "add b2 initial=false", "update a1 to a3",
				"delete tombstone(ns/b, <nil>)", "delete tombstone(ns/a, a3)", "add c4 initial=false",
			}, h.events)
		})
	}
}

func TestBadDeltas(t *testing.T) {
	for name, tc := range map[string]struct {
		delta cache.Delta
		want  string
	}{
		"unknown type":          {cache.Delta{Type: "Renamed"}, `"Renamed"`},
		"ReplacedAll of a pod":  {cache.Delta{Type: cache.ReplacedAll, Object: pod("a", "1")}, "must hold a cache.ReplacedAllInfo, this one holds a *v1.Pod"},
		"SyncAll of nothing":    {cache.Delta{Type: cache.SyncAll}, "must hold a cache.SyncAllInfo, this one holds a <nil>"},
		"Bookmark of a string":  {cache.Delta{Type: cache.Bookmark, Object: "7"}, "must hold a cache.BookmarkInfo, this one holds a string"},
		"no object":             {cache.Delta{Type: cache.Added, Object: 7}, "can't apply Added of int"},
		"list with no object":   {cache.Delta{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: "9", Objects: []any{7}}}, `list of resourceVersion "9"`},
		"deletion of no object": {cache.Delta{Type: cache.Deleted, Object: 7}, "can't apply Deleted of int"},
	} {
		for storeName, newStore := range stores {
			t.Run(name+"/"+storeName, func(t *testing.T) {
				s := newStore()
				h := &recorder{store: s}
				err := handledeltas.HandleDeltas(h, s, []cache.Delta{{Type: cache.Added, Object: pod("a", "1")}, tc.delta, {Type: cache.Added, Object: pod("b", "2")}}, false)
				assert.ErrorContains(t, err, tc.want)
				assert.Equal(t, []string{"add a1 initial=false", "add b2 initial=false"}, h.events, "the rest is handled")
				assert.Equal(t, []string{"a1", "b2"}, contents(s))
			})
		}
	}
}

// Upstream stops at the error, or drops it: the item is gone, and nobody says so.
func TestB57_ErrorsAreReturnedAndTheRestIsHandled(t *testing.T) {
	newBroken := func() brokenStore {
		return brokenStore{Store: cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc), refused: "bad"}
	}
	for storeName, s := range map[string]cache.Store{"plain": newBroken(), "batch": brokenBatchStore{newBroken()}} {
		t.Run(storeName, func(t *testing.T) {
			h := &recorder{store: s}
			err := handledeltas.HandleDeltas(h, s, []cache.Delta{
				{Type: cache.Added, Object: pod("a", "1")},
				{Type: cache.Updated, Object: pod("bad", "2")},
				{Type: cache.Deleted, Object: pod("bad", "3")},
				{Type: cache.Added, Object: pod("b", "4")},
				{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{}},
				{Type: cache.Deleted, Object: pod("a", "5")},
			}, false)
			require.ErrorIs(t, err, errBroken)
			assert.ErrorContains(t, err, `can't apply Updated of *v1.Pod "ns/bad"`)
			assert.ErrorContains(t, err, `can't apply Deleted of *v1.Pod "ns/bad"`)
			assert.ErrorContains(t, err, "can't replace")
			assert.Equal(t, []string{"add a1 initial=false", "add b4 initial=false", "delete a5"}, h.events)
			assert.Equal(t, []string{"b4"}, contents(s))
		})
	}
}

func TestB60_TombstonesReachStoreAndHandler(t *testing.T) {
	for storeName, newStore := range stores {
		t.Run(storeName, func(t *testing.T) {
			s := newStore()
			a := pod("a", "1")
			require.NoError(t, s.Add(a))
			h := &recorder{store: s}
			filtered := cache.FilteringResourceEventHandler{
				FilterFunc: func(obj any) bool {
					key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
					return assert.NoError(t, err) && key == "ns/a"
				},
				Handler: h,
			}
			require.NoError(t, handledeltas.HandleDeltas(filtered, s, []cache.Delta{{Type: cache.Deleted, Object: tombstone("ns/a", a)}}, false))
			assert.Equal(t, []string{"delete tombstone(ns/a, a1)"}, h.events)
			assert.Empty(t, s.List())
		})
	}
}

// counter is a store that notes how large the batches are.
type counter struct {
	*indexer.Indexer
	batches []int
}

func (c *counter) Apply(deltas []cache.Delta) ([]any, error) {
	c.batches = append(c.batches, len(deltas))
	return c.Indexer.Apply(deltas)
}

func TestReadersWaitForOneBatchOnly(t *testing.T) {
	s := &counter{Indexer: indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, nil)}
	h := &recorder{store: s}
	var deltas []cache.Delta
	for i := range 2500 {
		deltas = append(deltas, cache.Delta{Type: cache.Added, Object: pod(fmt.Sprint(i), "1")})
	}
	require.NoError(t, handledeltas.HandleDeltas(h, s, deltas, true))
	assert.Equal(t, []int{1000, 1000, 500}, s.batches)
	assert.Len(t, h.events, 2500)
	assert.Len(t, s.List(), 2500)
}

// blindStore can't look anything up.
type blindStore struct{ cache.Store }

func (s blindStore) Get(obj any) (any, bool, error) { return obj, true, errBroken }

func TestAStoreThatCannotLookUpMayStillAdd(t *testing.T) {
	s := blindStore{cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)}
	h := &recorder{}
	require.NoError(t, handledeltas.HandleDeltas(h, s, []cache.Delta{{Type: cache.Updated, Object: pod("a", "1")}}, false))
	assert.Equal(t, []string{"add a1 initial=false"}, h.events, "as upstream does")
	assert.Equal(t, []string{"a1"}, contents(s))
}
