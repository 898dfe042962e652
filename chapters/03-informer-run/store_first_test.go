package informer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

// A handler passes on a key, and whoever gets the key reads the store: it must be
// at least as new as what the handler was told.
func TestStoreIsWrittenBeforeHandlersAreTold(t *testing.T) {
	a1, a2 := podAt("a", "1"), podAt("a", "2")
	for name, tc := range map[string]struct {
		stored []any
		delta  cache.Delta
		want   []any
	}{
		"add":    {nil, cache.Delta{Type: cache.Added, Object: a1}, []any{a1}},
		"update": {[]any{a1}, cache.Delta{Type: cache.Updated, Object: a2}, []any{a2}},
		"delete": {[]any{a1}, cache.Delta{Type: cache.Deleted, Object: a1}, []any{}},
		"list": {[]any{a1}, cache.Delta{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: []any{a2}}},
			[]any{a2}},
	} {
		t.Run(name, func(t *testing.T) {
			store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
			require.NoError(t, store.Replace(tc.stored, ""))
			told := 0
			look := func() {
				told++
				assert.Equal(t, tc.want, store.List(), "what a handler finds in the store when it is told")
			}
			h := cache.ResourceEventHandlerFuncs{
				AddFunc:    func(any) { look() },
				UpdateFunc: func(any, any) { look() },
				DeleteFunc: func(any) { look() },
			}
			require.NoError(t, NaiveHandleDeltas(h, store, []cache.Delta{tc.delta}, false))
			assert.Equal(t, 1, told)
		})
	}
}
