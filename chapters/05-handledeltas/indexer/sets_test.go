package indexer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

// Whoever leaves a set in its middle leaves a gap. However it is closed, the
// others must still be found and removed.
func TestObjectsLeaveTheMiddleOfASet(t *testing.T) {
	forBoth(t, valueIndexers, func(t *testing.T, x cache.Indexer) {
		for _, step := range []struct {
			does func(obj any) error
			name string
			left []string
		}{
			{x.Add, "a", []string{"a"}},
			{x.Add, "b", []string{"a", "b"}},
			{x.Add, "c", []string{"a", "b", "c"}},
			{x.Delete, "a", []string{"b", "c"}},
			{x.Add, "d", []string{"b", "c", "d"}},
			{x.Delete, "c", []string{"b", "d"}},
		} {
			require.NoError(t, step.does(pod(step.name, "1", "x")))
			objs, err := x.ByIndex(byValues, "x")
			assert.Equal(t, step.left, names(t, objs, err), "after %s came or went", step.name)
		}
	})
}
