package lwtest

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Verb is the kind of a request.
type Verb string

const (
	List  Verb = "list"
	Watch Verb = "watch"
)

// Request is one request as it arrived.
type Request struct {
	Verb    Verb
	Options metav1.ListOptions
	At      time.Time
}

// Requests returns every request so far, or those of the given verbs.
func (s *Server) Requests(verbs ...Verb) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Request
	for _, r := range s.requests {
		if len(verbs) == 0 || slices.Contains(verbs, r.Verb) {
			found = append(found, r)
		}
	}
	return found
}

func (s *Server) record(verb Verb, opts metav1.ListOptions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{Verb: verb, Options: *opts.DeepCopy(), At: time.Now()})
}

// Always, as a number of requests, means every one from now on.
const Always = -1

// script says what the next requests of one verb get instead of a real answer.
type script[A any] struct {
	answers []A
	counts  []int         // how often each answer is given
	gate    chan struct{} // requests wait until it is closed; nil: they don't
}

type listAnswer struct {
	list runtime.Object
	err  error
}

type watchAnswer struct {
	events []watch.Event
	err    error
}

func (s *script[A]) add(n int, a A) {
	s.answers, s.counts = append(s.answers, a), append(s.counts, n)
}

func (s *script[A]) next() (answer A, ok bool) {
	for len(s.answers) > 0 && s.counts[0] == 0 {
		s.answers, s.counts = s.answers[1:], s.counts[1:]
	}
	if len(s.answers) == 0 {
		return answer, false
	}
	if s.counts[0] > 0 {
		s.counts[0]--
	}
	return s.answers[0], true
}

// FailLists answers n lists with err, behind what was prepared before.
func (s *Server) FailLists(n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists.add(n, listAnswer{err: err})
}

// ServeLists answers n lists with copies of list.
func (s *Server) ServeLists(n int, list runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists.add(n, listAnswer{list: list})
}

// FailWatches answers n calls of Watch with err, behind what was prepared before.
func (s *Server) FailWatches(n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opens.add(n, watchAnswer{err: err})
}

// ServeWatches gives n watches events and ends them; their objects are not copied.
func (s *Server) ServeWatches(n int, events ...watch.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opens.add(n, watchAnswer{events: events})
}

// Heal drops all prepared answers that were not given yet.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists.answers, s.lists.counts = nil, nil
	s.opens.answers, s.opens.counts = nil, nil
}

// HoldLists makes lists wait until release is called, once.
func (s *Server) HoldLists() (release func()) { return s.hold(&s.lists.gate) }

// HoldWatches makes calls of Watch wait until release is called, once.
func (s *Server) HoldWatches() (release func()) { return s.hold(&s.opens.gate) }

func (s *Server) hold(gate *chan struct{}) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *gate != nil {
		panic("lwtest: already held: release first")
	}
	held := make(chan struct{})
	*gate = held
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		*gate = nil
		close(held)
	}
}

func (s *Server) wait(ctx context.Context, gate *chan struct{}) error {
	s.mu.Lock()
	held := *gate
	s.mu.Unlock()
	if held == nil {
		return nil
	}
	if s.IgnoreContext {
		<-held
		return nil
	}
	select {
	case <-held:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
