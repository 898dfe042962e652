package informermap

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
)

// subCache is a cache whose Start and sync are as told.
type subCache struct {
	informertest.FakeInformers
	started chan struct{}
	err     error // returned from Start at once
	synced  bool
}

func (s *subCache) Start(ctx context.Context) error {
	if s.err != nil {
		return s.err
	}
	close(s.started)
	<-ctx.Done()
	return ctx.Err()
}

func (s *subCache) WaitForCacheSync(context.Context) bool { return s.synced }

func TestB14_FailedStartOfOneSubCacheStopsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errBroken := errors.New("broken")
		s := &subCaches{all: map[string]cache.Cache{
			"a": &subCache{started: make(chan struct{})},
			"b": &subCache{err: errBroken},
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := s.Start(ctx)
		require.ErrorIs(t, err, errBroken)
		require.EqualError(t, err, "failed to start the cache for b: broken")
		require.NoError(t, ctx.Err(), "b's failure ends the others, not the context of Start")
	})

	ctx, cancel := context.WithCancel(context.Background())
	a := &subCache{started: make(chan struct{})}
	s := &subCaches{all: map[string]cache.Cache{"a": a}}
	ended := make(chan error)
	go func() { ended <- s.Start(ctx) }()
	<-a.started
	require.ErrorIs(t, s.Start(context.Background()), errStartedTwice)
	cancel()
	require.NoError(t, <-ended, "a stop from outside is no failure")
}

func TestSubCachesAreSyncedWhenAllAre(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		synced []bool
		want   bool
	}{
		"all":  {"nothing is missing", []bool{true, true}, true},
		"some": {"half a cache answers wrongly", []bool{true, false}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &subCaches{all: map[string]cache.Cache{}}
			for n, synced := range tc.synced {
				s.all[string(rune('a'+n))] = &subCache{synced: synced}
			}
			assert.Equal(t, tc.want, s.WaitForCacheSync(context.Background()), tc.reason)
		})
	}
}
