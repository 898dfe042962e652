package manager_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/manager"
)

// A group starts when the one before it is ready. What can be seen of it: who runs while the caches fill,
// who runs while the lease is another's, who runs in the end.
func TestGroupsStartAndStopInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		synctest.Test(t, func(t *testing.T) {
			j, synced, lock := &journal{}, make(chan struct{}), heldByOther()
			lock.journal = j
			mgr := make1(t, n, offline(withCache(&fakeCache{journal: j, synced: synced}), withLock(lock)))
			require.NoError(t, mgr.Add(&warm{noted{"leader", j, true}}))
			require.NoError(t, mgr.Add(&noted{"others", j, false}))
			require.NoError(t, mgr.Add(&notedWebhooks{noted: noted{"webhooks", j, false}}))

			r := start(t, mgr)
			synctest.Wait()
			assert.ElementsMatch(t, []string{"start webhooks", "start caches"}, j.all(), "the caches fill")
			close(synced)
			synctest.Wait()
			assert.ElementsMatch(t, []string{"start others", "start warmup"}, j.all()[2:], "the lease is another's")
			lock.free()
			<-mgr.Elected()
			synctest.Wait()
			assert.Equal(t, []string{"start leader"}, j.all()[4:])

			require.NoError(t, r.stop())
			var stops []string
			for _, line := range j.all()[5:] {
				if line != "stop warmup" { // in parallel, at any place
					stops = append(stops, line)
				}
			}
			assert.Equal(t, []string{"stop others", "stop leader", "stop caches", "stop webhooks", "lease released"}, stops)
			synctest.Wait() // upstream does not wait for the warm-up
			assert.Contains(t, j.all(), "stop warmup")
		})
	})
}

// Upstream stops the warm-up beside the other groups, too, but returns without having waited for it.
func TestStopWaitsForTheWarmup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		mgr := make1(t, ours.New, offline())
		require.NoError(t, mgr.Add(&slowWarm{warm{noted{"leader", j, true}}}))
		r := start(t, mgr)
		<-mgr.Elected()
		require.NoError(t, r.stop())
		assert.NotEqual(t, -1, j.index("warmed"))
	})
}

// slowWarm needs a second to end its warm-up.
type slowWarm struct{ warm }

func (w *slowWarm) Warmup(ctx context.Context) error {
	<-ctx.Done()
	time.Sleep(time.Second)
	w.journal.add("warmed")
	return nil
}

func TestElectedWithoutElection(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		synctest.Test(t, func(t *testing.T) {
			mgr := make1(t, n, offline())
			select {
			case <-mgr.Elected():
				t.Fatal("elected before Start")
			default:
			}
			start(t, mgr)
			<-mgr.Elected()
		})
	})
}

func TestAdd(t *testing.T) {
	onBoth(t, func(t *testing.T, n newManager) {
		t.Run("during start, by a runnable", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &journal{}
				mgr := make1(t, n, offline())
				require.NoError(t, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
					return mgr.Add(&noted{"child", j, true})
				})))
				start(t, mgr)
				synctest.Wait()
				assert.Equal(t, []string{"start child"}, j.all())
			})
		})
		t.Run("after start it starts at once", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &journal{}
				mgr := make1(t, n, offline())
				r := start(t, mgr)
				<-mgr.Elected()
				require.NoError(t, mgr.Add(&noted{"late", j, true}))
				synctest.Wait()
				assert.Equal(t, []string{"start late"}, j.all())
				require.NoError(t, r.stop())
				assert.Equal(t, []string{"start late", "stop late"}, j.all(), "a late runnable is stopped and waited for like any other")
			})
		})
		t.Run("a leader's runnable waits for the election", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &journal{}
				mgr := make1(t, n, offline(withLock(heldByOther())))
				start(t, mgr)
				synctest.Wait()
				require.NoError(t, mgr.Add(&noted{"leader", j, true}))
				require.NoError(t, mgr.Add(&noted{"others", j, false}))
				synctest.Wait()
				assert.Equal(t, []string{"start others"}, j.all())
			})
		})
		t.Run("after stop it is refused", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mgr := make1(t, n, offline())
				r := start(t, mgr)
				<-mgr.Elected()
				require.NoError(t, r.stop())
				err := mgr.Add(&noted{"late", &journal{}, true})
				assert.ErrorContains(t, err, "can't accept new runnable as stop procedure is already engaged")
			})
		})
	})
}

func TestBaseContextReachesRunnables(t *testing.T) {
	type key struct{}
	onBoth(t, func(t *testing.T, n newManager) {
		synctest.Test(t, func(t *testing.T) {
			mgr := make1(t, n, offline(func(o *manager.Options) {
				o.BaseContext = func() context.Context { return context.WithValue(context.Background(), key{}, "value") }
			}))
			seen := make(chan any, 1)
			require.NoError(t, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				seen <- ctx.Value(key{})
				return nil
			})))
			start(t, mgr)
			assert.Equal(t, "value", <-seen)
		})
	})
}

func TestRunnableFails(t *testing.T) {
	broken := errors.New("broken")
	fails := manager.RunnableFunc(func(context.Context) error { return broken })

	onBoth(t, func(t *testing.T, n newManager) {
		t.Run("its error ends the manager, the others are stopped and waited for", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &journal{}
				mgr := make1(t, n, offline())
				require.NoError(t, mgr.Add(&noted{"others", j, false}))
				require.NoError(t, mgr.Add(fails))
				r := start(t, mgr)
				assert.Equal(t, broken, r.wait(), "the very error, as programs compare it")
				assert.Equal(t, []string{"start others", "stop others"}, j.all())
			})
		})
		t.Run("also with an error that only looks like a stop", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mgr := make1(t, n, offline())
				require.NoError(t, mgr.Add(manager.RunnableFunc(func(context.Context) error { return context.Canceled })))
				assert.ErrorIs(t, start(t, mgr).wait(), context.Canceled, "nobody had stopped it")
			})
		})
		t.Run("one that ends without an error does not end the manager", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mgr := make1(t, n, offline())
				require.NoError(t, mgr.Add(manager.RunnableFunc(func(context.Context) error { return nil })))
				r := start(t, mgr)
				synctest.Wait()
				select {
				case <-r.done:
					t.Fatal("manager ended")
				default:
				}
			})
		})
		t.Run("an error of the stop is no error of Start", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mgr := make1(t, n, offline())
				require.NoError(t, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
					<-ctx.Done()
					return ctx.Err()
				})))
				r := start(t, mgr)
				<-mgr.Elected()
				assert.NoError(t, r.stop())
			})
		})
	})

	t.Run("an error of the stop is logged unless it only says that it was stopped", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{}
			mgr := make1(t, ours.New, offline(func(o *manager.Options) { o.Logger = j.logger() }))
			for _, err := range []error{broken, fmt.Errorf("read: %w", context.Canceled)} {
				require.NoError(t, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
					<-ctx.Done()
					return err
				})))
			}
			r := start(t, mgr)
			<-mgr.Elected()
			require.NoError(t, r.stop())
			assert.NotEqual(t, -1, j.index(`"error"="broken"`))
			assert.Equal(t, -1, j.index("read: context canceled"))
		})
	})

	// Upstream waits for the group on and hangs in these two.
	t.Run("while the caches fill", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			mgr := make1(t, ours.New, offline(withCache(&fakeCache{fails: broken, synced: make(chan struct{})})))
			assert.ErrorIs(t, start(t, mgr).wait(), broken)
		})
	})
	t.Run("cancelled while the caches fill", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			mgr := make1(t, ours.New, offline(withCache(&fakeCache{synced: make(chan struct{})})))
			r := start(t, mgr)
			synctest.Wait()
			assert.NoError(t, r.stop())
		})
	})
	t.Run("a cache that will never be ready", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &neverReady{}
			assert.ErrorContains(t, start(t, make1(t, ours.New, offline(withCache(c)))).wait(), "cluster http://unused.invalid started but will not become ready")
		})
	})
}

// neverReady gives up waiting without being told to.
type neverReady struct{ fakeCache }

func (*neverReady) WaitForCacheSync(context.Context) bool { return false }

func TestGracefulShutdown(t *testing.T) {
	// slow stops this long after it was told to.
	slow := func(d time.Duration, j *journal) manager.Runnable {
		return manager.RunnableFunc(func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(d)
			j.add("stopped")
			return nil
		})
	}
	tests := map[string]struct {
		grace   time.Duration
		needs   time.Duration
		want    string // part of the error
		took    time.Duration
		stopped bool
		reason  string
	}{
		"in time":   {10 * time.Second, 3 * time.Second, "", 3 * time.Second, true, "Start returns as soon as all have stopped"},
		"too slow":  {2 * time.Second, 3 * time.Second, "failed waiting for all runnables to end within grace period of 2s", 2 * time.Second, false, "the grace period bounds the wait"},
		"no grace":  {0, 3 * time.Second, "", 0, false, "0 switches the wait off"},
		"unbounded": {-1, time.Hour, "", time.Hour, true, "a negative period waits for ever"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, n newManager) {
				synctest.Test(t, func(t *testing.T) {
					j := &journal{}
					mgr := make1(t, n, offline(func(o *manager.Options) { o.GracefulShutdownTimeout = &tc.grace }))
					require.NoError(t, mgr.Add(slow(tc.needs, j)))
					r := start(t, mgr)
					<-mgr.Elected()
					began := time.Now()
					err := r.stop()
					assert.Equal(t, tc.took, time.Since(began), tc.reason)
					assert.Equal(t, tc.stopped, len(j.all()) == 1, tc.reason)
					if tc.want == "" {
						assert.NoError(t, err)
					} else {
						assert.ErrorContains(t, err, tc.want)
						assert.ErrorIs(t, err, context.DeadlineExceeded)
					}
					time.Sleep(tc.needs) // in virtual time: let the slow one end before the bubble does
				})
			})
		})
	}

	t.Run("names what still runs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			grace := time.Second
			mgr := make1(t, ours.New, offline(func(o *manager.Options) { o.GracefulShutdownTimeout = &grace }))
			require.NoError(t, mgr.Add(slow(time.Minute, nil)))
			r := start(t, mgr)
			<-mgr.Elected()
			assert.ErrorContains(t, r.stop(), "LeaderElection: still running: [manager.RunnableFunc]")
			time.Sleep(time.Minute)
		})
	})
	t.Run("both errors are kept", func(t *testing.T) {
		onBoth(t, func(t *testing.T, n newManager) {
			synctest.Test(t, func(t *testing.T) {
				broken, grace := errors.New("broken"), time.Second
				mgr := make1(t, n, offline(func(o *manager.Options) { o.GracefulShutdownTimeout = &grace }))
				require.NoError(t, mgr.Add(slow(time.Minute, nil)))
				require.NoError(t, mgr.Add(manager.RunnableFunc(func(context.Context) error { return broken })))
				err := start(t, mgr).wait()
				assert.ErrorIs(t, err, broken)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				time.Sleep(time.Minute)
			})
		})
	})
}
