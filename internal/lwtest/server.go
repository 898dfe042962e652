package lwtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Object is what a Server holds: typed, unstructured or metadata only.
type Object interface {
	metav1.Object
	runtime.Object
}

// Server keeps a versioned log of the changes of one resource and answers lists
// and watches from it. Set the exported fields before the first request.
type Server struct {
	// WatchList answers SendInitialEvents with ADDED events and the annotated
	// bookmark. False refuses such watches and tells clients not to try.
	WatchList bool
	// NoWatchCache pages lists at resourceVersion "0", too; an API server with a
	// watch cache answers those in one piece whatever their limit.
	NoWatchCache bool
	// IgnoreContext keeps requests that are held from seeing their context end.
	IgnoreContext bool
	// NewList makes the object that lists are answered with, for example
	// a *corev1.PodList. The default is an internal list of any object. A server
	// that never held an object needs it before it can send a bookmark.
	NewList func() runtime.Object

	// mu guards everything below.
	mu        sync.Mutex
	version   uint64 // of the latest change
	compacted uint64 // versions below can't be watched from or listed at
	log       []change
	example   Object // the first object ever added, or nil: bookmarks are of its kind
	watches   map[*stream]struct{}
	requests  []Request
	lists     script[listAnswer]
	opens     script[watchAnswer]
}

// change is one entry of the log: at version, object became what event says.
type change struct {
	version uint64
	event   watch.EventType
	object  Object
}

var (
	_ cache.ListerWatcher            = &Server{}
	_ cache.ListerWatcherWithContext = &Server{}
)

// New returns a server that holds objs, added in this order.
func New(objs ...Object) *Server {
	s := &Server{watches: map[*stream]struct{}{}}
	for _, o := range objs {
		s.Add(o)
	}
	return s
}

// IsWatchListSemanticsUnSupported tells clients whether to ask for streamed lists.
func (s *Server) IsWatchListSemanticsUnSupported() bool { return !s.WatchList }

// Add creates obj and returns the object as stored.
func (s *Server) Add(obj Object) Object { return s.change(watch.Added, obj) }

// Update replaces the object of obj's name and returns the object as stored.
func (s *Server) Update(obj Object) Object { return s.change(watch.Modified, obj) }

// Delete removes the object of obj's name and returns its last state, with the
// version of the deletion.
func (s *Server) Delete(obj Object) Object { return s.change(watch.Deleted, obj) }

func (s *Server) change(event watch.EventType, obj Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, exists := s.state(s.version)[keyOf(obj)]
	if exists == (event == watch.Added) {
		panic(fmt.Sprintf("lwtest: %s of %s, exists=%t: fix the test's script", event, keyOf(obj), exists))
	}
	s.version++
	next := clone(obj)
	if s.example == nil {
		s.example = clone(obj)
	}
	switch {
	case event == watch.Deleted:
		next = clone(old)
	case event == watch.Modified:
		next.SetUID(old.GetUID())
	case next.GetUID() == "":
		next.SetUID(types.UID("uid-" + strconv.FormatUint(s.version, 10)))
	}
	next.SetResourceVersion(strconv.FormatUint(s.version, 10))
	c := change{version: s.version, event: event, object: next}
	s.log = append(s.log, c)
	for w := range s.watches {
		w.offer(c)
	}
	return clone(next)
}

// Advance raises the resourceVersion by n without a change.
func (s *Server) Advance(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version += uint64(n)
}

// Version returns the resourceVersion of the latest change.
func (s *Server) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.FormatUint(s.version, 10)
}

// Objects returns the present state in the order of the keys; it is no request.
func (s *Server) Objects() []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objs []Object
	state := s.state(s.version)
	for _, key := range slices.Sorted(maps.Keys(state)) {
		objs = append(objs, clone(state[key]))
	}
	return objs
}

// Compact forgets how the present state came about: watches and exact lists
// from before get a 410.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted = s.version
}

// RestoreTo goes back to the state at version: what came later never happened,
// and the next change takes the next version. Open watches end.
func (s *Server) RestoreTo(version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version > s.version {
		panic(fmt.Sprintf("lwtest: RestoreTo(%d) at version %d: that is the future, use Advance", version, s.version))
	}
	s.closeWatches()
	s.version = version
	s.compacted = min(s.compacted, version)
	for len(s.log) > 0 && s.log[len(s.log)-1].version > version {
		s.log = s.log[:len(s.log)-1]
	}
}

// state returns the objects at version by key.
func (s *Server) state(version uint64) map[string]Object {
	state := map[string]Object{}
	for _, c := range s.log {
		if c.version > version {
			break
		}
		if c.event == watch.Deleted {
			delete(state, keyOf(c.object))
		} else {
			state[keyOf(c.object)] = c.object
		}
	}
	return state
}

func keyOf(obj metav1.Object) string {
	return cache.NewObjectName(obj.GetNamespace(), obj.GetName()).String()
}

func clone(obj Object) Object { return obj.DeepCopyObject().(Object) }
