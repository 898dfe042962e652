package reflector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

type runner interface {
	RunWithContext(ctx context.Context)
	LastSyncResourceVersion() string
}

type maker func(lw cache.ListerWatcher, expectedType any, store cache.ReflectorStore) runner

func ours(lw cache.ListerWatcher, expectedType any, store cache.ReflectorStore) runner {
	return New(lw, expectedType, store, Options{})
}

func clientGos(lw cache.ListerWatcher, expectedType any, store cache.ReflectorStore) runner {
	return cache.NewReflectorWithOptions(lw, expectedType, store, cache.ReflectorOptions{})
}

// onBoth runs a test in a bubble with our reflector and with client-go's.
func onBoth(t *testing.T, test func(t *testing.T, create maker)) {
	for name, create := range map[string]maker{"ours": ours, "client-go": clientGos} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, create) })
		})
	}
}

// run runs r until the test of the bubble ends or stop is called.
func run(t *testing.T, r runner) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.RunWithContext(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// pass lets virtual time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func newServer(objs ...lwtest.Object) *lwtest.Server {
	s := lwtest.New(objs...)
	s.NewList = func() runtime.Object { return &corev1.PodList{} }
	return s
}

// journal is a store that writes down what it was told.
type journal struct {
	mu      sync.Mutex
	lines   []string
	objects map[string]any
	fail    func(call string) error
}

func newJournal() *journal { return &journal{objects: map[string]any{}} }

func (j *journal) note(call string, obj any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		key = fmt.Sprintf("%v", obj)
	}
	line := call + " " + strings.TrimPrefix(key, "ns/")
	if m, ok := obj.(metav1.Object); ok {
		line += "@" + m.GetResourceVersion()
	}
	j.lines = append(j.lines, line)
	if j.fail != nil {
		if err := j.fail(line); err != nil {
			return err
		}
	}
	if call == "delete" {
		delete(j.objects, key)
	} else {
		j.objects[key] = obj
	}
	return nil
}

func (j *journal) Add(obj any) error    { return j.note("add", obj) }
func (j *journal) Update(obj any) error { return j.note("update", obj) }
func (j *journal) Delete(obj any) error { return j.note("delete", obj) }

func (j *journal) Replace(list []any, version string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := "replace"
	clear(j.objects)
	for _, obj := range list {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			key = fmt.Sprintf("%v", obj)
		}
		line += " " + strings.TrimPrefix(key, "ns/")
		j.objects[key] = obj
	}
	j.lines = append(j.lines, line+" @"+version)
	if j.fail != nil {
		return j.fail(line)
	}
	return nil
}

func (j *journal) Resync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, "resync")
	if j.fail != nil {
		return j.fail("resync")
	}
	return nil
}

// read returns the lines since the last read.
func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// state renders the objects as name@version.
func (j *journal) state() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []string
	for _, key := range slices.Sorted(maps.Keys(j.objects)) {
		o := j.objects[key].(metav1.Object)
		all = append(all, o.GetName()+"@"+o.GetResourceVersion())
	}
	return strings.Join(all, " ")
}

// bookmarked is a journal that wants bookmarks and versions, too.
type bookmarked struct{ *journal }

func (b bookmarked) Bookmark(version string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, "bookmark @"+version)
	if b.fail != nil {
		return b.fail("bookmark")
	}
	return nil
}

func (b bookmarked) UpdateResourceVersion(version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, "version @"+version)
}

// requests renders what s was asked for: verb, version, and what else matters.
func requests(s *lwtest.Server) []string {
	var all []string
	for _, r := range s.Requests() {
		line := fmt.Sprintf("%s %q", r.Verb, r.Options.ResourceVersion)
		if r.Options.SendInitialEvents != nil {
			line += " streamed"
		}
		if r.Options.Limit != 0 {
			line += fmt.Sprintf(" limit=%d", r.Options.Limit)
		}
		if r.Options.Continue != "" {
			line += " continue"
		}
		all = append(all, line)
	}
	return all
}
