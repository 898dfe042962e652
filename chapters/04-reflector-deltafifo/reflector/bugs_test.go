package reflector

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

func TestB32_RelistDoesNotGoBackInTime(t *testing.T) {
	for name, expired := range map[string]error{"expired": apierrors.NewResourceExpired("too old"), "gone": apierrors.NewGone("too old")} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, create maker) {
				s := newServer()
				s.Advance(9)
				s.Add(pod("a"))
				r := create(s, &corev1.Pod{}, newJournal())
				run(t, r)
				s.Advance(10)
				s.Bookmark()
				synctest.Wait()
				require.Equal(t, "20", r.LastSyncResourceVersion(), "a bookmark counts")
				s.FailLists(1, expired)
				s.Advance(30)
				s.SendError(apierrors.NewResourceExpired("too old"))
				pass(2 * time.Second)
				assert.Equal(t, []string{
					`list "0" limit=500`, `watch "10"`,
					`list "20"`, `list ""`, `watch "50"`,
				}, requests(s))
			})
		})
	}
}

func TestB33_TooLargeVersionRecovers(t *testing.T) {
	forms := map[string]func() error{
		"cause": func() error {
			err := apierrors.NewTimeoutError("x", 1)
			err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
			return err
		},
		"cause's message": func() error {
			err := apierrors.NewTimeoutError("x", 1)
			err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "Too large resource version"}}
			return err
		},
		"message": func() error { return apierrors.NewTimeoutError("Too large resource version: 100, current: 50", 1) },
		"real":    nil,
	}
	for form, err := range forms {
		t.Run(form, func(t *testing.T) {
			onBoth(t, func(t *testing.T, create maker) {
				s := newServer(pod("a"))
				s.Advance(99)
				j := newJournal()
				r := create(s, &corev1.Pod{}, j)
				run(t, r)
				pass(time.Minute)
				if err != nil {
					s.FailLists(1, err())
				}
				s.FailWatches(1, apierrors.NewResourceExpired("x"))
				s.RestoreTo(50)
				pass(time.Minute)
				assert.Equal(t, []string{
					`list "0" limit=500`, `watch "100"`, `watch "100"`,
					`list "100"`, `list ""`, `watch "50"`,
				}, requests(s))
				assert.Equal(t, "50", r.LastSyncResourceVersion())
			})
		})
	}
}

func TestB35_BusyServerIsNotListed(t *testing.T) {
	refused := &url.Error{Op: "Get", URL: "https://x", Err: &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}}
	faults := map[string]func(s *lwtest.Server){
		"429":                func(s *lwtest.Server) { s.FailWatches(3, apierrors.NewTooManyRequests("x", 1)) },
		"connection refused": func(s *lwtest.Server) { s.FailWatches(3, refused) },
		"429 in the stream": func(s *lwtest.Server) {
			s.ServeWatches(3, lwtest.ErrorEvent(apierrors.NewTooManyRequests("x", 1)))
		},
	}
	for fault, inject := range faults {
		t.Run(fault, func(t *testing.T) {
			onBoth(t, func(t *testing.T, create maker) {
				s := newServer(pod("a"))
				inject(s)
				j := newJournal()
				run(t, create(s, &corev1.Pod{}, j))
				pass(30 * time.Second)
				assert.Equal(t, []string{`list "0" limit=500`, `watch "1"`, `watch "1"`, `watch "1"`, `watch "1"`}, requests(s))
				watches := s.Requests(lwtest.Watch)
				for i, least := range []time.Duration{800, 1600, 3200} {
					least *= time.Millisecond
					waited := watches[i+1].At.Sub(watches[i].At)
					assert.GreaterOrEqual(t, waited, least, "pause %d", i)
					assert.LessOrEqual(t, waited, 2*least, "pause %d", i)
				}
			})
		})
	}
}

func TestB36_EndOfAWatchIsNoReasonToList(t *testing.T) {
	onBoth(t, func(t *testing.T, create maker) {
		s := newServer(pod("a"))
		run(t, create(s, &corev1.Pod{}, newJournal()))
		for range 2 {
			pass(time.Minute)
			s.Update(pod("a"))
			s.CloseWatches()
			synctest.Wait()
		}
		assert.Equal(t, []string{`list "0" limit=500`, `watch "1"`, `watch "2"`, `watch "3"`}, requests(s))
	})
}

// addedForever is a proxy that cuts every stream behind its first event.
func addedForever() *lwtest.Server {
	s := newServer(pod("a"))
	s.WatchList = true
	p := pod("a")
	p.ResourceVersion = "1"
	s.ServeWatches(lwtest.Always, watch.Event{Type: watch.Added, Object: p})
	return s
}

func TestB38_StreamsThatEndEarlyAreNoStorm(t *testing.T) {
	t.Run("ours", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, j := addedForever(), newJournal()
			run(t, ours(s, &corev1.Pod{}, j))
			assert.Equal(t, "a@1", j.state(), "a plain list serves at once")
			pass(time.Minute)
			assert.Less(t, len(s.Requests()), 20)
			assert.Len(t, s.Requests(lwtest.List), 1)
			s.Heal()
			pass(time.Minute)
			s.Add(pod("b"))
			synctest.Wait()
			assert.Equal(t, "a@1 b@2", j.state(), "and goes on where it was")
		})
	})
	t.Run("client-go", func(t *testing.T) {
		s := addedForever()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); clientGos(s, &corev1.Pod{}, newJournal()).RunWithContext(ctx) }()
		assert.Eventually(t, func() bool { return len(s.Requests()) > 1000 }, 20*time.Second, time.Millisecond,
			"client-go opens the stream again without a pause; if this fails, it has learnt and this row can go")
		assert.Empty(t, s.Requests(lwtest.List))
		cancel()
		<-done
	})
}

func TestB40_TablesAreRefused(t *testing.T) {
	table := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": map[string]any{"resourceVersion": "5"}}}
	row := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": map[string]any{"resourceVersion": "6"}}}
	t.Run("unstructured list", func(t *testing.T) {
		onBoth(t, func(t *testing.T, create maker) {
			s, j := newServer(), newJournal()
			s.ServeLists(lwtest.Always, table)
			run(t, create(s, &unstructured.Unstructured{}, j))
			pass(time.Minute)
			assert.Empty(t, j.read(), "nothing may be stored")
			assert.Empty(t, s.Requests(lwtest.Watch))
		})
	})
	t.Run("typed list", func(t *testing.T) {
		onBoth(t, func(t *testing.T, create maker) {
			s, j := newServer(), newJournal()
			s.ServeLists(lwtest.Always, &metav1.Table{})
			run(t, create(s, &corev1.Pod{}, j))
			pass(time.Minute)
			assert.Empty(t, j.read(), "nothing may be stored")
		})
	})
	t.Run("event", func(t *testing.T) {
		onBoth(t, func(t *testing.T, create maker) {
			a := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"}}}
			s, j := lwtest.New(a), newJournal()
			r := create(s, &unstructured.Unstructured{}, j)
			run(t, r)
			s.Send(watch.Event{Type: watch.Added, Object: row})
			synctest.Wait()
			assert.Equal(t, []string{"replace a @1"}, j.read())
			assert.Equal(t, "1", r.LastSyncResourceVersion())
		})
	})
}

func TestB41_OddEventsAreSkipped(t *testing.T) {
	other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "77"}}
	events := map[string]struct {
		event   watch.Event
		anyType bool
		reason  string
	}{
		"nil object":              {watch.Event{Type: watch.Deleted}, false, "has no type"},
		"nil object, any type":    {watch.Event{Type: watch.Deleted}, true, "has no metadata"},
		"wrong type":              {watch.Event{Type: watch.Added, Object: other}, false, "is no Pod"},
		"no metadata, any type":   {watch.Event{Type: watch.Modified, Object: &metav1.Status{}}, true, "a Status is no object"},
		"status as bookmark":      {watch.Event{Type: watch.Bookmark, Object: &metav1.Status{}}, false, "is no Pod"},
		"typed nil, of this type": {watch.Event{Type: watch.Deleted, Object: (*corev1.Node)(nil)}, false, "is no Pod either"},
	}
	for name, tc := range events {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, create maker) {
				s, j := newServer(pod("a")), newJournal()
				var expectedType any = &corev1.Pod{}
				if tc.anyType {
					expectedType = nil
				}
				r := create(s, expectedType, j)
				run(t, r)
				j.read()
				if tc.event.Object == (*corev1.Node)(nil) {
					s.CloseWatches()
					s.ServeWatches(1, tc.event)
				} else {
					s.Send(tc.event)
				}
				synctest.Wait()
				assert.Empty(t, j.read(), tc.reason)
				assert.Equal(t, "1", r.LastSyncResourceVersion(), tc.reason)
				pass(5 * time.Second)
				s.Update(pod("a"))
				synctest.Wait()
				assert.Contains(t, j.read(), "update a@2", "the next event is processed")
			})
		})
	}
}

func TestB41_OddErrorEventsEndTheWatch(t *testing.T) {
	for name, event := range map[string]watch.Event{
		"nil object":  {Type: watch.Error},
		"no status":   {Type: watch.Error, Object: pod("a")},
		"status":      lwtest.ErrorEvent(apierrors.NewInternalError(fmt.Errorf("x"))),
		"bare status": {Type: watch.Error, Object: &metav1.Status{}},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, create maker) {
				s, j := newServer(pod("a")), newJournal()
				run(t, create(s, &corev1.Pod{}, j))
				s.Send(event)
				pass(2 * time.Second)
				assert.Equal(t, []string{`list "0" limit=500`, `watch "1"`, `list "1"`, `watch "1"`}, requests(s))
			})
		})
	}
}

func TestB43_TransformRunsOnce(t *testing.T) {
	type slim struct{ metav1.ObjectMeta }
	for name, watchList := range map[string]bool{"list": false, "watch list": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, j := newServer(pod("a")), newJournal()
				s.WatchList = watchList
				var calls atomic.Int32
				run(t, New(s, &corev1.Pod{}, j, Options{Transform: func(obj any) (any, error) {
					calls.Add(1)
					// Panics if it meets what it made, or a tombstone.
					return &slim{obj.(*corev1.Pod).ObjectMeta}, nil
				}}))
				assert.EqualValues(t, 1, calls.Load())
				s.Update(pod("a"))
				s.Add(pod("b"))
				s.Delete(pod("a"))
				s.SendError(apierrors.NewResourceExpired("x"))
				pass(2 * time.Second)
				assert.EqualValues(t, 5, calls.Load(), "three events and one relisted object")
				assert.IsType(t, &slim{}, j.objects["ns/b"])
			})
		})
	}
	t.Run("client-go", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(pod("a"))
			s.WatchList = true
			var calls atomic.Int32
			q := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, Transformer: func(obj any) (any, error) {
				calls.Add(1)
				return obj, nil
			}})
			run(t, clientGos(s, &corev1.Pod{}, q))
			assert.EqualValues(t, 2, calls.Load(), "client-go transforms twice")
		})
	})
}

func TestB44_UndecodableObjectIsRebuiltWithout(t *testing.T) {
	onBoth(t, func(t *testing.T, create maker) {
		s := newServer(pod("a"), pod("b"))
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		q := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: store, EmitDeltaTypeReplaced: true})
		run(t, create(s, &corev1.Pod{}, q))
		for range 2 {
			drain(t, q, store)
		}
		unreadable := apierrors.NewInternalError(fmt.Errorf("data from the storage is not transformable"))
		unreadable.ErrStatus.Reason = metav1.StatusReasonStoreReadError
		s.ServeLists(1, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "3"}, Items: []corev1.Pod{*pod("b")}})
		s.SendError(unreadable)
		pass(2 * time.Second)
		seen := strings.Join([]string{drain(t, q, store), drain(t, q, store)}, " ")
		assert.Contains(t, seen, "Deleted tombstone{ns/a}")
		assert.Equal(t, []string{"ns/b"}, store.ListKeys())
	})
}

// drain pops one key into the store and renders its deltas.
func drain(t *testing.T, q cache.Queue, store cache.Store) string {
	t.Helper()
	out := ""
	_, err := q.Pop(func(obj any, _ bool) error {
		for _, d := range obj.(cache.Deltas) {
			if tombstone, ok := d.Object.(cache.DeletedFinalStateUnknown); ok {
				out += fmt.Sprintf("%s tombstone{%s}", d.Type, tombstone.Key)
				return store.Delete(tombstone.Obj)
			}
			if err := store.Add(d.Object); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	return out
}
