package informertest

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// recorder is an event handler that writes down what it is told:
//
//	add ns/a 1 initial, add ns/a 1, update ns/a 1-2, delete ns/a 3, gone ns/a 1 (by tombstone)
type recorder struct {
	// before, if set, is called with each line before it is written down.
	before func(line string)

	mu    sync.Mutex
	lines []string
}

func (r *recorder) OnAdd(obj any, isInInitialList bool) {
	suffix := ""
	if isInInitialList {
		suffix = " initial"
	}
	r.write("add %s %s%s", key(obj), version(obj), suffix)
}

func (r *recorder) OnUpdate(old, obj any) {
	r.write("update %s %s-%s", key(obj), version(old), version(obj))
}

func (r *recorder) OnDelete(obj any) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		r.write("gone %s %s", t.Key, version(t.Obj))
		return
	}
	r.write("delete %s %s", key(obj), version(obj))
}

func (r *recorder) write(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if r.before != nil {
		r.before(line)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// take returns the lines since the last take.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

// sorted is take where the order of objects among themselves is nobody's promise.
func (r *recorder) sorted() []string {
	lines := r.take()
	slices.Sort(lines)
	return lines
}

func key(obj any) string {
	k, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return err.Error()
	}
	return k
}

func version(obj any) string {
	a, err := meta.Accessor(obj)
	if err != nil {
		return err.Error()
	}
	return a.GetResourceVersion()
}
