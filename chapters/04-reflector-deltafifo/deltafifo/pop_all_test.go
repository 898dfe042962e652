package deltafifo

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

type popAller interface {
	cache.Queue
	PopAll(func([]cache.Delta, bool) error) error
}

// bothKinds runs a test on a DeltaFIFO and on both kinds of InOrder.
func bothKinds(t *testing.T, test func(t *testing.T, kind string, make func(k *known, logger *klog.Logger) popAller)) {
	kinds := map[string]func(k *known, logger *klog.Logger) popAller{
		"DeltaFIFO": func(k *known, l *klog.Logger) popAller {
			return New(Options{KeyFunction: itemKey, KnownObjects: k, EmitDeltaTypeReplaced: true, Logger: l})
		},
		"InOrder": func(k *known, l *klog.Logger) popAller {
			return NewInOrder(InOrderOptions{KeyFunction: itemKey, KnownObjects: k, Logger: l})
		},
		"InOrder atomic": func(_ *known, l *klog.Logger) popAller {
			return NewInOrder(InOrderOptions{KeyFunction: itemKey, Atomic: true, Logger: l})
		},
	}
	for kind, create := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, kind, create) })
		})
	}
}

func emptyKnown() *known { return &known{items: map[string]item{}} }

func it(key string, version int) item { return item{Key: key, Version: version} }

// Which calls wait for a batch that is being processed: those that would miss
// what is in it.
func TestPopAllLetsInWhatNeedsNoAnswer(t *testing.T) {
	calls := map[string]func(q cache.Queue) error{
		"Add":     func(q cache.Queue) error { return q.Add(it("a", 2)) },
		"Update":  func(q cache.Queue) error { return q.Update(it("a", 2)) },
		"Delete":  func(q cache.Queue) error { return q.Delete(it("a", 2)) },
		"Replace": func(q cache.Queue) error { return q.Replace(nil, "2") },
		"Resync":  func(q cache.Queue) error { return q.Resync() },
	}
	waits := map[string]string{
		"DeltaFIFO":      "Delete Replace Resync",
		"InOrder":        "Replace Resync",
		"InOrder atomic": "",
	}
	for call, do := range calls {
		t.Run(call, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, kind string, create func(*known, *klog.Logger) popAller) {
				k := emptyKnown()
				q := create(k, nil)
				require.NoError(t, q.Add(it("a", 1)))
				returned := make(chan struct{})
				require.NoError(t, q.PopAll(func(deltas []cache.Delta, _ bool) error {
					go func() {
						defer close(returned)
						assert.NoError(t, do(q))
					}()
					synctest.Wait()
					select {
					case <-returned:
						assert.NotContains(t, waits[kind], call, "what is in the batch is not known yet")
					default:
						assert.Contains(t, waits[kind], call, "must not wait for the consumer")
					}
					k.apply(deltas)
					return nil
				}))
				<-returned
			})
		})
	}
}

// The reason for the waiting: an object that is neither queued nor known while
// its batch is processed must not lose its deletion.
func TestPopAllLosesNoDeletion(t *testing.T) {
	removals := map[string]func(q cache.Queue) error{
		"by watch":  func(q cache.Queue) error { return q.Delete(it("a", 2)) },
		"by relist": func(q cache.Queue) error { return q.Replace(nil, "2") },
	}
	for how, remove := range removals {
		t.Run(how, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, kind string, create func(*known, *klog.Logger) popAller) {
				k := emptyKnown()
				q := create(k, nil)
				require.NoError(t, q.Add(it("a", 1)))
				removed := make(chan error, 1)
				require.NoError(t, q.PopAll(func(deltas []cache.Delta, _ bool) error {
					go func() { removed <- remove(q) }()
					synctest.Wait()
					q.Close() // what came before is still to be processed
					k.apply(deltas)
					return nil
				}))
				require.NoError(t, q.PopAll(func(deltas []cache.Delta, _ bool) error {
					k.apply(deltas)
					return nil
				}))
				require.NoError(t, <-removed)
				assert.Empty(t, k.items)
			})
		})
	}
}

// The consumer goes on behind a call that waited for it and queued nothing.
func TestConsumerGoesOnBehindACallThatWaited(t *testing.T) {
	bothKinds(t, func(t *testing.T, _ string, create func(*known, *klog.Logger) popAller) {
		q := create(emptyKnown(), nil)
		require.NoError(t, q.Add(it("a", 1)))
		require.NoError(t, q.PopAll(func([]cache.Delta, bool) error {
			go func() { assert.NoError(t, q.Delete(it("unknown", 1))) }()
			synctest.Wait()
			return q.Add(it("b", 1))
		}))
		require.NoError(t, q.PopAll(func([]cache.Delta, bool) error { return nil }))
	})
}

func TestEveryWriteWakesTheConsumer(t *testing.T) {
	writes := map[string]func(q cache.Queue) error{
		"Add":     func(q cache.Queue) error { return q.Add(it("a", 1)) },
		"Update":  func(q cache.Queue) error { return q.Update(it("a", 1)) },
		"Delete":  func(q cache.Queue) error { return q.Delete(it("known", 1)) },
		"Replace": func(q cache.Queue) error { return q.Replace([]any{it("a", 1)}, "1") },
		"Resync":  func(q cache.Queue) error { return q.Resync() },
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, _ string, create func(*known, *klog.Logger) popAller) {
				q := create(&known{items: map[string]item{"known": it("known", 1)}}, nil)
				got := make(chan int, 1)
				go func() {
					_ = q.PopAll(func(deltas []cache.Delta, _ bool) error { got <- len(deltas); return nil })
				}()
				synctest.Wait()
				require.NoError(t, write(q))
				synctest.Wait()
				assert.Len(t, got, 1)
				q.Close()
			})
		})
	}
}

func TestPopAllTakesTheInitialListAlone(t *testing.T) {
	bothKinds(t, func(t *testing.T, kind string, create func(*known, *klog.Logger) popAller) {
		k := emptyKnown()
		q := create(k, nil)
		require.False(t, q.HasSynced(), "nothing came yet")
		require.NoError(t, q.Replace([]any{it("a", 1), it("b", 2)}, "2"))
		require.NoError(t, q.Add(it("c", 3)))
		var log []string
		process := func(deltas []cache.Delta, initial bool) error {
			select {
			case <-q.HasSyncedChecker().Done():
				assert.False(t, initial, "done before the initial list was processed")
			default:
				assert.True(t, initial, "must be done by now")
			}
			assert.Equal(t, !initial, q.HasSynced())
			log = append(log, fmt.Sprintf("%s%t", show(deltas), initial))
			k.apply(deltas)
			return errors.New("an error doesn't hold the sync up")
		}
		require.Error(t, q.PopAll(process))
		require.True(t, q.HasSynced())
		require.Error(t, q.PopAll(process))
		want := []string{"Replaced{Key:a Version:1 Transformed:false} Replaced{Key:b Version:2 Transformed:false} true", "Added{Key:c Version:3 Transformed:false} false"}
		if kind == "InOrder atomic" {
			want[0] = "ReplacedAll{ResourceVersion:2 Objects:[{Key:a Version:1 Transformed:false} {Key:b Version:2 Transformed:false}]} true"
		}
		assert.Equal(t, want, log)
	})
}

// A later delta of a key moves forward in a DeltaFIFO, and doesn't in an InOrder.
func TestOrder(t *testing.T) {
	bothKinds(t, func(t *testing.T, kind string, create func(*known, *klog.Logger) popAller) {
		q := create(emptyKnown(), nil)
		for _, i := range []item{it("b", 80), it("a", 90), it("b", 100)} {
			require.NoError(t, q.Update(i))
		}
		want := []int{80, 90, 100}
		if kind == "DeltaFIFO" {
			want = []int{80, 100, 90}
		}
		require.NoError(t, q.PopAll(func(deltas []cache.Delta, _ bool) error {
			var got []int
			for _, d := range deltas {
				got = append(got, d.Object.(item).Version)
			}
			assert.Equal(t, want, got)
			return nil
		}))
	})
}

func TestPopAllPanicLeavesTheQueueUsable(t *testing.T) {
	bothKinds(t, func(t *testing.T, _ string, create func(*known, *klog.Logger) popAller) {
		q := create(emptyKnown(), nil)
		require.NoError(t, q.Replace([]any{it("a", 1)}, "1"))
		require.PanicsWithValue(t, "boom", func() {
			_ = q.PopAll(func([]cache.Delta, bool) error { panic("boom") })
		})
		assert.True(t, q.HasSynced(), "as with client-go's, what was popped is processed")
		require.NoError(t, q.Replace([]any{it("b", 1)}, "2"), "must not wait for a batch that is gone")
		require.NoError(t, q.PopAll(func([]cache.Delta, bool) error { return nil }))
	})
}

func TestPopWaitsForClose(t *testing.T) {
	bothKinds(t, func(t *testing.T, _ string, create func(*known, *klog.Logger) popAller) {
		q := create(emptyKnown(), nil)
		ended := make(chan error, 2)
		go func() { ended <- q.PopAll(nil) }()
		go func() { _, err := q.Pop(nil); ended <- err }()
		synctest.Wait()
		require.Empty(t, ended, "an empty queue makes its consumer wait")
		q.Close()
		assert.ErrorIs(t, <-ended, cache.ErrFIFOClosed)
		assert.ErrorIs(t, <-ended, cache.ErrFIFOClosed)
		assert.True(t, q.(interface{ IsClosed() bool }).IsClosed())
	})
}

// A stuck consumer stops the producer in the end, and says so.
func TestStuckConsumerHoldsProducersAndIsNamed(t *testing.T) {
	bothKinds(t, func(t *testing.T, kind string, create func(*known, *klog.Logger) popAller) {
		var mu sync.Mutex
		var lines []string
		logger := funcr.New(func(_, args string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, args)
		}, funcr.Options{})
		q := create(emptyKnown(), &logger)
		require.NoError(t, q.Add(it("a", 0)))
		added := make(chan int, 2*maxBeside)
		require.NoError(t, q.PopAll(func([]cache.Delta, bool) error {
			go func() {
				for v := range maxBeside + 10 {
					assert.NoError(t, q.Update(it("a", v)))
					added <- v
				}
			}()
			time.Sleep(25 * time.Second)
			assert.Len(t, added, maxBeside, "then Update waits")
			mu.Lock()
			defer mu.Unlock()
			require.Len(t, lines, 2, "one line every ten seconds")
			assert.Contains(t, lines[1], `"call"="Updated" "since"="20s"`)
			return nil
		}))
		// While producers wait, the consumer doesn't overtake them again and again.
		require.NoError(t, q.PopAll(func(deltas []cache.Delta, _ bool) error {
			assert.Greater(t, len(deltas), maxBeside)
			return nil
		}))
		synctest.Wait()
		assert.Len(t, added, maxBeside+10)
		mu.Lock()
		defer mu.Unlock()
		assert.False(t, strings.Contains(strings.Join(lines, ""), "30s"), "silent again once nobody waits")
	})
}

// A batch that runs while the first list comes is no part of that list.
func TestBatchBeforeTheInitialListDoesNotSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewInOrder(InOrderOptions{KeyFunction: itemKey, Atomic: true, EmitDeltaTypeBookmark: true})
		require.NoError(t, q.Bookmark("1"))
		require.NoError(t, q.PopAll(func([]cache.Delta, bool) error {
			return q.Replace([]any{it("a", 1)}, "2")
		}))
		assert.False(t, q.HasSynced())
		require.NoError(t, q.PopAll(func([]cache.Delta, bool) error { return nil }))
		assert.True(t, q.HasSynced())
	})
}

// The array that PopAll lends comes back empty, and an initial list's is let go.
func TestInOrderReusesArrays(t *testing.T) {
	q := NewInOrder(InOrderOptions{KeyFunction: itemKey, Atomic: true})
	var lent []cache.Delta
	keep := func(deltas []cache.Delta, _ bool) error { lent = deltas; return nil }
	require.NoError(t, q.Add(it("a", 1)))
	require.NoError(t, q.PopAll(keep))
	assert.Nil(t, lent[0].Object, "must not keep the object alive")
	first := &lent[0]
	require.NoError(t, q.Add(it("a", 2)))
	require.NoError(t, q.PopAll(keep))
	require.NoError(t, q.Add(it("a", 3)))
	require.NoError(t, q.PopAll(keep))
	assert.Same(t, first, &lent[0], "two arrays take turns")

	for v := range maxBeside * 2 {
		require.NoError(t, q.Add(it("a", v)))
	}
	require.NoError(t, q.PopAll(keep))
	assert.NotNil(t, lent[0].Object, "a long array is not used again")
	assert.Nil(t, q.spare)
}
