package manager

import (
	"context"
	"errors"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// A lease that is won while the manager stops starts a group that has stopped.
func TestStoppedGroupStartsNothing(t *testing.T) {
	g := newRunnableGroup("group", context.Background(), logr.Discard(), func(err error) { assert.NoError(t, err) })
	run := make(chan struct{})
	require.NoError(t, g.Add(manager.RunnableFunc(func(context.Context) error {
		close(run)
		return nil
	}), nil))
	require.NoError(t, g.Stop(t.Context()))
	assert.ErrorIs(t, g.Start(t.Context()), errGroupStopped)
	assert.False(t, g.started)
	select {
	case <-run:
		t.Fatal("it ran")
	default:
	}
	assert.NoError(t, g.Stop(t.Context()), "a second stop has nothing to do")
}

// At the very end of the grace period a group that has stopped is not one that still runs.
func TestAwaitPrefersDone(t *testing.T) {
	done, late := make(chan struct{}), errors.New("late")
	close(done)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	for range 100 {
		require.NoError(t, await(ctx, done, nil))
	}
	assert.Equal(t, late, await(ctx, nil, nil))
}
