package reflector

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// steps is what may happen to a server and its clients. Streams that end early
// are not among them: client-go never comes to rest over those (B38).
var steps = map[string]func(s *lwtest.Server, name string, n int){
	"write": func(s *lwtest.Server, name string, _ int) {
		if has(s, name) {
			s.Update(pod(name))
		} else {
			s.Add(pod(name))
		}
	},
	"delete": func(s *lwtest.Server, name string, _ int) {
		if has(s, name) {
			s.Delete(pod(name))
		}
	},
	"advance":  func(s *lwtest.Server, _ string, n int) { s.Advance(n) },
	"compact":  func(s *lwtest.Server, _ string, _ int) { s.Compact() },
	"bookmark": func(s *lwtest.Server, _ string, _ int) { s.Bookmark() },
	"close":    func(s *lwtest.Server, _ string, _ int) { s.CloseWatches() },
	"expire":   func(s *lwtest.Server, _ string, _ int) { s.SendError(apierrors.NewResourceExpired("x")) },
	"busy":     func(s *lwtest.Server, _ string, _ int) { s.SendError(apierrors.NewTooManyRequests("x", 1)) },
	"broken":   func(s *lwtest.Server, _ string, _ int) { s.SendError(apierrors.NewInternalError(errors.New("x"))) },
	"odd": func(s *lwtest.Server, _ string, _ int) {
		s.Send(watch.Event{Type: watch.Added, Object: &corev1.Node{}})
	},
	"nil":      func(s *lwtest.Server, _ string, _ int) { s.Send(watch.Event{Type: watch.Deleted}) },
	"no lists": func(s *lwtest.Server, _ string, n int) { s.FailLists(n, apierrors.NewServiceUnavailable("x")) },
	"old lists": func(s *lwtest.Server, _ string, n int) {
		s.FailLists(n, apierrors.NewResourceExpired("x"))
	},
	"no watches": func(s *lwtest.Server, _ string, n int) {
		s.FailWatches(n, apierrors.NewForbidden(corev1.Resource("pods"), "", nil))
	},
	"busy watches": func(s *lwtest.Server, _ string, n int) {
		s.FailWatches(n, apierrors.NewTooManyRequests("x", 1))
	},
	"pause": func(_ *lwtest.Server, _ string, n int) { pass(time.Duration(n) * 10 * time.Second) },
}

func has(s *lwtest.Server, name string) bool {
	return slices.ContainsFunc(s.Objects(), func(o lwtest.Object) bool { return o.GetName() == name })
}

type step struct {
	what, name string
	n          int
}

func anySteps() *rapid.Generator[[]step] {
	names := slices.Sorted(maps.Keys(steps)) // a seed must mean the same program every time
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			rapid.SampledFrom(names).Draw(t, "what"),
			rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
			rapid.IntRange(1, 3).Draw(t, "n"),
		}
	}), 1, 30)
}

// Whatever happens, once the server is well again the store is what it holds,
// with our reflector as with client-go's, and nobody asked too often.
func TestStoreEndsUpLikeTheServer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		program := anySteps().Draw(rt, "program")
		watchList := rapid.Bool().Draw(rt, "watchList")
		create := ours
		if rapid.Bool().Draw(rt, "client-go") {
			create = clientGos
		}
		difference := ""
		synctest.Test(t, func(t *testing.T) {
			s, j := newServer(pod("z")), newJournal()
			s.WatchList = watchList
			stop := run(t, create(s, &corev1.Pod{}, j))
			start := time.Now()
			for _, st := range program {
				steps[st.what](s, st.name, st.n)
				if st.n == 1 {
					synctest.Wait()
				}
			}
			s.Heal()
			pass(5 * time.Minute)
			stop()
			want := ""
			for i, o := range s.Objects() {
				if i > 0 {
					want += " "
				}
				want += o.GetName() + "@" + o.GetResourceVersion()
			}
			if got := j.state(); got != want {
				difference = fmt.Sprintf("store %q, server %q, %v", got, want, requests(s))
			}
			if n := len(s.Requests()); n > 60+int(time.Since(start)/time.Second) {
				difference = fmt.Sprintf("%d requests", n)
			}
		})
		if difference != "" {
			rt.Fatal(difference)
		}
	})
}
