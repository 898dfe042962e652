package workqueue_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	upstream "k8s.io/client-go/util/workqueue"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
)

// A caller of client-go may bring the store below a queue, the queue below a floor, or a logger. Ours has
// none of these: the floors come together, first in, first out. An option that client-go adds shows up here.
func TestOptionsThatClientGoHasAlone(t *testing.T) {
	theirs := map[string]bool{}
	for _, config := range []any{
		upstream.TypedQueueConfig[string]{}, upstream.TypedDelayingQueueConfig[string]{}, upstream.TypedRateLimitingQueueConfig[string]{},
	} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(config)) {
			theirs[field.Name] = true
		}
	}
	var added []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[workqueue.Config]()) {
		if !theirs[field.Name] {
			added = append(added, field.Name)
		}
		delete(theirs, field.Name)
	}
	assert.Equal(t, []string{"DelayingQueue", "Logger", "Queue"}, slices.Sorted(maps.Keys(theirs)))
	assert.Equal(t, []string{"AddReplacesDelayed"}, added)
}
