package reflector

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

func pods(n int) []lwtest.Object {
	var objs []lwtest.Object
	for i := range n {
		objs = append(objs, pod(fmt.Sprintf("p%04d", i)))
	}
	return objs
}

// Which lists ask for pages: both reflectors keep to the watch cache's rules.
func TestPages(t *testing.T) {
	tests := map[string]struct {
		noWatchCache bool
		want         []string
		reason       string
	}{
		"with watch cache": {want: []string{`list "0" limit=500`, `watch "600"`, `list "600"`, `watch "600"`},
			reason: "a relist without a limit is served from memory"},
		"without watch cache": {noWatchCache: true, want: []string{`list "0" limit=500`, `list "" limit=500 continue`, `watch "600"`,
			`list "600" limit=500`, `list "" limit=500 continue`, `watch "600"`},
			reason: "what came in pages once comes in pages again"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, create maker) {
				s, j := newServer(pods(600)...), newJournal()
				s.NoWatchCache = tc.noWatchCache
				run(t, create(s, &corev1.Pod{}, j))
				assert.Len(t, j.objects, 600)
				s.SendError(apierrors.NewResourceExpired("x"))
				pass(2 * time.Second)
				assert.Equal(t, tc.want, requests(s), tc.reason)
				assert.Len(t, j.objects, 600)
			})
		})
	}
}

// A list without a version comes in pages in any case; that says nothing about
// the watch cache.
func TestPagesOfAForcedListAreNoHabit(t *testing.T) {
	onBoth(t, func(t *testing.T, create maker) {
		s, j := newServer(pods(600)...), newJournal()
		s.WatchList = true
		run(t, create(s, &corev1.Pod{}, j))
		pass(time.Minute)
		s.FailWatches(1, apierrors.NewResourceExpired("x"))
		s.FailWatches(1, apierrors.NewInternalError(errors.New("x")))
		s.SendError(apierrors.NewInternalError(errors.New("x")))
		pass(time.Minute)
		s.FailWatches(1, apierrors.NewInternalError(errors.New("x")))
		s.SendError(apierrors.NewInternalError(errors.New("x")))
		pass(time.Minute)
		assert.Equal(t, []string{
			`watch "" streamed`,
			`watch "600" streamed`, `watch "" streamed`, `list "" limit=500`, `list "" limit=500 continue`, `watch "600"`,
			`watch "600" streamed`, `list "600"`, `watch "600"`,
		}, requests(s))
	})
}

func TestPageSizeOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := newServer(pods(5)...), newJournal()
		s.NoWatchCache = true
		run(t, New(s, &corev1.Pod{}, j, Options{PageSize: 2}))
		assert.Equal(t, []string{`list "0" limit=2`, `list "" limit=2 continue`, `list "" limit=2 continue`, `watch "5"`}, requests(s))
		assert.Equal(t, "p0000@1 p0001@2 p0002@3 p0003@4 p0004@5", j.state())
	})
}

// An object that stays in the store must not keep the list's array alive.
func TestListedObjectsHaveMemoryOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []corev1.Pod{*pod("a"), *pod("b")}}
		lw := &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return list, nil },
			WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
				return lwtest.New().WatchWithContext(ctx, metav1.ListOptions{})
			},
		}
		j := newJournal()
		run(t, New(cache.ToListWatcherWithWatchListSemantics(lw, lwtest.New()), &corev1.Pod{}, j, Options{}))
		require.Len(t, j.objects, 2)
		for i := range list.Items {
			assert.NotSame(t, &list.Items[i], j.objects["ns/"+list.Items[i].Name])
		}
	})
}

func TestListErrors(t *testing.T) {
	noMeta := &metav1.Status{}
	tests := map[string]struct {
		inject func(s *lwtest.Server, j *journal)
		want   string
	}{
		"server":          {func(s *lwtest.Server, _ *journal) { s.FailLists(1, errors.New("boom")) }, "failed to list *v1.Pod: boom"},
		"no list":         {func(s *lwtest.Server, _ *journal) { s.ServeLists(1, noMeta) }, "unable to understand list result *v1.Status: "},
		"list of nothing": {func(s *lwtest.Server, _ *journal) { s.ServeLists(1, pod("a")) }, "failed to list *v1.Pod: returned object must be a list"},
		"store": {func(_ *lwtest.Server, j *journal) {
			j.fail = func(string) error { j.fail = nil; return errors.New("full") }
		}, "unable to sync list result: full"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, j := newServer(pod("a")), newJournal()
				tc.inject(s, j)
				var reported []string
				r := New(s, &corev1.Pod{}, j, Options{Name: "n", WatchErrorHandler: func(_ context.Context, r *cache.Reflector, err error) {
					reported = append(reported, r.Name()+" "+r.TypeDescription()+": "+err.Error())
				}})
				run(t, r)
				require.Len(t, reported, 1)
				assert.Contains(t, reported[0], "n *v1.Pod: "+tc.want)
				pass(2 * time.Second)
				assert.Equal(t, "a@1", j.state(), "the next attempt repairs it")
				assert.Len(t, reported, 1)
			})
		})
	}
}

func TestTransformErrors(t *testing.T) {
	for name, watchList := range map[string]bool{"list": false, "watch list": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, j := newServer(pod("a"), pod("b")), newJournal()
				s.WatchList = watchList
				var broken atomic.Bool
				broken.Store(true)
				var reported []error
				r := New(s, &corev1.Pod{}, j, Options{
					Transform: func(obj any) (any, error) {
						if broken.Load() && obj.(*corev1.Pod).Name == "b" {
							return nil, errors.New("no b")
						}
						return obj, nil
					},
					WatchErrorHandler: func(_ context.Context, _ *cache.Reflector, err error) { reported = append(reported, err) },
				})
				run(t, r)
				require.Len(t, reported, 1)
				assert.EqualError(t, reported[0], "unable to sync list result: couldn't transform object: no b")
				assert.Empty(t, j.read(), "half a list must not reach the store")
				broken.Store(false)
				pass(2 * time.Second)
				assert.Equal(t, "a@1 b@2", j.state())
				broken.Store(true)
				s.Update(pod("b"))
				s.Update(pod("a"))
				synctest.Wait()
				assert.Equal(t, "a@4 b@2", j.state(), "in a watch it costs this one event")
				assert.Equal(t, "4", r.LastSyncResourceVersion())
			})
		})
	}
}

func TestWatchListRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := newServer(pod("a"), pod("b")), newJournal()
		s.WatchList = true
		r := New(s, &corev1.Pod{}, j, Options{})
		run(t, r)
		require.Len(t, s.Requests(), 1, "list and watch are one request")
		opts := s.Requests()[0].Options
		assert.True(t, *opts.SendInitialEvents)
		assert.Equal(t, metav1.ResourceVersionMatchNotOlderThan, opts.ResourceVersionMatch)
		assert.True(t, opts.AllowWatchBookmarks)
		assert.GreaterOrEqual(t, *opts.TimeoutSeconds, int64(300))
		assert.Equal(t, []string{"replace a b @2"}, j.read())
		assert.Equal(t, "2", r.LastSyncResourceVersion())
		s.Add(pod("c"))
		synctest.Wait()
		assert.Equal(t, []string{"add c@3"}, j.read())
		assert.Equal(t, "3", r.LastSyncResourceVersion(), "what follows a streamed list is in order")
		assert.Len(t, s.Requests(), 1)
	})
}

// The initial events may hold changes that came while the server sent them.
func TestWatchListCollectsChanges(t *testing.T) {
	at := func(name, version string) *corev1.Pod {
		p := pod(name)
		p.ResourceVersion = version
		return p
	}
	end := at("", "9")
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	synctest.Test(t, func(t *testing.T) {
		s, j := newServer(), newJournal()
		s.WatchList = true
		s.ServeWatches(1,
			watch.Event{Type: watch.Added, Object: at("a", "1")},
			watch.Event{Type: watch.Added, Object: at("b", "2")},
			watch.Event{Type: watch.Added, Object: at("c", "3")},
			watch.Event{Type: watch.Bookmark, Object: at("", "4")},
			watch.Event{Type: watch.Added, Object: &corev1.Node{}},
			watch.Event{Type: watch.Deleted, Object: at("b", "5")},
			watch.Event{Type: watch.Deleted, Object: at("x", "5")},
			watch.Event{Type: watch.Modified, Object: at("a", "6")},
			watch.Event{Type: watch.Added, Object: at("b", "7")},
			watch.Event{Type: watch.Modified, Object: at("b", "8")},
			watch.Event{Type: watch.Deleted, Object: at("c", "8")},
			watch.Event{Type: watch.Bookmark, Object: end},
			watch.Event{Type: watch.Modified, Object: at("a", "10")},
		)
		s.Advance(10)
		r := New(s, &corev1.Pod{}, j, Options{})
		run(t, r)
		assert.Equal(t, []string{"replace a b @9", "update a@10"}, j.read())
		assert.Equal(t, "a@10 b@8", j.state())
	})
}

// What a reflector does when a streamed list fails.
func TestWatchListFallsBack(t *testing.T) {
	busy := apierrors.NewTooManyRequests("x", 1)
	tests := map[string]struct {
		inject func(s *lwtest.Server)
		want   []string
		reason string
	}{
		"refused": {func(s *lwtest.Server) {
			s.FailWatches(1, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("x").GroupKind(), "x", nil))
		},
			[]string{`watch "" streamed`, `list "0" limit=500`, `watch "1"`}, "an old server"},
		"busy": {func(s *lwtest.Server) { s.FailWatches(1, busy) },
			[]string{`watch "" streamed`, `watch "" streamed`}, "a list would only add to the load"},
		"busy in the stream": {func(s *lwtest.Server) { s.ServeWatches(1, lwtest.ErrorEvent(busy)) },
			[]string{`watch "" streamed`, `watch "" streamed`}, "the same"},
		"error in the stream": {func(s *lwtest.Server) {
			s.ServeWatches(1, lwtest.ErrorEvent(apierrors.NewInternalError(errors.New("x"))))
		},
			[]string{`watch "" streamed`, `list "0" limit=500`, `watch "1"`}, "any other error"},
		"expired": {func(s *lwtest.Server) { s.FailWatches(1, apierrors.NewResourceExpired("x")) },
			[]string{`watch "" streamed`, `list "0" limit=500`, `watch "1"`}, "without a version there is nothing to give up but the stream"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, j := newServer(pod("a")), newJournal()
				s.WatchList = true
				tc.inject(s)
				run(t, ours(s, &corev1.Pod{}, j))
				pass(5 * time.Second)
				assert.Equal(t, tc.want, requests(s), tc.reason)
				assert.Equal(t, "a@1", j.state())
			})
		})
	}
}

// A version that the server has forgotten, or not reached, is given up at once.
func TestWatchListGivesUpAnUnavailableVersion(t *testing.T) {
	tooLarge := apierrors.NewTimeoutError("Too large resource version: 1, current: 0", 1)
	for name, err := range map[string]error{"expired": apierrors.NewResourceExpired("x"), "too large": tooLarge} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, create maker) {
				s, j := newServer(pod("a")), newJournal()
				s.WatchList = true
				r := create(s, &corev1.Pod{}, j)
				run(t, r)
				pass(time.Minute)
				s.FailWatches(1, err)
				s.SendError(apierrors.NewInternalError(errors.New("x")))
				pass(5 * time.Second)
				assert.Equal(t, []string{`watch "" streamed`, `watch "1" streamed`, `watch "" streamed`}, requests(s))
				s.SendError(apierrors.NewInternalError(errors.New("x")))
				pass(10 * time.Second)
				assert.Equal(t, `watch "1" streamed`, requests(s)[3], "the next one names its version again")
			})
		})
	}
}

func TestWatchListIsOffWhereItMustBe(t *testing.T) {
	t.Run("client says so", func(t *testing.T) {
		assert.False(t, New(newServer(), nil, newJournal(), Options{}).streamLists)
	})
	t.Run("client says nothing", func(t *testing.T) {
		assert.True(t, New(&cache.ListWatch{}, nil, newJournal(), Options{}).streamLists)
	})
	t.Run("feature gate", func(t *testing.T) {
		clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, false)
		assert.False(t, New(&cache.ListWatch{}, nil, newJournal(), Options{}).streamLists)
	})
}
