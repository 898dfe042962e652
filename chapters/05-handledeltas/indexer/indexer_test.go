package indexer_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
)

func newIndexer(indexers cache.Indexers) *indexer.Indexer {
	return indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers)
}

func TestBadInput(t *testing.T) {
	assert.Contains(t, panicOf(func() { indexer.New(nil, nil) }), "no key function")
	assert.Contains(t, panicOf(func() { newIndexer(cache.Indexers{"empty": nil}) }), `index "empty" has no function`)

	x := newIndexer(nil)
	assert.ErrorContains(t, x.AddIndexers(cache.Indexers{"empty": nil, "full": valuesOf}), `index "empty" has no function`)
	assert.Empty(t, x.GetIndexers())

	for name, write := range map[string]func() error{
		"Add":     func() error { return x.Add("no object") },
		"Update":  func() error { return x.Update("no object") },
		"Delete":  func() error { return x.Delete("no object") },
		"Replace": func() error { return x.Replace([]any{pod("a", "1", ""), "no object"}, "9") },
		"Get":     func() error { _, _, err := x.Get("no object"); return err },
		"Apply": func() error {
			_, err := x.Apply([]cache.Delta{{Type: cache.Added, Object: pod("a", "1", "")}, {Type: cache.Added, Object: "no object"}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var keyError cache.KeyError
			require.ErrorAs(t, write(), &keyError)
			assert.Equal(t, "no object", keyError.Obj, "the error names the object")
			assert.Empty(t, x.List(), "nothing was stored")
			assert.Empty(t, x.LastStoreSyncResourceVersion())
		})
	}
}

func TestApply(t *testing.T) {
	a1, a2, a3, b1, c1 := pod("a", "1", "x"), pod("a", "2", "y"), pod("a", "3", ""), pod("b", "4", "x"), pod("c", "5", "")
	x := newIndexer(valueIndexers())
	require.NoError(t, x.Add(b1))

	olds, err := x.Apply([]cache.Delta{
		{Type: cache.Added, Object: a1},
		{Type: cache.Updated, Object: a2},
		{Type: cache.Deleted, Object: a2},
		{Type: cache.Deleted, Object: a2},
		{Type: cache.Sync, Object: a3},
		{Type: cache.Replaced, Object: c1},
		{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: "ns/b"}},
	})
	require.NoError(t, err)
	assert.Equal(t, []any{nil, a1, a2, nil, nil, nil, b1}, olds, "what was there before each delta, also within the batch")
	assert.ElementsMatch(t, []any{a3, c1}, x.List())
	assert.Empty(t, x.ListIndexFuncValues(byValues))
	assert.Equal(t, "5", x.LastStoreSyncResourceVersion(), "a tombstone has no version of its own")
	require.NoError(t, x.Check())
}

func TestApplyIsAllOrNothing(t *testing.T) {
	a, b, broken := pod("a", "1", "x"), pod("b", "2", "x"), pod("broken", "3", "x")
	for name, tc := range map[string]struct {
		last   cache.Delta
		reason string
	}{
		"a key that can't be made": {cache.Delta{Type: cache.Updated, Object: 7}, "no key, no place in the store"},
		"a delta about the whole":  {cache.Delta{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{}}, "Apply returns what was under one key"},
		"an unknown type":          {cache.Delta{Type: "Renamed", Object: b}, "what it means is unknown"},
		"an index that fails":      {cache.Delta{Type: cache.Added, Object: broken}, "it panics, and the caller may recover"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newIndexer(cache.Indexers{byValues: valuesOf, "fails": failsFor("broken")})
			require.NoError(t, x.Add(a))
			var err error
			panicked := panicOf(func() {
				_, err = x.Apply([]cache.Delta{{Type: cache.Deleted, Object: a}, {Type: cache.Added, Object: b}, tc.last})
			})
			assert.True(t, err != nil || panicked != nil, tc.reason)
			assert.Equal(t, []any{a}, x.List())
			assert.Equal(t, "1", x.LastStoreSyncResourceVersion())
			require.NoError(t, x.Check())
			require.NoError(t, x.Add(b), "the locks are free")
		})
	}
}

func TestReplaceAll(t *testing.T) {
	a1, a2, b1, c1, c2 := pod("a", "1", "x"), pod("a", "2", "y"), pod("b", "1", "x"), pod("c", "3", ""), pod("c", "4", "z")
	x := newIndexer(valueIndexers())
	require.NoError(t, x.Replace([]any{a1, b1}, "1"))

	olds, gone, err := x.ReplaceAll([]any{a2, c1, c2}, "9")
	require.NoError(t, err)
	assert.Equal(t, []any{a1, nil, c1}, olds, "the last of two with one key stays")
	assert.Equal(t, []cache.DeletedFinalStateUnknown{{Key: "ns/b", Obj: b1}}, gone)
	assert.ElementsMatch(t, []any{a2, c2}, x.List())
	assert.ElementsMatch(t, []string{"y", "z"}, x.ListIndexFuncValues(byValues))
	assert.Equal(t, "9", x.LastStoreSyncResourceVersion())
	require.NoError(t, x.Check())

	require.NoError(t, x.Replace(nil, ""))
	assert.Empty(t, x.List())
	assert.Empty(t, x.ListIndexFuncValues(byValues))
	assert.Empty(t, x.LastStoreSyncResourceVersion())
}

func TestReadersDoNotWaitForIndexFunctions(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	slow := func(obj any) ([]string, error) {
		if obj.(*corev1.Pod).Name == "slow" {
			asked <- struct{}{}
			<-answer
		}
		return valuesOf(obj)
	}
	x := newIndexer(cache.Indexers{byValues: slow})
	a := pod("a", "1", "x")
	require.NoError(t, x.Add(a))

	var writer sync.WaitGroup
	writer.Go(func() { _ = x.Add(pod("slow", "2", "x")) })
	<-asked
	// Each of these would hang here if it needed what the writer holds.
	_, exists, _ := x.Get(a)
	assert.True(t, exists)
	objs, err := x.ByIndex(byValues, "x")
	assert.Equal(t, []string{"a"}, names(t, objs, err))
	assert.Len(t, x.List(), 1)
	assert.Len(t, x.GetIndexers(), 1)
	close(answer)
	writer.Wait()
	objs, err = x.ByIndex(byValues, "x")
	assert.Equal(t, []string{"a", "slow"}, names(t, objs, err))
}

func TestIndexFunctionIsAskedForTheNewObjectOnly(t *testing.T) {
	var asked []string
	x := newIndexer(cache.Indexers{byValues: func(obj any) ([]string, error) {
		asked = append(asked, obj.(*corev1.Pod).ResourceVersion)
		return valuesOf(obj)
	}})
	require.NoError(t, x.Add(pod("a", "1", "x")))
	require.NoError(t, x.Update(pod("a", "2", "y")))
	require.NoError(t, x.Delete(pod("a", "3", "")))
	assert.Equal(t, []string{"1", "2"}, asked)
}

func TestResultsAreSnapshots(t *testing.T) {
	x := newIndexer(valueIndexers())
	a1 := pod("a", "1", "x")
	require.NoError(t, x.Add(a1))
	byIndex, err := x.ByIndex(byValues, "x")
	require.NoError(t, err)
	list := x.List()
	indexers := x.GetIndexers()

	require.NoError(t, x.Update(pod("a", "2", "x")))
	require.NoError(t, x.Add(pod("b", "3", "x")))
	assert.Equal(t, []any{a1}, byIndex)
	assert.Equal(t, []any{a1}, list)

	byIndex[0], list[0] = nil, nil
	delete(indexers, byValues)
	objs, err := x.ByIndex(byValues, "x")
	assert.Equal(t, []string{"a", "b"}, names(t, objs, err), "what a reader does to its slice or map is its own affair")
	require.NoError(t, x.Update(pod("a", "3", "y")))
	objs, err = x.ByIndex(byValues, "y")
	assert.Equal(t, []string{"a"}, names(t, objs, err))
}

func TestIndexersAreNotShared(t *testing.T) {
	indexers := cache.Indexers{}
	x := newIndexer(indexers)
	require.NoError(t, x.AddIndexers(valueIndexers()))
	assert.Empty(t, indexers, "the map stays the caller's")
	delete(x.GetIndexers(), byValues)
	assert.Len(t, x.GetIndexers(), 1)
}

func TestNoReaderSeesHalfAReplace(t *testing.T) {
	lists := [2][]any{}
	for i := range 200 {
		lists[0] = append(lists[0], pod(fmt.Sprint(i), "0", "x"))
		lists[1] = append(lists[1], pod(fmt.Sprint(i+100), "1", "x"))
	}
	x := newIndexer(valueIndexers())
	require.NoError(t, x.Replace(append([]any(nil), lists[0]...), "0"))
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			all, err := x.ByIndex(byValues, "x")
			if !assert.NoError(t, err) || !assert.Len(t, all, 200) {
				return
			}
			for _, obj := range all {
				if !assert.Equal(t, all[0].(*corev1.Pod).ResourceVersion, obj.(*corev1.Pod).ResourceVersion) {
					return
				}
			}
		}
	})
	for i := range 200 {
		require.NoError(t, x.Replace(append([]any(nil), lists[(i+1)%2]...), "0"))
	}
	close(done)
	reader.Wait()
}

// Upstream answers "" while its queue does not keep the order of events; here
// whoever asks has to know which queue is in use.
func TestResourceVersionDoesNotDependOnAGate(t *testing.T) {
	featuretesting.SetFeatureDuringTest(t, features.AtomicFIFO, false)
	want := map[string]string{"ours": "5", "upstream": ""}
	for impl, make := range implementations {
		x := make(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{})
		require.NoError(t, x.Add(pod("a", "5", "")))
		assert.Equal(t, want[impl], x.LastStoreSyncResourceVersion(), impl)
	}
}

// Upstream takes the version of the last object only, and none if it is a tombstone.
func TestTransactionThatEndsWithATombstone(t *testing.T) {
	want := map[string]string{"ours": "5", "upstream": ""}
	for impl, make := range implementations {
		x := make(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{})
		err := x.(cache.TransactionStore).Transaction(
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: pod("a", "5", "")},
			cache.Transaction{Type: cache.TransactionTypeDelete, Object: cache.DeletedFinalStateUnknown{Key: "ns/b"}},
		)
		require.Nil(t, err)
		assert.Equal(t, want[impl], x.LastStoreSyncResourceVersion(), impl)
	}
}

func TestNewStore(t *testing.T) {
	s := indexer.NewStore(cache.MetaNamespaceKeyFunc)
	require.NoError(t, s.Add(pod("a", "1", "")))
	assert.Equal(t, []string{"ns/a"}, s.ListKeys())
	assert.NoError(t, s.Resync())
}

func TestUpdateThatChangesNoIndexValueAllocatesNothing(t *testing.T) {
	values := []string{"x", "y"}
	x := indexer.New(
		func(any) (string, error) { return "ns/a", nil },
		cache.Indexers{byValues: func(any) ([]string, error) { return values, nil }},
	)
	a := pod("a", "1", "")
	require.NoError(t, x.Add(a))
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = x.Update(a) }))
}

// Index functions are written for objects; a store may hold a nil all the same,
// if its key function finds a key for it.
func TestNilObjectIsInNoIndex(t *testing.T) {
	key := func(any) (string, error) { return "nothing", nil }
	for impl, make := range implementations {
		t.Run(impl, func(t *testing.T) {
			x := make(key, valueIndexers())
			require.NoError(t, x.Add(nil))
			item, exists, err := x.GetByKey("nothing")
			require.NoError(t, err)
			assert.True(t, exists)
			assert.Nil(t, item)
			assert.Empty(t, x.ListIndexFuncValues(byValues))
		})
	}
}
