package informermap

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

func BenchmarkReads(b *testing.B) {
	api := cachetest.NewAPIServer()
	for n := range 1000 {
		api.Put(pod("a", fmt.Sprint(n)))
	}
	for name, newCache := range both {
		c, err := newCache(api.Config(), api.Options())
		require.NoError(b, err)
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		go c.Start(ctx)
		require.True(b, c.WaitForCacheSync(ctx))
		require.NoError(b, c.Get(ctx, key("a", "1"), &corev1.Pod{}))
		b.Run("Get/"+name, func(b *testing.B) {
			for b.Loop() {
				_ = c.Get(ctx, key("a", "1"), &corev1.Pod{})
			}
		})
		b.Run("List/"+name, func(b *testing.B) {
			for b.Loop() {
				_ = c.List(ctx, &corev1.PodList{}, client.InNamespace("a"))
			}
		})
		b.Run("ListShared/"+name, func(b *testing.B) {
			for b.Loop() {
				_ = c.List(ctx, &corev1.PodList{}, client.UnsafeDisableDeepCopy)
			}
		})
	}
}
