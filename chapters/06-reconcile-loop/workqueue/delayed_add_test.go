package workqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
)

// Whatever is known of an item, with AddReplacesDelayed it comes once after an Add,
// and once more if it was in work.
func TestAddReplacesDelayedWhateverIsKnown(t *testing.T) {
	type queue interface {
		Add(string)
		AddAfter(string, time.Duration)
		Get() (string, bool)
	}
	for name, tc := range map[string]struct {
		before func(q queue)
		want   int // how often it is handed out from now on
		reason string
	}{
		"nothing":             {func(queue) {}, 1, "it is queued"},
		"queued":              {func(q queue) { q.Add("x") }, 1, "it is queued already"},
		"in work":             {func(q queue) { q.Add("x"); q.Get() }, 1, "it comes after Done"},
		"waiting":             {func(q queue) { q.AddAfter("x", time.Minute) }, 1, "the wait is called off"},
		"queued and waiting":  {func(q queue) { q.Add("x"); q.AddAfter("x", time.Minute) }, 1, "the wait is called off, and it stays queued"},
		"in work and waiting": {func(q queue) { q.Add("x"); q.Get(); q.AddAfter("x", time.Minute) }, 1, "the wait is called off, and it stays in work"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.NewDelaying[string](workqueue.Config{AddReplacesDelayed: true})
				tc.before(q)
				q.Add("x")
				q.Done("x") // of the item that was in work; of another one it takes no notice
				got := 0
				for range 3 { // now, and after the time that was asked for
					for q.Len() > 0 {
						item, _ := q.Get()
						require.Equal(t, "x", item)
						q.Done(item)
						got++
					}
					time.Sleep(time.Minute)
					synctest.Wait()
				}
				assert.Equal(t, tc.want, got, tc.reason)
				q.ShutDown()
			})
		})
	}
}
