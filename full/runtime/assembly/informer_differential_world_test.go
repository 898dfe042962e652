package assembly_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// endless is a server whose watches don't time out: when they would is random.
type endless struct{ *lwtest.Server }

func (e endless) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.TimeoutSeconds = nil
	return e.Server.WatchWithContext(ctx, o)
}

// event is one call of a handler.
type event struct {
	verb string // add, update, delete, or gone for a tombstone
	key  string
	line string // all that can be seen of it
	// unordered names what it is part of if that comes out of a map: a resync, what a list doesn't
	// show any more, or what a late handler is given. Empty: its place means something.
	unordered string
}

// recorder is a handler that writes down what it is told and can be made to wait.
type recorder struct {
	mu     sync.Mutex // guards what follows
	events []event
	last   map[string]any // the object of each key as last seen
	gate   chan struct{}
	ended  bool // nothing is left to come but the call that waits

	registration cache.ResourceEventHandlerRegistration
}

func (r *recorder) OnAdd(obj any, isInInitialList bool) {
	unordered := ""
	if isInInitialList {
		unordered = "initial"
	}
	r.write("add", obj, fmt.Sprintf("%s initial=%t", describe(obj), isInInitialList), unordered)
}

func (r *recorder) OnUpdate(old, obj any) {
	r.mu.Lock()
	known := r.last[keyOf(obj)] == old
	r.mu.Unlock()
	unordered := ""
	if versionOf(old) == versionOf(obj) {
		unordered = "resync"
	}
	r.write("update", obj, fmt.Sprintf("%s from %s, the object it was told of: %t", describe(obj), describe(old), known), unordered)
}

func (r *recorder) OnDelete(obj any) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		r.write("gone", obj, fmt.Sprintf("%s with %s", t.Key, describe(t.Obj)), "gone")
		return
	}
	r.write("delete", obj, describe(obj), "")
}

func (r *recorder) write(verb string, obj any, line, unordered string) {
	r.mu.Lock()
	r.last[keyOf(obj)] = obj
	gate := r.gate
	r.mu.Unlock()
	if gate != nil {
		<-gate
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended { // which call was the last is the order of a map
		r.events = append(r.events, event{line: "the last call"})
		return
	}
	r.events = append(r.events, event{verb: verb, key: keyOf(obj), line: verb + " " + line, unordered: unordered})
}

func (r *recorder) take() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

func (r *recorder) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

func (r *recorder) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gate == nil {
		r.gate = make(chan struct{})
	}
}

func (r *recorder) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gate != nil {
		close(r.gate)
		r.gate = nil
	}
}

func keyOf(obj any) string {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return err.Error()
	}
	return key
}

func versionOf(obj any) string {
	a, err := meta.Accessor(obj)
	if err != nil {
		return err.Error()
	}
	return a.GetResourceVersion()
}

func describe(obj any) string {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return fmt.Sprintf("%T", obj)
	}
	return fmt.Sprintf("%s@%s %s %q%v", p.Name, p.ResourceVersion, p.UID, p.Labels["value"], p.Annotations)
}

// observation is what can be seen at one time.
type observation struct {
	step     string
	gated    bool
	relisted bool      // a list was asked for
	events   [][]event // of each handler, since the last observation
	held     []bool    // which handlers wait
	state    string
	stored   string // the store's last resourceVersion
	requests []string
}

// story is one informer that runs a program.
type story struct {
	program
	relistsWait bool // while the consumer is busy
	server      *lwtest.Server
	informer    cache.SharedIndexInformer
	handlers    []*recorder
	indexes     []string
	seen        []observation
	lists       int

	started, unanswered bool
	answer              func()
	gate                chan struct{} // nil: open. Index functions look at it under mu.
	mu                  sync.Mutex
	prepared            bool // the server will fail some requests
	closed              bool // a watch was closed just now: ours pauses if the next one ends at once, too
	// gapped and behind: see applies.
	gapped, behind bool
	top            uint64 // no server before a restore was at a higher version
	stopped        bool   // the consumer has run into the gate, if it is closed
}

// playOut runs p with an informer of the given kind, in virtual time, and returns all that was seen.
func playOut(t *testing.T, newInformer parts.NewInformerFunc, p program, relistsWait bool) []observation {
	var l *story
	synctest.Test(t, func(t *testing.T) {
		l = &story{program: p, relistsWait: relistsWait, server: lwtest.New(), unanswered: p.slowStart}
		l.server.Advance(1) // no server is at version 0
		l.server.WatchList = p.watchList
		l.server.NewList = (&corev1.PodList{}).DeepCopyObject
		l.informer = newInformer(endless{l.server}, &corev1.Pod{}, p.resync, cache.Indexers{"value": l.index("value")})
		l.indexes = []string{"value"}
		if p.transform {
			if err := l.informer.SetTransform(mark); err != nil {
				panic(err)
			}
		}
		l.change(p.initial)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		time.Sleep(offGrid)
		for i, s := range p.steps {
			if i == p.start {
				l.start(ctx, ended)
			}
			if i >= p.release && l.started {
				l.answerFirst()
			}
			l.play(s)
			l.wait(fmt.Sprintf("%d %+v", i, s), s.pace)
		}
		if !l.started {
			l.start(ctx, ended)
		}
		l.answerFirst()
		l.open()
		l.wait("all is open", look)
		l.wait("all has settled", settled)
		cancel()
		synctest.Wait()
		for _, h := range l.handlers {
			h.end()
			h.release()
		}
		<-ended
		l.observe("the end")
	})
	return l.seen
}

// mark is a transform that may run more than once, as client-go's do over a streamed list.
func mark(obj any) (any, error) {
	if p, ok := obj.(*corev1.Pod); ok {
		p.Annotations = map[string]string{"transformed": p.Labels["value"]}
	}
	return obj, nil
}

// index indexes by the values of a pod; at the gatekeeper it waits until the gate is open.
func (l *story) index(string) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		pod := obj.(*corev1.Pod)
		if pod.Name == gatekeeper {
			l.mu.Lock()
			gate := l.gate
			l.mu.Unlock()
			if gate != nil {
				<-gate
			}
		}
		return strings.Split(pod.Labels["value"], ","), nil
	}
}

// start starts the informer on a line of the grid.
func (l *story) start(ctx context.Context, ended chan struct{}) {
	time.Sleep(unit - offGrid)
	if l.unanswered {
		lists, watches := l.server.HoldLists(), l.server.HoldWatches()
		l.answer = func() { lists(); watches() }
	}
	l.started = true
	go func() {
		defer close(ended)
		l.informer.RunWithContext(ctx)
	}()
	time.Sleep(offGrid)
	l.arrive()
	l.look("started")
}

func (l *story) answerFirst() {
	if !l.unanswered {
		return
	}
	l.unanswered = false
	time.Sleep(unit - offGrid)
	l.answer()
	time.Sleep(offGrid)
	l.arrive()
	l.look("the first list is answered")
}

func (l *story) wait(step string, p pace) {
	switch p {
	case look:
		l.look(step)
	case settled:
		time.Sleep(unit)
		l.passed()
		l.look(step)
	}
}

// passed is called when a unit of time has passed.
func (l *story) passed() {
	l.server.Heal()
	l.prepared, l.closed = false, false
	l.behind = l.gapped
	l.arrive()
}

// arrive notes whether what has happened on the server has come to the consumer.
func (l *story) arrive() { l.stopped = l.started && !l.unanswered && !l.closed }

func (l *story) look(step string) {
	synctest.Wait()
	l.observe(step)
}

func (l *story) observe(step string) {
	o := observation{step: step, gated: l.gate != nil}
	for _, h := range l.handlers {
		o.events, o.held = append(o.events, h.take()), append(o.held, h.gate != nil)
	}
	lists := 0
	for _, r := range l.server.Requests() {
		o.requests = append(o.requests, fmt.Sprintf("%s after %q at %s", r.Verb, r.Options.ResourceVersion, r.At.Format("15:04:05")))
		if r.Verb == lwtest.List || r.Options.SendInitialEvents != nil {
			lists++
		}
	}
	o.relisted, l.lists = lists > l.lists, lists
	state := []string{fmt.Sprintf("synced %t, version %s", l.informer.HasSynced(), l.informer.LastSyncResourceVersion())}
	for i, h := range l.handlers {
		state = append(state, fmt.Sprintf("handler %d synced %t", i, h.registration.HasSynced()))
	}
	if l.gate == nil { // else a reader waits
		indexer := l.informer.GetIndexer()
		for _, key := range slices.Sorted(slices.Values(indexer.ListKeys())) {
			obj, _, _ := indexer.GetByKey(key)
			state = append(state, describe(obj))
		}
		for _, index := range l.indexes {
			for _, value := range []string{"", "x", "y"} {
				keys, err := indexer.IndexKeys(index, value)
				slices.Sort(keys)
				state = append(state, fmt.Sprint(index, value, keys, err))
			}
		}
		o.stored = indexer.LastStoreSyncResourceVersion()
	}
	o.state = strings.Join(state, "\n")
	l.seen = append(l.seen, o)
}

// holding says whether the server holds the first list and with it every watch.
func (l *story) holding() bool { return l.started && l.unanswered }

func (l *story) version() (version uint64) {
	_, _ = fmt.Sscan(l.server.Version(), &version)
	return version
}

// applies says whether a step can be taken now: the answer comes from the script alone, so that it is
// the same for both informers. A gate needs a consumer that runs into it: a watch that is ahead of a
// server which was restored does not bring the change of the gatekeeper, and later its deletion, for
// which only client-go asks the index function again, would stop one of the two.
func (l *story) applies(what string) bool {
	gated := l.gate != nil
	switch what {
	case "add handler", "remove handler", "add index":
		return !gated // they would wait for the consumer
	case "gate":
		if gated || l.relistsWait && l.prepared || l.version() < l.top {
			return false
		}
	case "gate and miss":
		if gated || l.relistsWait && l.prepared || l.version() < l.top || l.holding() {
			return false
		}
	case "miss", "gap":
		if l.holding() {
			return false
		}
	case "no lists", "no watches", "busy watches":
		if l.prepared {
			return false // or the back-offs together would get too long
		}
	}
	if !gated || !l.relistsWait || what == "open" {
		return true
	}
	// The reflector waits for the consumer, so what a watch says after it has been closed comes to one
	// informer only; and once time has passed one has listed and the other is about to. A list that a
	// watch alone would do for must not come, for the other reflector sees neither the error nor the past.
	switch what {
	case "change":
		return !l.behind
	case "restore", "no lists", "no watches", "busy watches":
		return false
	}
	return !l.gapped
}

func (l *story) play(s step) {
	if !l.applies(s.what) {
		return
	}
	if s.what != "change" {
		synctest.Wait() // it matters which watch is open
	}
	switch s.what {
	case "miss", "gap", "expire", "close", "break", "restore":
		if l.closed {
			l.wait("before "+s.what, settled)
		}
		l.closed, l.gapped = true, l.gate != nil
	case "gate":
		l.arrive()
	case "gate and miss":
		if l.closed {
			l.wait("before "+s.what, settled)
		}
		l.arrive()
		l.closed, l.gapped = true, true
	}
	switch s.what {
	case "change":
		l.change(s.changes)
	case "miss", "gap":
		l.gap(s.changes, s.what == "miss")
	case "expire":
		l.server.SendError(apierrors.NewResourceExpired("too old"))
	case "break":
		l.server.SendError(apierrors.NewGenericServerResponse(503, "watch", corev1.Resource("pods"), "", "broken", 0, true))
	case "close":
		l.server.CloseWatches()
	case "restore":
		version := l.version()
		l.top = max(l.top, version)
		l.server.RestoreTo(max(1, version-min(version, uint64(s.n))))
	case "bookmark":
		l.server.Advance(s.n)
		l.server.Bookmark()
	case "repeat", "stray":
		l.repeat(s)
	case "no lists":
		l.prepared = true
		l.server.FailLists(s.n, apierrors.NewServiceUnavailable("no lists"))
	case "no watches":
		l.prepared = true
		l.server.FailWatches(s.n, apierrors.NewServiceUnavailable("no watches"))
	case "busy watches":
		l.prepared = true
		l.server.FailWatches(s.n, apierrors.NewTooManyRequests("busy", 1))
	case "add handler":
		l.addHandler(s.resync)
	case "remove handler", "hold handler", "release handler":
		if len(l.handlers) > 0 {
			l.handle(s.what, l.handlers[s.handler%len(l.handlers)])
		}
	case "add index":
		name := fmt.Sprint("late ", len(l.indexes))
		if err := l.informer.AddIndexers(cache.Indexers{name: l.index(name)}); err != nil {
			panic(err)
		}
		l.indexes = append(l.indexes, name)
	case "gate":
		l.close(s.changes)
	case "gate and miss":
		l.close(s.changes)
		synctest.Wait()
		l.gap(s.missed, true)
	case "open":
		l.open()
	case "pause":
		time.Sleep(time.Duration(s.n) * unit)
		l.passed()
	}
}

// gap changes things while there is no watch, and, if they are forgotten, no watch can go on.
func (l *story) gap(changes []change, forget bool) {
	release := l.server.HoldWatches()
	l.server.CloseWatches()
	synctest.Wait()
	l.change(changes)
	if forget {
		l.server.Advance(1)
		l.server.Compact()
	}
	release()
}

// close closes the gate, and lets the consumer run into it, now or with its next list or watch.
func (l *story) close(changes []change) {
	l.mu.Lock()
	l.gate = make(chan struct{})
	l.mu.Unlock()
	stopped := l.stopped
	l.stopped = true
	l.change([]change{{name: gatekeeper}})
	synctest.Wait()
	l.stopped = stopped
	l.change(changes)
}

func (l *story) change(changes []change) {
	for _, c := range changes {
		if c.name == gatekeeper && l.gate != nil && !l.stopped {
			continue // the consumer has to meet it, or it goes on until something else stops it
		}
		pod := podOf(c)
		switch there := l.has(c.name); {
		case there && c.delete:
			l.server.Delete(pod)
		case there:
			l.server.Update(pod)
		case !c.delete:
			l.server.Add(pod)
		}
	}
}

func podOf(c change) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: c.name, Labels: map[string]string{"value": c.value}}}
}

func (l *story) has(name string) bool {
	return slices.ContainsFunc(l.server.Objects(), func(o lwtest.Object) bool { return o.GetName() == name })
}

// repeat sends an event that is none: of an object as it is, or the deletion of one that isn't there or
// is there still.
func (l *story) repeat(s step) {
	pod := podOf(s.changes[0])
	pod.ResourceVersion, pod.UID = l.server.Version(), "stray"
	for _, o := range l.server.Objects() {
		if o.GetName() == pod.Name {
			pod = o.(*corev1.Pod)
		}
	}
	e := watch.Event{Type: watch.Deleted, Object: pod}
	if s.what == "repeat" {
		e.Type = []watch.EventType{watch.Added, watch.Modified}[s.n]
	}
	l.server.Send(e)
}

func (l *story) addHandler(resync time.Duration) {
	r := &recorder{last: map[string]any{}}
	var o cache.HandlerOptions
	if resync != own {
		o.ResyncPeriod = &resync
	}
	var err error
	if r.registration, err = l.informer.AddEventHandlerWithOptions(r, o); err != nil {
		panic(err)
	}
	l.handlers = append(l.handlers, r)
}

func (l *story) handle(what string, r *recorder) {
	switch what {
	case "remove handler":
		if err := l.informer.RemoveEventHandler(r.registration); err != nil {
			panic(err)
		}
		r.end()
	case "hold handler":
		r.hold()
	case "release handler":
		r.release()
	}
}

func (l *story) open() {
	if l.gate == nil {
		return
	}
	l.mu.Lock()
	close(l.gate)
	l.gate = nil
	l.mu.Unlock()
	synctest.Wait()
	if l.gapped && l.relistsWait { // one of the reflectors begins now what the other has done
		time.Sleep(unit)
		l.passed()
	}
	l.gapped, l.behind = false, false
}
