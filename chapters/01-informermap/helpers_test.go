package informermap

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

const patience = 20 * time.Second

// newOn makes a cache on an API server in memory.
func newOn(t *testing.T, newCache cache.NewCacheFunc, api *cachetest.APIServer, edit func(*cache.Options)) cache.Cache {
	t.Helper()
	opts := api.Options()
	if edit != nil {
		edit(&opts)
	}
	c, err := newCache(api.Config(), opts)
	require.NoError(t, err)
	return c
}

// start runs a cache until stop is called or the test ends.
func start(t *testing.T, c cache.Cache) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	require.True(t, c.WaitForCacheSync(within(t, patience)))
	return stop
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func key(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}
