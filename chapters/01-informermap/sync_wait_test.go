package informermap

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

// logged collects the lines that are logged with a context.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) in(ctx context.Context) context.Context {
	return logr.NewContext(ctx, funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, args)
	}, funcr.Options{}))
}

func (l *logged) having(text string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

func TestWaitsSayEveryTenSecondsWhatFor(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New(`User "eve" cannot list resource "pods" in API group ""`))
	for name, tc := range map[string]struct {
		reason   string
		edit     func(*cache.Options)
		notYet   bool
		wait     func(context.Context, cache.Cache) error
		want     []string
		perRound int
	}{
		"read": {
			reason: "the reader learns why it waits", perRound: 1,
			wait: func(ctx context.Context, c cache.Cache) error { return c.Get(ctx, key("a", "x"), &corev1.Pod{}) },
			want: []string{"Still waiting for informers to sync", "/v1, Kind=Pod", `cannot list resource \"pods\"`},
		},
		"read of what is listed, not watched": {
			reason: "a list that fails says why, too", perRound: 1,
			edit: func(o *cache.Options) { o.DefaultEnableWatchBookmarks = ptr.To(false) },
			wait: func(ctx context.Context, c cache.Cache) error { return c.List(ctx, &corev1.PodList{}) },
			want: []string{"pods is forbidden"},
		},
		"sync of the cache": {
			reason: "what is missing is named", perRound: 1,
			wait: func(ctx context.Context, c cache.Cache) error {
				if _, err := c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil {
					return err
				}
				assert.False(t, c.WaitForCacheSync(ctx))
				return nil
			},
			want: []string{"/v1, Kind=Pod", "pods is forbidden"},
		},
		"sync of several caches": {
			reason: "each names what it waits for", perRound: 2,
			edit: func(o *cache.Options) { o.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}} },
			wait: func(ctx context.Context, c cache.Cache) error {
				if _, err := c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil {
					return err
				}
				assert.False(t, c.WaitForCacheSync(ctx))
				return nil
			},
			want: []string{"/v1, Kind=Pod"},
		},
		"start": {
			reason: "a cache that nobody starts", perRound: 1, notYet: true,
			wait: func(ctx context.Context, c cache.Cache) error {
				assert.False(t, c.WaitForCacheSync(ctx))
				return nil
			},
			want: []string{"Still waiting for the cache to be started"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := cachetest.NewAPIServer()
				api.Fail("pods", forbidden)
				c := newOn(t, New, api, tc.edit)
				if !tc.notYet {
					start(t, c)
				}
				var log logged
				err := tc.wait(log.in(within(t, 25*time.Second)), c)
				if err != nil {
					require.True(t, apierrors.IsTimeout(err), "%v", err)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorContains(t, err, "last error: pods is forbidden", "the error says it, too")
				}
				lines := log.having("Still waiting")
				require.Len(t, lines, 2*tc.perRound, tc.reason)
				for _, want := range tc.want {
					assert.Contains(t, lines[0], want, tc.reason)
				}
			})
		})
	}
}

func TestWaitBeforeAnyAnswerSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := cachetest.NewAPIServer()
		release := api.Hold("pods")
		defer release()
		c := newOn(t, New, api, nil)
		start(t, c)
		var log logged
		require.Error(t, c.List(log.in(within(t, 15*time.Second)), &corev1.PodList{}))
		require.Len(t, log.having("/v1, Kind=Pod (no answer yet)"), 1)
	})
}

func TestNobodyWaitsForAnInformerThatNeverSyncs(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		end    func(*testing.T, cache.Cache, func())
		want   error
	}{
		"cache stopped": {"the map's end is the end of its informers", func(_ *testing.T, _ cache.Cache, stop func()) { stop() }, errStopped},
		"informer removed": {"a reader may hold the last reference", func(t *testing.T, c cache.Cache, _ func()) {
			assert.NoError(t, c.RemoveInformer(context.Background(), &corev1.Pod{}))
		}, errRemoved},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := cachetest.NewAPIServer()
				release := api.Hold("pods")
				defer release()
				c := newOn(t, New, api, nil)
				stop := start(t, c)
				read := make(chan error, 1)
				go func() { read <- c.List(context.Background(), &corev1.PodList{}) }()
				synctest.Wait()
				tc.end(t, c, stop)
				require.ErrorIs(t, <-read, tc.want, tc.reason)
			})
		})
	}
	t.Run("asked for after the stop", func(t *testing.T) {
		c := newOn(t, New, cachetest.NewAPIServer(), nil)
		start(t, c)()
		require.ErrorIs(t, c.List(within(t, patience), &corev1.PodList{}), errStopped)
		_, err := c.GetInformer(within(t, patience), &corev1.Node{}, cache.BlockUntilSynced(false))
		require.ErrorIs(t, err, errStopped, "an informer that nobody will run is no use")
	})
}

func TestCacheSyncIncludesInformersThatCameMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := cachetest.NewAPIServer()
		releasePods, releaseNodes := api.Hold("pods"), api.Hold("nodes")
		defer releaseNodes()
		c := newOn(t, New, api, nil)
		start(t, c)
		_, err := c.GetInformer(within(t, patience), &corev1.Pod{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		synced := make(chan bool, 1)
		go func() { synced <- c.WaitForCacheSync(within(t, time.Hour)) }()
		synctest.Wait()
		nodes, err := c.GetInformer(within(t, patience), &corev1.Node{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		releasePods()
		synctest.Wait()
		assert.Empty(t, synced, "nodes are still missing")
		releaseNodes()
		assert.True(t, <-synced)
		assert.True(t, nodes.HasSynced())
	})
}

func TestCacheSyncSkipsInformersThatAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := cachetest.NewAPIServer()
		release := api.Hold("pods")
		defer release()
		c := newOn(t, New, api, nil)
		start(t, c)
		_, err := c.GetInformer(within(t, patience), &corev1.Pod{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		synced := make(chan bool, 1)
		go func() { synced <- c.WaitForCacheSync(within(t, time.Hour)) }()
		synctest.Wait()
		require.NoError(t, c.RemoveInformer(within(t, patience), &corev1.Pod{}))
		assert.True(t, <-synced, "what is not wanted any more can't keep the cache from being synced")
	})
}
