package lwtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Watch is WatchWithContext without a context.
func (s *Server) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), opts)
}

// WatchWithContext replays what came after the version that opts names and goes
// on with what comes. "" and "0" begin with the present state as ADDED events;
// so does SendInitialEvents, which marks the end of them with the annotated
// bookmark. A version before the compaction gets a 410 as an Error event.
func (s *Server) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	s.record(Watch, opts)
	if err := s.wait(ctx, &s.opens.gate); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.opens.next(); ok {
		if a.err != nil {
			return nil, a.err
		}
		return prepared(ctx, a.events), nil
	}
	if err := refuseSelectors(opts); err != nil {
		return nil, err
	}
	initial := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	if initial && !s.WatchList {
		return nil, apierrors.NewBadRequest("sendInitialEvents is forbidden: Server.WatchList is off")
	}
	if initial && opts.ResourceVersionMatch != metav1.ResourceVersionMatchNotOlderThan {
		return nil, apierrors.NewBadRequest("sendInitialEvents requires resourceVersionMatch NotOlderThan")
	}
	var from uint64
	if opts.ResourceVersion != "" {
		var err error
		if from, err = parse(opts.ResourceVersion); err != nil {
			return nil, err
		}
	}
	if initial && from > s.version {
		return nil, tooLarge(from, s.version)
	}

	w := newStream(opts.AllowWatchBookmarks)
	switch {
	case initial || from == 0:
		state := s.state(s.version)
		for _, key := range slices.Sorted(maps.Keys(state)) {
			w.push(watch.Event{Type: watch.Added, Object: clone(state[key])})
		}
		if initial {
			w.push(s.bookmark(true))
		}
		w.after = s.version
	case from < s.compacted:
		err := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, s.compacted))
		return prepared(ctx, []watch.Event{ErrorEvent(err)}), nil
	default:
		w.after = from
		for _, c := range s.log {
			w.offer(c)
		}
	}
	s.watches[w] = struct{}{}
	if opts.TimeoutSeconds != nil {
		w.timeout = time.AfterFunc(time.Duration(*opts.TimeoutSeconds)*time.Second, w.end)
	}
	go func() {
		w.run(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, w)
	}()
	return w, nil
}

// prepared returns a watch that delivers events and ends.
func prepared(ctx context.Context, events []watch.Event) watch.Interface {
	w := newStream(true)
	for _, e := range events {
		w.push(e)
	}
	w.end()
	go w.run(ctx)
	return w
}

// Bookmark tells the open watches that asked for bookmarks the present version.
func (s *Server) Bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		if w.bookmarks {
			w.push(s.bookmark(false))
		}
	}
}

// bookmark is an object of the kind served, as the API server's are.
func (s *Server) bookmark(initialEventsEnd bool) watch.Event {
	var obj Object
	switch {
	case s.example != nil:
		obj = emptyLike(s.example)
	case s.NewList != nil:
		obj = itemOf(s.NewList())
	default:
		panic("lwtest: a bookmark of which kind? set Server.NewList or add an object first")
	}
	obj.SetResourceVersion(strconv.FormatUint(s.version, 10))
	if initialEventsEnd {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return watch.Event{Type: watch.Bookmark, Object: obj}
}

// Send puts event into every open watch as it is; it is no change of the state.
func (s *Server) Send(event watch.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		if event.Object != nil {
			w.push(watch.Event{Type: event.Type, Object: event.Object.DeepCopyObject()})
		} else {
			w.push(event)
		}
	}
}

// SendError puts err into every open watch as an Error event and ends it.
func (s *Server) SendError(err apierrors.APIStatus) {
	s.Send(ErrorEvent(err))
	s.CloseWatches()
}

// ErrorEvent is the event by which an API server reports err in a watch.
func ErrorEvent(err apierrors.APIStatus) watch.Event {
	status := err.Status()
	return watch.Event{Type: watch.Error, Object: &status}
}

// CloseWatches ends the open watches cleanly, behind what they have to deliver.
func (s *Server) CloseWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeWatches()
}

func (s *Server) closeWatches() {
	for w := range s.watches {
		delete(s.watches, w)
		w.end()
	}
}

// OpenWatches counts the watches that neither side has ended.
func (s *Server) OpenWatches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches)
}
