package cachetest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watchBody is the response of a watch: closing it ends the watch.
type watchBody struct {
	io.Reader
	end context.CancelFunc
}

func (b watchBody) Close() error {
	b.end()
	return nil
}

func (s *APIServer) watch(req *http.Request, ask request) *http.Response {
	ctx, end := context.WithCancel(req.Context())
	out, in := io.Pipe()
	s.mu.Lock()
	s.watches[ask.resource]++
	s.mu.Unlock()
	go func() {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.watches[ask.resource]--
		}()
		defer end()
		defer in.CloseWithError(io.ErrUnexpectedEOF)
		// A write must not outlive its reader.
		context.AfterFunc(ctx, func() { in.CloseWithError(io.ErrUnexpectedEOF) })
		s.stream(ctx, ask, json.NewEncoder(in))
	}()
	return response(req, http.StatusOK, watchBody{out, end})
}

// stream writes events until the reader goes away.
func (s *APIServer) stream(ctx context.Context, ask request, out *json.Encoder) {
	at := ask.from
	if ask.initialEvents || at == 0 {
		var err error
		if at, err = s.streamCurrent(ask, out); err != nil {
			return
		}
	}
	for {
		s.mu.Lock()
		news, changed := s.history[at:], s.changed
		s.mu.Unlock()
		for _, e := range news {
			at++
			if err := e.write(ask, out); err != nil {
				return
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// streamCurrent writes what there is, and says where it ends to those who asked.
func (s *APIServer) streamCurrent(ask request, out *json.Encoder) (int, error) {
	s.mu.Lock()
	at, objects := len(s.history), s.current(ask)
	s.mu.Unlock()
	for _, u := range objects {
		if err := write(out, watch.Added, ask.shape(u)); err != nil {
			return 0, err
		}
	}
	if !ask.initialEvents || !ask.bookmarks {
		return at, nil
	}
	return at, write(out, watch.Bookmark, map[string]any{
		"apiVersion": ask.apiVersion(), "kind": s.mapper.kind(ask),
		"metadata": map[string]any{
			"resourceVersion": strconv.Itoa(at),
			"annotations":     map[string]any{metav1.InitialEventsAnnotationKey: "true"},
		},
	})
}

// write sends the event as a client sees it who has selected some objects: one
// that begins to match is added, one that no longer does is deleted.
func (e event) write(ask request, out *json.Encoder) error {
	if e.resource != ask.resource {
		return nil
	}
	before, after := ask.matches(e.old), ask.matches(e.new)
	switch {
	case before && after:
		return write(out, watch.Modified, ask.shape(e.new))
	case after:
		return write(out, watch.Added, ask.shape(e.new))
	case before:
		gone := e.old.DeepCopy()
		if e.new != nil {
			gone.SetResourceVersion(e.new.GetResourceVersion())
		}
		return write(out, watch.Deleted, ask.shape(gone))
	}
	return nil
}

func write(out *json.Encoder, t watch.EventType, object map[string]any) error {
	return out.Encode(map[string]any{"type": t, "object": object})
}
