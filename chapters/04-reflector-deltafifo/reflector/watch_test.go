package reflector

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

func TestEveryKindOfEventReachesTheStore(t *testing.T) {
	onBoth(t, func(t *testing.T, create maker) {
		s, j := newServer(pod("a")), newJournal()
		r := create(s, &corev1.Pod{}, bookmarked{j})
		run(t, r)
		s.Add(pod("b"))
		s.Update(pod("b"))
		s.Delete(pod("b"))
		s.Advance(5)
		s.Bookmark()
		odd := pod("odd")
		odd.ResourceVersion = "20"
		s.Send(watch.Event{Type: "STRANGE", Object: odd})
		synctest.Wait()
		assert.Equal(t, []string{
			"replace a @1",
			"add b@2", "version @2",
			"update b@3", "version @3",
			"delete b@4", "version @4",
			"bookmark @9", "version @9",
			"version @20",
		}, j.read())
		assert.Equal(t, "20", r.LastSyncResourceVersion(), "as with client-go, an unknown event moves the version")
	})
}

// Without a version to start from, the first events are the present objects in
// the order of their keys; their versions say nothing.
func TestVersionWaitsForTheEndOfUnorderedEvents(t *testing.T) {
	onBoth(t, func(t *testing.T, create maker) {
		s, j := newServer(pod("b"), pod("a")), newJournal()
		s.ServeLists(1, &corev1.PodList{})
		r := create(s, &corev1.Pod{}, j)
		run(t, r)
		assert.Equal(t, []string{"replace @", "add a@2", "add b@1"}, j.read())
		assert.Empty(t, r.LastSyncResourceVersion())
		s.Update(pod("b"))
		synctest.Wait()
		assert.Equal(t, "3", r.LastSyncResourceVersion())
	})
}

func TestUnstructuredObjectsOfAnotherKindAreSkipped(t *testing.T) {
	u := func(apiVersion, kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind,
			"metadata": map[string]any{"namespace": "ns", "name": name, "resourceVersion": "9"}}}
	}
	onBoth(t, func(t *testing.T, create maker) {
		s, j := lwtest.New(u("example.com/v1", "Foo", "a")), newJournal()
		run(t, create(s, u("example.com/v1", "Foo", ""), j))
		for _, o := range []*unstructured.Unstructured{
			u("example.com/v1", "Bar", "kind"), u("example.com/v2", "Foo", "version"), u("example.org/v1", "Foo", "group"), u("example.com/v1", "Foo", "right"),
		} {
			s.Send(watch.Event{Type: watch.Added, Object: o})
		}
		synctest.Wait()
		assert.Equal(t, []string{"replace a @1", "add right@9"}, j.read())
	})
}

func TestStoreErrorsDoNotEndTheWatch(t *testing.T) {
	onBoth(t, func(t *testing.T, create maker) {
		s, j := newServer(pod("a")), newJournal()
		run(t, create(s, &corev1.Pod{}, bookmarked{j}))
		j.mu.Lock()
		j.fail = func(string) error { return errors.New("full") }
		j.mu.Unlock()
		s.Add(pod("b"))
		s.Update(pod("b"))
		s.Bookmark()
		s.Delete(pod("b"))
		synctest.Wait()
		j.mu.Lock()
		j.fail = nil
		j.mu.Unlock()
		s.Add(pod("c"))
		synctest.Wait()
		assert.Equal(t, "a@1 c@5", j.state())
		assert.Len(t, s.Requests(), 2)
	})
}

func TestWatchTimeouts(t *testing.T) {
	tests := map[string]struct {
		minimum, from, to time.Duration
	}{
		"default":   {0, 5 * time.Minute, 10 * time.Minute},
		"too short": {time.Second, 5 * time.Minute, 10 * time.Minute},
		"longer":    {time.Hour, time.Hour, 2 * time.Hour},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := New(newServer(), nil, newJournal(), Options{MinWatchTimeout: tc.minimum})
			seen := map[int64]bool{}
			for range 200 {
				timeout := *r.watchOptions("1").TimeoutSeconds
				assert.GreaterOrEqual(t, timeout, int64(tc.from/time.Second))
				assert.LessOrEqual(t, timeout, int64(tc.to/time.Second))
				seen[timeout] = true
			}
			assert.Greater(t, len(seen), 50, "they are spread")
		})
	}
}

// A watch that brings nothing and ends within a second is treated as a failure.
func TestVeryShortWatch(t *testing.T) {
	onBoth(t, func(t *testing.T, create maker) {
		s := newServer(pod("a"))
		s.ServeWatches(1)
		run(t, create(s, &corev1.Pod{}, newJournal()))
		pass(5 * time.Second)
		assert.Equal(t, []string{`list "0" limit=500`, `watch "1"`, `list "1"`, `watch "1"`}, requests(s))
	})
}

// One that does bring something is only opened again after a pause.
func TestShortWatchesAreNotAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(pod("a"))
		run(t, ours(s, &corev1.Pod{}, newJournal()))
		for range 1000 {
			s.Update(pod("a"))
			s.CloseWatches()
			pass(10 * time.Millisecond)
		}
		assert.Len(t, s.Requests(lwtest.List), 1)
		assert.Less(t, len(s.Requests(lwtest.Watch)), 8, "in ten seconds")
		pass(time.Minute)
		s.Add(pod("b"))
		synctest.Wait()
	})
}

func TestInternalErrorsAreRetriedWithinTheirTime(t *testing.T) {
	tests := map[string]struct {
		retry time.Duration
		lists int
	}{"off": {0, 4}, "on": {time.Hour, 1}, "over": {2 * time.Second, 2}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(pod("a"))
				s.ServeWatches(3, lwtest.ErrorEvent(apierrors.NewInternalError(errors.New("x"))))
				run(t, New(s, &corev1.Pod{}, newJournal(), Options{MaxInternalErrorRetryDuration: tc.retry}))
				pass(time.Minute)
				assert.Len(t, s.Requests(lwtest.List), tc.lists)
				assert.Equal(t, 1, s.OpenWatches())
			})
		})
	}
}

func TestResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := newServer(pod("a")), newJournal()
		var due atomic.Bool
		var asked atomic.Int32
		stop := run(t, New(s, &corev1.Pod{}, j, Options{ResyncPeriod: time.Minute, ShouldResync: func() bool { asked.Add(1); return due.Load() }}))
		j.read()
		pass(150 * time.Second)
		assert.EqualValues(t, 2, asked.Load())
		assert.Empty(t, j.read(), "not due")
		due.Store(true)
		pass(time.Minute)
		assert.Equal(t, []string{"resync"}, j.read())
		j.mu.Lock()
		j.fail = func(call string) error {
			if call == "resync" {
				return errors.New("stuck")
			}
			return nil
		}
		j.mu.Unlock()
		pass(time.Minute)
		assert.Equal(t, []string{"resync", "replace a @1"}, j.read(), "a failed resync is mended by a list")
		stop()
		pass(10 * time.Minute)
		assert.Empty(t, j.read(), "no resync after the end")
	})
}

// When Run has returned, no resync is in the store any more.
func TestRunWaitsForItsResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := newServer(pod("a")), newJournal()
		release := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			New(s, &corev1.Pod{}, j, Options{ResyncPeriod: time.Minute, ShouldResync: func() bool { <-release; return true }}).RunWithContext(ctx)
		}()
		pass(time.Minute)
		cancel()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("Run has returned while a resync was under way")
		default:
		}
		close(release)
		<-done
		assert.Contains(t, j.read(), "resync")
	})
}

// Resyncs go on while the server is away.
func TestResyncWithoutServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := newServer(pod("a")), newJournal()
		run(t, New(s, &corev1.Pod{}, j, Options{ResyncPeriod: time.Minute}))
		s.FailWatches(lwtest.Always, apierrors.NewTooManyRequests("x", 1))
		pass(time.Second)
		s.CloseWatches()
		j.read()
		pass(3*time.Minute + time.Second)
		assert.Equal(t, []string{"resync", "resync", "resync"}, j.read())
	})
}

// Pauses double from 0.8 s to 30 s, each up to twice as long by chance. They
// stay long as long as the server is away; client-go's begin anew after two
// minutes whatever happens.
func TestPauses(t *testing.T) {
	const second = time.Second
	tests := map[string]struct {
		create  maker
		atLeast time.Duration
	}{
		"ours":      {ours, 30 * second},
		"client-go": {clientGos, second * 8 / 10},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(pod("a"))
				s.FailLists(20, errors.New("x"))
				run(t, tc.create(s, &corev1.Pod{}, newJournal()))
				pass(20 * time.Minute)
				lists := s.Requests(lwtest.List)
				require.Len(t, lists, 21)
				shortest, want := time.Hour, 800*time.Millisecond
				for i := range 20 {
					waited := lists[i+1].At.Sub(lists[i].At)
					assert.LessOrEqual(t, waited, 2*want, "pause %d", i)
					if i < 6 {
						assert.GreaterOrEqual(t, waited, want, "pause %d", i)
					} else {
						shortest = min(shortest, waited)
					}
					want = min(2*want, 30*second)
				}
				assert.GreaterOrEqual(t, shortest, tc.atLeast)
				if name == "client-go" {
					assert.Less(t, shortest, 2*second, "client-go begins anew in the middle of an outage; if this fails, it has learnt and this row can go")
				}
			})
		})
	}
}

// Two minutes without a pause show that the server is well.
func TestPausesBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(pod("a"))
		s.FailLists(6, errors.New("x"))
		run(t, ours(s, &corev1.Pod{}, newJournal()))
		pass(5 * time.Minute)
		before := time.Now()
		s.SendError(apierrors.NewResourceExpired("x"))
		pass(5 * time.Second)
		lists := s.Requests(lwtest.List)
		require.Len(t, lists, 8)
		assert.LessOrEqual(t, lists[7].At.Sub(before), 1600*time.Millisecond)
	})
}

func TestBackoffOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(pod("a"))
		s.FailLists(3, errors.New("x"))
		run(t, New(s, &corev1.Pod{}, newJournal(), Options{Backoff: &wait.Backoff{Duration: time.Second, Factor: 3, Steps: 2}}))
		pass(time.Minute)
		lists := s.Requests(lwtest.List)
		require.Len(t, lists, 4)
		for i, want := range []time.Duration{time.Second, 3 * time.Second, 9 * time.Second} {
			assert.Equal(t, want, lists[i+1].At.Sub(lists[i].At))
		}
	})
}

func TestExpiredWatchCallIsReported(t *testing.T) {
	for name, err := range map[string]error{
		"expired": apierrors.NewResourceExpired("x"), "gone": apierrors.NewGone("x"), "forbidden": apierrors.NewForbidden(corev1.Resource("pods"), "", nil),
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, create maker) {
				s := newServer(pod("a"))
				s.FailWatches(1, err)
				run(t, create(s, &corev1.Pod{}, newJournal()))
				pass(5 * time.Second)
				assert.Equal(t, []string{`list "0" limit=500`, `watch "1"`, `list "1"`, `watch "1"`}, requests(s))
			})
		})
	}
}

var _ cache.ReflectorBookmarkStore = bookmarked{}
