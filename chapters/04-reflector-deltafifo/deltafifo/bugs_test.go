package deltafifo

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// onBoth runs a regression on our queue and on client-go's.
func onBoth(t *testing.T, k cache.KeyListerGetter, transformer cache.TransformFunc, test func(t *testing.T, q cache.Queue)) {
	t.Run("ours", func(t *testing.T) {
		test(t, New(Options{KnownObjects: k, EmitDeltaTypeReplaced: true, Transformer: transformer}))
	})
	t.Run("client-go", func(t *testing.T) {
		test(t, cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: k, EmitDeltaTypeReplaced: true, Transformer: transformer}))
	})
}

func pod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

func knows(pods ...*corev1.Pod) cache.Store {
	s := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for _, p := range pods {
		if err := s.Add(p); err != nil {
			panic(err)
		}
	}
	return s
}

// popped renders everything queued, key after key.
func popped(t *testing.T, q cache.Queue) []string {
	t.Helper()
	q.Close()
	var all []string
	for {
		_, err := q.Pop(func(obj any, _ bool) error {
			line := ""
			for _, d := range obj.(cache.Deltas) {
				switch o := d.Object.(type) {
				case cache.DeletedFinalStateUnknown:
					p, _ := o.Obj.(*corev1.Pod)
					line += fmt.Sprintf("%s tombstone{%s %s} ", d.Type, o.Key, p.GetResourceVersion())
				case *corev1.Pod:
					line += fmt.Sprintf("%s %s@%s ", d.Type, o.Name, o.ResourceVersion)
				}
			}
			all = append(all, line)
			return nil
		})
		if err != nil {
			require.ErrorIs(t, err, cache.ErrFIFOClosed)
			return all
		}
	}
}

func TestB45_RecreationBehindAQueuedDeleteIsKept(t *testing.T) {
	onBoth(t, knows(pod("a", "1")), nil, func(t *testing.T, q cache.Queue) {
		require.NoError(t, q.Delete(pod("a", "1")))
		require.NoError(t, q.Replace([]any{pod("a", "2")}, "2"))
		assert.Equal(t, []string{"Deleted a@1 Replaced a@2 "}, popped(t, q))
	})
}

func TestB46_RelistDeletesWhatIsOnlyQueued(t *testing.T) {
	onBoth(t, knows(), nil, func(t *testing.T, q cache.Queue) {
		require.NoError(t, q.Add(pod("a", "1")))
		require.NoError(t, q.Update(pod("a", "2")))
		require.NoError(t, q.Replace([]any{}, "9"))
		require.NoError(t, q.Add(pod("b", "3")))
		require.NoError(t, q.Delete(pod("b", "4")))
		require.NoError(t, q.Replace([]any{}, "9"))
		assert.Equal(t, []string{
			"Added a@1 Updated a@2 Deleted tombstone{a 2} ",
			"Added b@3 Deleted b@4 ",
		}, popped(t, q), "the newest queued object is buried, once, and no tombstone in a tombstone")
	})
}

func TestB48_ResyncBringsNothingOldBehindSomethingNew(t *testing.T) {
	onBoth(t, knows(pod("a", "1"), pod("b", "1")), nil, func(t *testing.T, q cache.Queue) {
		require.NoError(t, q.Update(pod("a", "2")))
		require.NoError(t, q.Resync())
		assert.Equal(t, []string{"Updated a@2 ", "Sync b@1 "}, popped(t, q))
	})
}

// Resync races with Update, Delete and a consumer of any kind: the versions of a
// key that the consumer sees never go down.
func TestB48_VersionsNeverGoDown(t *testing.T) {
	type consumer func(q cache.Queue, see func([]cache.Delta)) error
	pop := func(q cache.Queue, see func([]cache.Delta)) error {
		_, err := q.Pop(func(obj any, _ bool) error { see(obj.(cache.Deltas)); return nil })
		return err
	}
	popAll := func(q cache.Queue, see func([]cache.Delta)) error {
		return q.(popAller).PopAll(func(deltas []cache.Delta, _ bool) error { see(deltas); return nil })
	}
	tests := map[string]struct {
		queue   func(k *known) cache.Queue
		consume consumer
	}{
		"DeltaFIFO, Pop":    {func(k *known) cache.Queue { return New(Options{KeyFunction: itemKey, KnownObjects: k}) }, pop},
		"DeltaFIFO, PopAll": {func(k *known) cache.Queue { return New(Options{KeyFunction: itemKey, KnownObjects: k}) }, popAll},
		"InOrder, PopAll": {func(k *known) cache.Queue {
			return NewInOrder(InOrderOptions{KeyFunction: itemKey, KnownObjects: k})
		}, popAll},
		"client-go": {func(k *known) cache.Queue {
			return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: itemKey, KnownObjects: k})
		}, pop},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := emptyKnown()
			q := tc.queue(k)
			var producers, consumers sync.WaitGroup
			producers.Go(func() {
				for v := range 3000 {
					key := string(rune('a' + rand.IntN(4)))
					switch rand.IntN(4) {
					case 0:
						assert.NoError(t, q.Delete(it(key, v)))
					case 1:
						assert.NoError(t, q.Replace([]any{it("a", v), it("b", v)}, ""))
					default:
						assert.NoError(t, q.Update(it(key, v)))
					}
				}
			})
			producers.Go(func() {
				for range 1000 {
					assert.NoError(t, q.Resync())
				}
			})
			consumers.Go(func() {
				newest := map[string]int{}
				for {
					err := tc.consume(q, func(deltas []cache.Delta) {
						for _, d := range deltas {
							if i, ok := d.Object.(item); ok {
								assert.GreaterOrEqual(t, i.Version, newest[i.Key])
								newest[i.Key] = i.Version
							}
						}
						k.apply(deltas)
					})
					if err != nil {
						return
					}
				}
			})
			producers.Wait()
			require.NoError(t, q.Replace([]any{it("d", 9999)}, ""))
			q.Close()
			consumers.Wait()
			assert.Equal(t, map[string]item{"d": it("d", 9999)}, k.items, "nothing was lost on the way")
		})
	}
}

func TestB49_DeleteRightBehindAddIsKept(t *testing.T) {
	onBoth(t, knows(), nil, func(t *testing.T, q cache.Queue) {
		require.NoError(t, q.Add(pod("a", "1")))
		require.NoError(t, q.Delete(pod("a", "2")))
		require.NoError(t, q.Delete(pod("x", "2")))
		assert.Equal(t, []string{"Added a@1 Deleted a@2 "}, popped(t, q), "x is neither queued nor known")
	})
}

func TestB50_MissedDeletionCarriesTheLastKnownObject(t *testing.T) {
	onBoth(t, knows(pod("a", "1"), pod("b", "1")), nil, func(t *testing.T, q cache.Queue) {
		require.NoError(t, q.Replace([]any{}, "2"))
		require.NoError(t, q.Delete(pod("a", "3")))
		assert.ElementsMatch(t, []string{"Deleted a@3 ", "Deleted tombstone{b 1} "}, popped(t, q),
			"the real last state wins over the tombstone")
	})
}

func TestB52_TransformNeverSeesATombstone(t *testing.T) {
	podsOnly := func(obj any) (any, error) { return obj.(*corev1.Pod), nil }
	onBoth(t, knows(pod("a", "1")), podsOnly, func(t *testing.T, q cache.Queue) {
		require.NoError(t, q.Replace([]any{}, "2"))
		require.NoError(t, q.Add(pod("b", "2")))
		require.NoError(t, q.Replace([]any{}, "3"))
		require.NoError(t, q.Delete(cache.DeletedFinalStateUnknown{Key: "a", Obj: pod("a", "1")}))
		assert.Equal(t, []string{"Deleted tombstone{a 1} ", "Added b@2 Deleted tombstone{b 2} "}, popped(t, q))
	})
}
