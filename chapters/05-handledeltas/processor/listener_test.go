package processor

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// The two arrays that a listener swaps stay as small as what comes at once: they
// neither keep what was delivered, nor what one bad hour made of them.
func TestListenersArraysStaySmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var blocked chan struct{}
		l := newListener(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-blocked }}, t.Name(), klog.Background())
		go l.run()
		defer synctest.Wait()
		defer close(l.stopped)
		put := func(batches int) {
			for range batches {
				l.put(batch{notifications: []notification{{verb: add}}})
			}
		}
		size := func() int {
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			assert.Empty(t, l.queue, "all was taken")
			return cap(l.queue)
		}

		blocked = make(chan struct{})
		close(blocked)
		for range 1000 {
			put(1)
			size()
		}
		assert.Less(t, size(), 10)

		blocked = make(chan struct{})
		put(1)
		synctest.Wait()
		put(3 * manyWaiting)
		close(blocked)
		for range 3 { // until both arrays have been swapped
			size()
			put(1)
		}
		assert.LessOrEqual(t, size(), manyWaiting)
	})
}
