package informer_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// Parts are foreign code: while one is made it may ask the informer.
func TestPartsMayAskTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var i cache.SharedIndexInformer
		asked := false
		i = informer.NewSharedIndexInformerWithOptions(lwtest.New(), &corev1.Pod{}, informer.Options{
			NewQueue: func(known cache.KeyListerGetter) cache.Queue {
				asked = true
				assert.False(t, i.IsStopped())
				assert.Empty(t, i.LastSyncResourceVersion(), "there is no reflector yet")
				assert.ErrorContains(t, i.SetTransform(nil), "already started")
				return realFIFOs["plain"](known)
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { i.RunWithContext(ctx) })
		synctest.Wait()
		assert.True(t, asked)
		cancel()
		wg.Wait()
	})
}
