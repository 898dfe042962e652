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
			add, remove string
			left        []string
		}{
			{"a", "", []string{"a"}},
			{"b", "", []string{"a", "b"}},
			{"c", "", []string{"a", "b", "c"}},
			{"", "a", []string{"b", "c"}},
			{"d", "", []string{"b", "c", "d"}},
			{"", "c", []string{"b", "d"}},
		} {
			if step.add != "" {
				require.NoError(t, x.Add(pod(step.add, "1", "x")))
			} else {
				require.NoError(t, x.Delete(pod(step.remove, "1", "x")))
			}
			objs, err := x.ByIndex(byValues, "x")
			assert.Equal(t, step.left, names(t, objs, err), "after adding %q or removing %q", step.add, step.remove)
		}
	})
}
