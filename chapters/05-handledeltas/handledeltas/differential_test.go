package handledeltas_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/handledeltas"
)

const programs = 2000

// Batches are a matter of speed: whatever the store can, and however the deltas
// are cut, store and handler end up with the same.
func TestDifferential(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() == checks.DefValue {
		require.NoError(t, flag.Set("rapid.checks", fmt.Sprint(programs)))
		defer func() { require.NoError(t, flag.Set("rapid.checks", checks.DefValue)) }()
	}
	rapid.Check(t, func(t *rapid.T) {
		version := 0
		drawPod := func(t *rapid.T) any {
			version++
			return pod(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), fmt.Sprint(version))
		}
		deltas := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cache.Delta {
			d := cache.Delta{Type: rapid.SampledFrom([]cache.DeltaType{
				cache.Added, cache.Updated, cache.Replaced, cache.Sync, cache.Deleted, cache.Deleted,
				cache.ReplacedAll, cache.SyncAll, cache.Bookmark, "unknown",
			}).Draw(t, "type")}
			switch d.Type {
			case cache.ReplacedAll:
				version++
				d.Object = cache.ReplacedAllInfo{ResourceVersion: fmt.Sprint(version), Objects: rapid.SliceOfNDistinct(rapid.Custom(drawPod), 0, 3, describeName).Draw(t, "list")}
			case cache.SyncAll:
				d.Object = cache.SyncAllInfo{}
			case cache.Bookmark:
				version++
				d.Object = cache.BookmarkInfo{ResourceVersion: fmt.Sprint(version)}
			default:
				d.Object = drawPod(t)
				if rapid.IntRange(0, 19).Draw(t, "bad") == 0 {
					d.Object = 7
				}
			}
			return d
		}), 0, 20).Draw(t, "deltas")
		cut := rapid.IntRange(0, len(deltas)).Draw(t, "cut")

		type outcome struct {
			events, stored []string
			version        string
		}
		run := func(store string, parts ...[]cache.Delta) outcome {
			s := stores[store]()
			h := &recorder{}
			for _, part := range parts {
				_ = handledeltas.HandleDeltas(h, s, part, false)
			}
			return outcome{sortedRuns(h.events), contents(s), s.LastStoreSyncResourceVersion()}
		}
		var ones [][]cache.Delta
		for i := range deltas {
			ones = append(ones, deltas[i:i+1])
		}
		want := run("upstream", ones...)
		require.Equal(t, want, run("ours", deltas))
		require.Equal(t, want, run("ours", deltas[:cut], deltas[cut:]))
		require.Equal(t, want, run("plain", deltas))
	})
}

func describeName(obj any) string {
	key, _ := cache.MetaNamespaceKeyFunc(obj)
	return key
}

// sortedRuns takes away the order that a store's List and ListKeys do not have:
// that of the tombstones of one ReplacedAll, and that of one SyncAll.
func sortedRuns(events []string) []string {
	sorted := slices.Clone(events)
	for from := 0; from < len(sorted); {
		to := from
		for to < len(sorted) && kind(sorted[to]) == kind(sorted[from]) {
			to++
		}
		if kind(sorted[from]) != "" {
			slices.Sort(sorted[from:to])
		}
		from = max(to, from+1)
	}
	return sorted
}

// kind is "" for an event whose place is certain.
func kind(event string) string {
	var old, obj string
	if strings.HasPrefix(event, "delete tombstone") {
		return "gone"
	}
	if n, _ := fmt.Sscanf(event, "update %s to %s", &old, &obj); n == 2 && old == obj {
		return "sync"
	}
	return ""
}
