package lwtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func labelled(name, value string) *corev1.Pod {
	p := pod(name)
	p.Labels = map[string]string{"v": value}
	return p
}

// names renders a list as "name@version ... (version, continue)".
func names(t *testing.T, list runtime.Object) string {
	t.Helper()
	accessor, err := meta.ListAccessor(list)
	require.NoError(t, err)
	items, err := meta.ExtractList(list)
	require.NoError(t, err)
	out := ""
	for _, o := range items {
		m := o.(Object)
		out += m.GetName() + "@" + m.GetResourceVersion() + " "
	}
	return fmt.Sprintf("%s(%s,%s)", out, accessor.GetResourceVersion(), accessor.GetContinue())
}

// drain renders what a watch holds, until it is quiet or ended.
func drain(w watch.Interface) string {
	out := ""
	for {
		synctest.Wait()
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				return out + "end"
			}
			switch o := e.Object.(type) {
			case *metav1.Status:
				out += fmt.Sprintf("%s:%d ", e.Type, o.Code)
			case Object:
				out += fmt.Sprintf("%s:%s@%s%s ", e.Type, o.GetName(), o.GetResourceVersion(),
					o.GetAnnotations()[metav1.InitialEventsAnnotationKey])
			default:
				out += string(e.Type) + ":nil "
			}
		default:
			return out + "quiet"
		}
	}
}

func TestList(t *testing.T) {
	s := New(pod("b"), pod("a"))
	s.Update(labelled("b", "2"))
	s.Compact()
	s.Delete(pod("a"))
	s.Add(pod("c"))
	s.Advance(1) // version 6: b@3, c@5; compacted below 3

	tests := map[string]struct {
		opts   metav1.ListOptions
		want   string
		failed func(error) bool
		reason string
	}{
		"present":      {opts: metav1.ListOptions{}, want: "b@3 c@5 (6,)", reason: `"" is the present`},
		"any":          {opts: metav1.ListOptions{ResourceVersion: "0", Limit: 1}, want: "b@3 c@5 (6,)", reason: "the watch cache ignores limits"},
		"not older":    {opts: metav1.ListOptions{ResourceVersion: "2"}, want: "b@3 c@5 (6,)", reason: "a version alone means not older than"},
		"exact":        {opts: metav1.ListOptions{ResourceVersion: "3", ResourceVersionMatch: metav1.ResourceVersionMatchExact}, want: "a@2 b@3 (3,)", reason: "history is replayed"},
		"legacy exact": {opts: metav1.ListOptions{ResourceVersion: "4", Limit: 5}, want: "b@3 (4,)", reason: "a limit makes a version exact"},
		"first page":   {opts: metav1.ListOptions{Limit: 1}, want: "b@3 (6,6:ns/b)", reason: "pages come in the order of keys"},
		"second page":  {opts: metav1.ListOptions{Limit: 1, Continue: "6:ns/b"}, want: "c@5 (6,)", reason: "the last page has no token"},
		"page of past": {opts: metav1.ListOptions{Limit: 5, Continue: "3:ns/a"}, want: "b@3 (3,)", reason: "pages keep to the version of the first"},
		"expired":      {opts: metav1.ListOptions{ResourceVersion: "2", ResourceVersionMatch: metav1.ResourceVersionMatchExact}, failed: apierrors.IsResourceExpired, reason: "compacted"},
		"expired page": {opts: metav1.ListOptions{Continue: "2:ns/a"}, failed: apierrors.IsResourceExpired, reason: "compacted between pages"},
		"too large": {opts: metav1.ListOptions{ResourceVersion: "7"}, failed: func(err error) bool {
			return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
		}, reason: "the future"},
		"continue at version": {opts: metav1.ListOptions{ResourceVersion: "3", Continue: "6:ns/b"}, failed: apierrors.IsBadRequest, reason: "a token has its version"},
		"match of nothing":    {opts: metav1.ListOptions{ResourceVersionMatch: "NotOlderThan"}, failed: apierrors.IsBadRequest, reason: "a match needs a version"},
		"exact any":           {opts: metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: "Exact"}, failed: apierrors.IsBadRequest, reason: "0 is no version"},
		"selector":            {opts: metav1.ListOptions{LabelSelector: "v=2"}, failed: apierrors.IsBadRequest, reason: "refused rather than ignored"},
		"no number":           {opts: metav1.ListOptions{ResourceVersion: "x"}, failed: apierrors.IsBadRequest, reason: "refused"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := s.List(tc.opts)
			if tc.failed != nil {
				require.Error(t, err, tc.reason)
				assert.True(t, tc.failed(err), "%s: %v", tc.reason, err)
				return
			}
			require.NoError(t, err, tc.reason)
			assert.Equal(t, tc.want, names(t, list), tc.reason)
		})
	}
}

func TestListPagesWithoutWatchCacheAndOfType(t *testing.T) {
	s := New(pod("a"), pod("b"))
	s.NoWatchCache = true
	s.NewList = func() runtime.Object { return &corev1.PodList{} }
	list, err := s.List(metav1.ListOptions{ResourceVersion: "0", Limit: 1})
	require.NoError(t, err)
	assert.IsType(t, &corev1.PodList{}, list)
	assert.Equal(t, "a@1 (2,2:ns/a)", names(t, list))
}

func TestObjectsAreCopies(t *testing.T) {
	mine := pod("a")
	s := New(mine)
	mine.Labels = map[string]string{"v": "mine"}
	list, err := s.List(metav1.ListOptions{})
	require.NoError(t, err)
	items, err := meta.ExtractList(list)
	require.NoError(t, err)
	assert.Empty(t, items[0].(*corev1.Pod).Labels, "a change of the script's object must not reach the server")
	items[0].(*corev1.Pod).Labels = map[string]string{"v": "theirs"}
	assert.Empty(t, s.Delete(pod("a")).GetLabels(), "a change of a client's object must not reach the server")
}

func TestUIDs(t *testing.T) {
	s := New()
	first := s.Add(pod("a")).GetUID()
	assert.Equal(t, first, s.Update(pod("a")).GetUID(), "an update keeps the UID")
	s.Delete(pod("a"))
	assert.NotEqual(t, first, s.Add(pod("a")).GetUID(), "a new object of the name is another one")
}

func TestWatch(t *testing.T) {
	on := ptr.To(true)
	tests := map[string]struct {
		opts   metav1.ListOptions
		want   string
		reason string
	}{
		"from version": {opts: metav1.ListOptions{ResourceVersion: "2"}, want: "MODIFIED:a@3 DELETED:b@4 ADDED:c@5 quiet", reason: "what came later is replayed, then what comes"},
		"from zero":    {opts: metav1.ListOptions{ResourceVersion: "0"}, want: "ADDED:a@3 ADDED:c@5 quiet", reason: "begins with the state"},
		"streamed": {opts: metav1.ListOptions{SendInitialEvents: on, ResourceVersionMatch: "NotOlderThan", AllowWatchBookmarks: true},
			want: "ADDED:a@3 BOOKMARK:@4true ADDED:c@5 BOOKMARK:@5 quiet", reason: "the annotated bookmark ends the state"},
		"bookmarks": {opts: metav1.ListOptions{ResourceVersion: "4", AllowWatchBookmarks: true}, want: "ADDED:c@5 BOOKMARK:@5 quiet", reason: "sent to who asks"},
		"future":    {opts: metav1.ListOptions{ResourceVersion: "9"}, want: "quiet", reason: "waits for later changes"},
		"compacted": {opts: metav1.ListOptions{ResourceVersion: "1"}, want: "ERROR:410 end", reason: "as the API server does, in the stream"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(pod("a"))
				s.WatchList = true
				s.Add(pod("b"))
				s.Compact()
				s.Update(pod("a"))
				s.Delete(pod("b"))
				w, err := s.Watch(tc.opts)
				require.NoError(t, err)
				defer w.Stop()
				if name != "from zero" {
					s.Add(pod("c"))
					s.Bookmark()
				} else {
					s.Add(pod("c"))
				}
				assert.Equal(t, tc.want, drain(w), tc.reason)
			})
		})
	}
}

func TestWatchRefuses(t *testing.T) {
	on := ptr.To(true)
	tests := map[string]struct {
		watchList bool
		opts      metav1.ListOptions
		reason    string
	}{
		"streamed list while off": {opts: metav1.ListOptions{SendInitialEvents: on, ResourceVersionMatch: "NotOlderThan"}, reason: "an old API server"},
		"without match":           {watchList: true, opts: metav1.ListOptions{SendInitialEvents: on}, reason: "the match is required"},
		"too large":               {watchList: true, opts: metav1.ListOptions{SendInitialEvents: on, ResourceVersionMatch: "NotOlderThan", ResourceVersion: "9"}, reason: "a state from the future"},
		"selector":                {opts: metav1.ListOptions{FieldSelector: "x=y"}, reason: "refused rather than ignored"},
		"no number":               {opts: metav1.ListOptions{ResourceVersion: "x"}, reason: "refused"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := New()
			s.WatchList = tc.watchList
			assert.Equal(t, !tc.watchList, s.IsWatchListSemanticsUnSupported())
			_, err := s.Watch(tc.opts)
			assert.Error(t, err, tc.reason)
		})
	}
}

func TestWatchEnds(t *testing.T) {
	tests := map[string]struct {
		end    func(s *Server, w watch.Interface, cancel func())
		want   string
		reason string
	}{
		"closed": {end: func(s *Server, _ watch.Interface, _ func()) { s.Add(pod("b")); s.CloseWatches(); s.Add(pod("c")) },
			want: "ADDED:b@2 end", reason: "what was sent before still arrives"},
		"error": {end: func(s *Server, _ watch.Interface, _ func()) { s.SendError(apierrors.NewTooManyRequests("x", 1)) },
			want: "ERROR:429 end", reason: "an error ends a stream"},
		"raw":       {end: func(s *Server, _ watch.Interface, _ func()) { s.Send(watch.Event{Type: watch.Deleted}) }, want: "DELETED:nil quiet", reason: "any event"},
		"stopped":   {end: func(_ *Server, w watch.Interface, _ func()) { w.Stop(); w.Stop() }, want: "end", reason: "from the client's side, twice"},
		"cancelled": {end: func(_ *Server, _ watch.Interface, cancel func()) { cancel() }, want: "end", reason: "the context of the request"},
		"timeout":   {end: func(_ *Server, _ watch.Interface, _ func()) { time.Sleep(time.Minute) }, want: "end", reason: "TimeoutSeconds"},
		"restored":  {end: func(s *Server, _ watch.Interface, _ func()) { s.RestoreTo(0) }, want: "end", reason: "the API server restarts"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(pod("a"))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w, err := s.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: "1", TimeoutSeconds: ptr.To[int64](60)})
				require.NoError(t, err)
				defer w.Stop()
				require.Equal(t, 1, s.OpenWatches())
				tc.end(s, w, cancel)
				assert.Equal(t, tc.want, drain(w), tc.reason)
				if tc.want != "DELETED:nil quiet" {
					assert.Zero(t, s.OpenWatches(), tc.reason)
				}
			})
		})
	}
}

func TestRestore(t *testing.T) {
	s := New(pod("a"), pod("b"))
	s.Compact()
	s.Delete(pod("a"))
	s.RestoreTo(1)
	list, err := s.List(metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, "a@1 (1,)", names(t, list))
	assert.Equal(t, "2", s.Add(pod("c")).GetResourceVersion(), "versions are taken again")
	assert.Equal(t, "2", s.Version())
	objs := s.Objects()
	require.Len(t, objs, 2)
	assert.Equal(t, "a", objs[0].GetName())
	assert.Len(t, s.Requests(), 1, "reading the state is no request")
}

func TestFaultsComeInOrderAndEnd(t *testing.T) {
	boom, bang := errors.New("boom"), errors.New("bang")
	s := New(pod("a"))
	s.FailLists(2, boom)
	s.FailLists(1, bang)
	s.ServeLists(1, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}})
	var got []string
	for range 5 {
		if list, err := s.List(metav1.ListOptions{}); err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, names(t, list))
		}
	}
	assert.Equal(t, []string{"boom", "boom", "bang", "(77,)", "a@1 (1,)"}, got)

	synctest.Test(t, func(t *testing.T) {
		s := New(pod("a"))
		s.FailWatches(1, boom)
		s.ServeWatches(Always, watch.Event{Type: watch.Added, Object: pod("x")})
		_, err := s.Watch(metav1.ListOptions{})
		require.ErrorIs(t, err, boom)
		for range 2 {
			w, err := s.Watch(metav1.ListOptions{})
			require.NoError(t, err)
			assert.Equal(t, "ADDED:x@ end", drain(w))
		}
		s.Heal()
		w, err := s.Watch(metav1.ListOptions{ResourceVersion: "1"})
		require.NoError(t, err)
		defer w.Stop()
		assert.Equal(t, "quiet", drain(w))
	})
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(pod("a"))
		releaseLists, releaseWatches := s.HoldLists(), s.HoldWatches()
		done := make(chan string, 2)
		go func() {
			_, err := s.List(metav1.ListOptions{})
			done <- fmt.Sprint("list ", err)
		}()
		synctest.Wait()
		require.Empty(t, done, "the list must wait")
		require.Len(t, s.Requests(List), 1, "a request is recorded when it arrives")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.WatchWithContext(ctx, metav1.ListOptions{})
		require.ErrorIs(t, err, context.Canceled)
		releaseLists()
		assert.Equal(t, "list <nil>", <-done)

		s.IgnoreContext = true
		go func() {
			w, err := s.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: "1"})
			w.Stop()
			done <- fmt.Sprint("watch ", err)
		}()
		synctest.Wait()
		require.Empty(t, done, "the watch must wait although its context has ended")
		releaseWatches()
		assert.Equal(t, "watch <nil>", <-done)
		assert.Len(t, s.Requests(), 3)
	})
}

func TestScriptMistakesPanic(t *testing.T) {
	s := New(pod("a"))
	assert.PanicsWithValue(t, "lwtest: ADDED of ns/a, exists=true: fix the test's script", func() { s.Add(pod("a")) })
	assert.PanicsWithValue(t, "lwtest: MODIFIED of ns/b, exists=false: fix the test's script", func() { s.Update(pod("b")) })
	assert.PanicsWithValue(t, "lwtest: DELETED of ns/b, exists=false: fix the test's script", func() { s.Delete(pod("b")) })
	assert.PanicsWithValue(t, "lwtest: RestoreTo(5) at version 1: that is the future, use Advance", func() { s.RestoreTo(5) })
	assert.PanicsWithValue(t, "lwtest: a bookmark of which kind? set Server.NewList or add an object first", func() { (&Server{}).bookmark(false) })
	defer s.HoldLists()()
	assert.PanicsWithValue(t, "lwtest: already held: release first", func() { s.HoldLists() })
}

// Today's informer over a streamed list that is empty: the bookmark must have
// the kind's type, or the client skips it and waits for ever.
func TestInformerFollows(t *testing.T) {
	for name, watchList := range map[string]bool{"list": false, "watch list": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New()
				s.WatchList = watchList
				s.NewList = func() runtime.Object { return &corev1.PodList{} }
				store := cache.NewStore(cache.MetaNamespaceKeyFunc)
				r := cache.NewReflector(s, &corev1.Pod{}, store, 0)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); r.RunWithContext(ctx) }()
				synctest.Wait()
				s.Add(pod("a"))
				s.Add(pod("b"))
				s.Delete(pod("a"))
				synctest.Wait()
				assert.Equal(t, []string{"ns/b"}, store.ListKeys())
				cancel()
				<-done
			})
		})
	}
}
