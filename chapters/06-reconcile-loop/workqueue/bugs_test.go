package workqueue_test

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	upstream "k8s.io/client-go/util/workqueue"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/queuetest"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/workqueue"
)

// onBoth runs a test on client-go's queue and on ours.
func onBoth(t *testing.T, test func(t *testing.T, newQueue func() queuetest.Queue)) {
	t.Run("upstream", func(t *testing.T) { test(t, upstreamQueue) })
	t.Run("chapters", func(t *testing.T) { test(t, ourQueue) })
}

func TestB76_ExponentialLimiterDoesNotOverflow(t *testing.T) {
	limiters := map[string]func(base, longest time.Duration) upstream.TypedRateLimiter[string]{
		"upstream": upstream.NewTypedItemExponentialFailureRateLimiter[string],
		"chapters": workqueue.NewItemExponentialFailureRateLimiter[string],
	}
	for name, newLimiter := range limiters {
		for _, longest := range []time.Duration{time.Minute, math.MaxInt64} {
			t.Run(name+" up to "+longest.String(), func(t *testing.T) {
				l := newLimiter(5*time.Millisecond, longest)
				for i := range 5000 {
					wait := l.When("x")
					require.Positive(t, wait, "failure %d must wait", i)
					require.LessOrEqual(t, wait, longest, "failure %d must not wait longer than the cap", i)
				}
				assert.Equal(t, longest, l.When("x"), "the cap is reached")
				l.Forget("x")
				assert.Equal(t, 5*time.Millisecond, l.When("x"), "Forget brings it back to the base")
			})
		}
	}
}

func TestB76_SmallestBaseDoesNotOverflow(t *testing.T) {
	l := workqueue.NewItemExponentialFailureRateLimiter[string](1, math.MaxInt64)
	for i := range 200 {
		require.Positive(t, l.When("x"), "failure %d: 2^63 ns is one more than fits", i)
	}
}

func TestB78_ItemsThatAreDoneAreFreed(t *testing.T) {
	queues := map[string]upstream.TypedInterface[*[64]byte]{
		"upstream":          upstream.NewTyped[*[64]byte](),
		"chapters":          workqueue.New[*[64]byte](workqueue.Config{}),
		"chapters, delayed": workqueue.NewDelaying[*[64]byte](workqueue.Config{}),
	}
	for name, q := range queues {
		t.Run(name, func(t *testing.T) {
			defer q.ShutDown()
			freed := make(chan struct{})
			func() {
				item := new([64]byte)
				runtime.AddCleanup(item, func(int) { close(freed) }, 0)
				if delaying, ok := q.(upstream.TypedDelayingInterface[*[64]byte]); ok {
					delaying.AddAfter(item, time.Nanosecond)
				} else {
					q.Add(item)
				}
				got, _ := q.Get()
				q.Done(got)
			}()
			require.Eventually(t, func() bool {
				runtime.GC()
				select {
				case <-freed:
					return true
				default:
					return false
				}
			}, 10*time.Second, time.Millisecond, "the queue holds an item that is done")
			assert.Zero(t, q.Len(), "the queue lives on")
		})
	}
}

// TestManyItemsDueAtOnce has more of them than are moved under one lock.
func TestManyItemsDueAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewDelaying[int](workqueue.Config{})
		for i := range 1000 {
			q.AddAfter(i, time.Minute)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1000, q.Len())
		for want := range 1000 {
			got, _ := q.Get()
			require.Equal(t, want, got, "first come, first served")
		}
		q.ShutDown()
	})
}

func TestB79_AddAndAWaitingAddAfter(t *testing.T) {
	cases := map[string]struct {
		reason        string
		first, second time.Duration
		want          []time.Duration
		wantMerged    []time.Duration
	}{
		"now after later": {
			reason: "client-go's queue hands out both; a queue that merges hands out the first only",
			first:  5 * time.Hour, second: 0,
			want: []time.Duration{0, 5 * time.Hour}, wantMerged: []time.Duration{0},
		},
		"sooner after later": {
			reason: "the sooner counts",
			first:  5 * time.Hour, second: 10 * time.Millisecond,
			want: []time.Duration{10 * time.Millisecond}, wantMerged: []time.Duration{10 * time.Millisecond},
		},
		"later after sooner": {
			reason: "the sooner counts",
			first:  10 * time.Millisecond, second: 5 * time.Hour,
			want: []time.Duration{10 * time.Millisecond}, wantMerged: []time.Duration{10 * time.Millisecond},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			handedOut := func(newQueue func() queuetest.Queue) (times []time.Duration) {
				synctest.Test(t, func(*testing.T) {
					start := time.Now()
					q := newQueue()
					q.AddAfter("x", c.first)
					synctest.Wait()
					q.AddAfter("x", c.second)
					go func() {
						time.Sleep(24 * time.Hour)
						q.ShutDown()
					}()
					for {
						item, shutdown := q.Get()
						if shutdown {
							return
						}
						times = append(times, time.Since(start))
						q.Done(item)
					}
				})
				return times
			}
			assert.Equal(t, c.want, handedOut(upstreamQueue), "upstream: "+c.reason)
			assert.Equal(t, c.want, handedOut(ourQueue), "ours: "+c.reason)
			assert.Equal(t, c.wantMerged, handedOut(func() queuetest.Queue {
				return workqueue.NewRateLimiting[string](nil, workqueue.Config{AddReplacesDelayed: true})
			}), "ours with AddReplacesDelayed: "+c.reason)
		})
	}
}

func TestB81_ShutDownReleasesADrain(t *testing.T) {
	onBoth(t, func(t *testing.T, newQueue func() queuetest.Queue) {
		q := newQueue()
		q.Add("x")
		item, _ := q.Get()

		drained := make(chan struct{})
		go func() {
			q.ShutDownWithDrain()
			close(drained)
		}()
		require.Eventually(t, q.ShuttingDown, 10*time.Second, time.Millisecond, "the drain begins")
		q.ShutDown()
		await(t, drained, "ShutDown releases the drain though x is not done")

		q.ShutDown()
		q.Add("y")
		assert.Zero(t, q.Len(), "an item that is added after the shutdown is ignored")
		q.Done(item)
		q.ShutDownWithDrain()
		q.ShutDownWithDrain()
		_, shutdown := q.Get()
		assert.True(t, shutdown)
	})
}

func TestB81_DrainAndShutDownAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, newQueue func() queuetest.Queue) {
		for range 100 {
			q := newQueue()
			q.Add("x")
			q.Get()
			var all sync.WaitGroup
			all.Go(q.ShutDownWithDrain)
			all.Go(q.ShutDown)
			// A drain that begins after the shutdown waits for Done.
			all.Go(func() { q.Done("x") })
			all.Wait()
			q.ShutDown()
		}
	})
}

func TestB81_TwoDrainsAreBothReleased(t *testing.T) {
	for name, c := range map[string]struct {
		reason   string
		newQueue func() queuetest.Queue
		want     int
	}{
		"upstream": {"client-go's Done wakes one drain only; drop this when it wakes both", upstreamQueue, 1},
		"chapters": {"nothing is left: both drains return", ourQueue, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := c.newQueue()
				q.Add("x")
				q.Get()
				var released atomic.Int64
				for range 2 {
					go func() {
						q.ShutDownWithDrain()
						released.Add(1)
					}()
				}
				synctest.Wait()
				require.Zero(t, released.Load(), "x is in work")
				q.Done("x")
				synctest.Wait()
				assert.EqualValues(t, c.want, released.Load(), c.reason)
				q.ShutDown()
			})
		})
	}
}

func TestB81_DirtyItemIsHandedOutInADrain(t *testing.T) {
	onBoth(t, func(t *testing.T, newQueue func() queuetest.Queue) {
		q := newQueue()
		q.Add("x")
		q.Get()
		q.Add("x")
		drained := make(chan struct{})
		go func() {
			q.ShutDownWithDrain()
			close(drained)
		}()
		require.Eventually(t, q.ShuttingDown, 10*time.Second, time.Millisecond, "the drain begins")
		q.Done("x")
		item, shutdown := q.Get()
		require.False(t, shutdown, "x was added while it was in work")
		require.Equal(t, "x", item)
		q.Done("x")
		await(t, drained, "nothing is left")
		_, shutdown = q.Get()
		assert.True(t, shutdown)
		q.ShutDown()
	})
}

func TestB82_DrainWaitsForQueuedItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := upstreamQueue()
		q.Add("a")
		q.Add("b")
		q.ShutDownWithDrain()
		assert.Equal(t, 2, q.Len(), "upstream's drain does not wait for queued items; drop this when it does")
		q.ShutDown()
	})
	synctest.Test(t, func(t *testing.T) {
		q := ourQueue()
		q.Add("a")
		q.Add("b")
		drained := false
		go func() {
			q.ShutDownWithDrain()
			drained = true
		}()
		for _, want := range []string{"a", "b"} {
			synctest.Wait()
			require.False(t, drained, "%s is not worked off", want)
			item, shutdown := q.Get()
			require.False(t, shutdown)
			require.Equal(t, want, item)
			synctest.Wait()
			require.False(t, drained, "%s is in work", want)
			q.Done(item)
		}
		synctest.Wait()
		assert.True(t, drained, "everything is worked off")
	})
}

func TestB84_BucketReservationsPileUp(t *testing.T) {
	limiters := map[string]func() (bucket, capped upstream.TypedRateLimiter[int]){
		"upstream": func() (bucket, capped upstream.TypedRateLimiter[int]) {
			newBucket := func() upstream.TypedRateLimiter[int] {
				return &upstream.TypedBucketRateLimiter[int]{Limiter: rate.NewLimiter(10, 100)}
			}
			return newBucket(), upstream.NewTypedWithMaxWaitRateLimiter(newBucket(), 5*time.Second)
		},
		"chapters": func() (bucket, capped upstream.TypedRateLimiter[int]) {
			newBucket := func() upstream.TypedRateLimiter[int] {
				return workqueue.NewBucketRateLimiter[int](rate.NewLimiter(10, 100))
			}
			return newBucket(), workqueue.NewWithMaxWaitRateLimiter(newBucket(), 5*time.Second)
		},
	}
	for name, newLimiters := range limiters {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket, capped := newLimiters()
				var last, lastCapped time.Duration
				for item := range 1000 {
					last, lastCapped = bucket.When(item), capped.When(item)
					bucket.Forget(item)
				}
				assert.InDelta(t, 90, last.Seconds(), 0.2, "900 items wait for a token, 10 a second, and Forget gives none back")
				assert.Equal(t, 5*time.Second, lastCapped, "a limiter with a longest wait caps it")
				assert.Zero(t, bucket.NumRequeues(1), "a bucket counts no item")
			})
		})
	}
}

func await(t *testing.T, c <-chan struct{}, reason string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		require.Fail(t, "timed out", reason)
	}
}
