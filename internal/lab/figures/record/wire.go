package record

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// wire is what watches run through. While it is cut there are no watches; one that
// was refused as expired gets the answer that an API server gives for a
// resourceVersion that it no longer has.
type wire struct {
	next http.RoundTripper

	mu      sync.Mutex // guards what follows
	open    []*body
	cut     chan struct{} // not nil while the wire is cut; closed when it is mended
	expired bool
}

// Cut ends every watch.
func (w *wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = make(chan struct{})
	for _, b := range w.open {
		b.end()
	}
	w.open = nil
}

// Mend lets watches through again. If expired, the first one that wants to go on
// from where it was is told that this is too long ago.
func (w *wire) Mend(expired bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expired = expired
	close(w.cut)
	w.cut = nil
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	query := req.URL.Query()
	if query.Get("watch") == "" {
		return w.next.RoundTrip(req)
	}
	w.mu.Lock()
	cut := w.cut
	w.mu.Unlock()
	if cut != nil {
		select {
		case <-cut:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	if query.Get("sendInitialEvents") == "" && w.refuse() {
		return gone(req), nil
	}
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	b := &body{ReadCloser: resp.Body, ended: make(chan struct{})}
	resp.Body = b
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, b)
	return resp, nil
}

func (w *wire) refuse() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.expired
	w.expired = false
	return was
}

func gone(req *http.Request) *http.Response {
	text := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}`
	return &http.Response{
		Status: fmt.Sprintf("%d %s", http.StatusGone, http.StatusText(http.StatusGone)), StatusCode: http.StatusGone,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// body ends like one that the server has closed.
type body struct {
	io.ReadCloser
	once  sync.Once
	ended chan struct{}
}

func (b *body) end() {
	b.once.Do(func() { close(b.ended) })
	b.ReadCloser.Close()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	select {
	case <-b.ended:
		return 0, io.EOF
	default:
		return n, err
	}
}
