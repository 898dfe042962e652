package workqueue_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/queuetest"
)

// What a controller builds on: many adds are one, nobody else is given what is in
// work, and what was added meanwhile comes once more, because the work may have
// begun before the change.
func TestItemAddedInWorkComesOnceMore(t *testing.T) {
	onBoth(t, func(t *testing.T, newQueue func() queuetest.Queue) {
		q := newQueue()
		defer q.ShutDown()
		q.Add("x")
		q.Add("x")
		assert.Equal(t, 1, q.Len(), "x was added twice and is queued once")
		q.Get()
		q.Add("x")
		q.Add("x")
		assert.Equal(t, 0, q.Len(), "x is in work: no second worker gets it")
		q.Done("x")
		assert.Equal(t, 1, q.Len(), "x was added while it was in work: it comes once more")
	})
}
