package indexer_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

func TestB61_EmptySetsAreDropped(t *testing.T) {
	forBoth(t, valueIndexers, func(t *testing.T, x cache.Indexer) {
		for i := range 1000 {
			p := pod(fmt.Sprint(i), "1", fmt.Sprintf("10.0.0.%d", i))
			require.NoError(t, x.Add(p))
			if i%2 == 0 {
				require.NoError(t, x.Delete(p))
			} else {
				require.NoError(t, x.Update(pod(fmt.Sprint(i), "2", "")))
			}
		}
		if left := x.ListIndexFuncValues(byValues); len(left) > 0 {
			t.Errorf("%d values are still in the index and have no object, such as %s", len(left), left[0])
		}
		keys, err := x.IndexKeys(byValues, "10.0.0.1")
		require.NoError(t, err)
		assert.Equal(t, []string{}, keys)
	})
}

func TestB62_ValueThatStaysIsKept(t *testing.T) {
	forBoth(t, valueIndexers, func(t *testing.T, x cache.Indexer) {
		require.NoError(t, x.Add(pod("other", "1", "x,y")))
		for _, step := range []struct {
			values string
			x, y   []string
		}{
			{"x", []string{"a", "other"}, []string{"other"}},
			{"x,y", []string{"a", "other"}, []string{"a", "other"}},
			{"y", []string{"other"}, []string{"a", "other"}},
			{"y,y", []string{"other"}, []string{"a", "other"}},
			{"y,x,y", []string{"a", "other"}, []string{"a", "other"}},
			{"", []string{"other"}, []string{"other"}},
			{"x", []string{"a", "other"}, []string{"other"}},
		} {
			require.NoError(t, x.Update(pod("a", "2", step.values)))
			objs, err := x.ByIndex(byValues, "x")
			assert.Equal(t, step.x, names(t, objs, err), "x after [%s]", step.values)
			objs, err = x.ByIndex(byValues, "y")
			assert.Equal(t, step.y, names(t, objs, err), "y after [%s]", step.values)
		}
	})
}

func failsFor(name string) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		if key, _ := cache.MetaNamespaceKeyFunc(obj); key == "ns/"+name {
			return nil, errors.New("not this one")
		}
		return []string{"v"}, nil
	}
}

// Upstream stores the object before it asks the index function and leaves it
// there; ours has not stored it.
func TestB63_IndexFunctionThatFails(t *testing.T) {
	stored := map[string]bool{"ours": false, "upstream": true}
	writes := map[string]func(x cache.Indexer) error{
		"Add":     func(x cache.Indexer) error { return x.Add(pod("a", "1", "")) },
		"Replace": func(x cache.Indexer) error { return x.Replace([]any{pod("a", "1", "")}, "1") },
		"Transaction": func(x cache.Indexer) error {
			return x.(cache.TransactionStore).Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: pod("a", "1", "")})
		},
	}
	for impl, make := range implementations {
		for write, do := range writes {
			t.Run(write+"/"+impl, func(t *testing.T) {
				x := make(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{"broken": failsFor("a")})
				message := fmt.Sprint(panicOf(func() { _ = do(x) }))
				assert.Contains(t, message, `"ns/a"`, "the panic names the key")
				assert.Contains(t, message, `"broken"`, "the panic names the index")

				require.NoError(t, x.Add(pod("b", "2", "")), "the lock is free")
				objs, err := x.ByIndex("broken", "v")
				assert.Equal(t, []string{"b"}, names(t, objs, err))
				_, exists, err := x.GetByKey("ns/a")
				require.NoError(t, err)
				assert.Equal(t, stored[impl], exists, "an object that is in no index should not be in the store")
			})
		}
	}
}

// Upstream has the new index registered and half filled after the panic.
func TestB63_LateIndexFunctionThatFails(t *testing.T) {
	registered := map[string]bool{"ours": false, "upstream": true}
	for impl, make := range implementations {
		t.Run(impl, func(t *testing.T) {
			x := make(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{})
			require.NoError(t, x.Add(pod("a", "1", "")))
			message := fmt.Sprint(panicOf(func() { _ = x.AddIndexers(cache.Indexers{"broken": failsFor("a")}) }))
			assert.Contains(t, message, `"ns/a"`)
			assert.Contains(t, message, `"broken"`)
			_, has := x.GetIndexers()["broken"]
			assert.Equal(t, registered[impl], has)
			require.NoError(t, x.Delete(pod("b", "2", "")), "the lock is free")
		})
	}
}

func TestB65_ReadsWhileWriting(t *testing.T) {
	forBoth(t, valueIndexers, func(t *testing.T, x cache.Indexer) {
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for _, read := range []func(){
			func() { x.ListIndexFuncValues(byValues) },
			func() { _, _ = x.ByIndex(byValues, "x") },
			func() { _, _ = x.IndexKeys(byValues, "x") },
			func() { _, _ = x.Index(byValues, pod("", "", "x,y")) },
			func() { x.List(); x.ListKeys(); x.LastStoreSyncResourceVersion() },
			func() { _, _, _ = x.Get(pod("3", "", "")); x.GetIndexers() },
		} {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						read()
					}
				}
			})
		}
		for i := range 2000 {
			p := pod(fmt.Sprint(i%10), fmt.Sprint(i), []string{"x", "y", "x,y", ""}[i%4])
			if i%3 == 0 {
				require.NoError(t, x.Delete(p))
			} else {
				require.NoError(t, x.Update(p))
			}
			if i%100 == 0 {
				require.NoError(t, x.Replace([]any{p}, "1"))
			}
		}
		close(stop)
		readers.Wait()
	})
}

func TestB67_IndexersAddedLate(t *testing.T) {
	forBoth(t, func() cache.Indexers { return cache.Indexers{} }, func(t *testing.T, x cache.Indexer) {
		require.NoError(t, x.Add(pod("a", "1", "x")))
		require.NoError(t, x.Add(pod("b", "1", "x,y")))
		require.NoError(t, x.AddIndexers(valueIndexers()))
		objs, err := x.ByIndex(byValues, "x")
		assert.Equal(t, []string{"a", "b"}, names(t, objs, err), "what is there is indexed at once")

		err = x.AddIndexers(cache.Indexers{byValues: failsFor(""), "new": failsFor("")})
		assert.ErrorContains(t, err, "indexer conflict")
		assert.ErrorContains(t, err, byValues)
		assert.Len(t, x.GetIndexers(), 1, "nothing is added when one name is taken")
		_, err = x.ByIndex("new", "v")
		assert.Error(t, err)

		require.NoError(t, x.Update(pod("a", "2", "y")))
		objs, err = x.ByIndex(byValues, "y")
		assert.Equal(t, []string{"a", "b"}, names(t, objs, err), "and kept so")
	})
}
