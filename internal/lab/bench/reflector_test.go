package main

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/parts"
)

var reflectors = map[string]func(cache.ListerWatcher, cache.ReflectorStore) informer.Reflector{
	upstream: func(lw cache.ListerWatcher, store cache.ReflectorStore) informer.Reflector {
		return cache.NewReflectorWithOptions(lw, &corev1.Pod{}, store, cache.ReflectorOptions{})
	},
	chapters: func(lw cache.ListerWatcher, store cache.ReflectorStore) informer.Reflector {
		return parts.Reflector(lw, &corev1.Pod{}, store, informer.ReflectorOptions{})
	},
}

// sink is a store that counts.
type sink struct {
	b        *testing.B
	replaced func() // called by Replace
	events   int
	arrived  func() // called when b.N events were there
}

func (s *sink) Add(any) error    { return s.Update(nil) }
func (s *sink) Delete(any) error { return s.Update(nil) }
func (s *sink) Resync() error    { return nil }
func (s *sink) Update(any) error {
	if s.events++; s.events == s.b.N {
		s.arrived()
	}
	return nil
}
func (s *sink) Replace([]any, string) error {
	s.replaced()
	return nil
}

// BenchmarkReflector: a watch event to a store that does nothing.
func BenchmarkReflector(b *testing.B) {
	each(b, two, func(b *testing.B, impl string) {
		a := newAPI(1, b.N)
		a.update(b.N, objects)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		listed := make(chan struct{})
		s := &sink{b: b, replaced: func() { close(listed) }, arrived: func() { b.StopTimer(); cancel() }}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			reflectors[impl](a.listerWatcher(), s).RunWithContext(ctx)
		}()
		<-listed
		b.ResetTimer()
		close(a.start)
		<-ended
	})
}

// BenchmarkReflectorList: a list of 1,000 objects to a store that does nothing.
func BenchmarkReflectorList(b *testing.B) {
	const pods = 1000
	each(b, two, func(b *testing.B, impl string) {
		a := newAPI(pods, 0)
		b.ResetTimer()
		for range b.N {
			ctx, cancel := context.WithCancel(context.Background())
			reflectors[impl](a.listerWatcher(), &sink{b: b, replaced: cancel}).RunWithContext(ctx)
		}
		b.StopTimer()
		per(b, "object", pods)
	})
}

// consume empties a queue of deltas in the cheapest way it has, as an informer does.
func consume(q cache.Queue) error {
	switch q := q.(type) {
	case interface {
		PopAll(func([]cache.Delta, bool) error) error
	}:
		return q.PopAll(func([]cache.Delta, bool) error { return nil })
	case cache.QueueWithBatch:
		return q.PopBatch(func([]cache.Delta, bool) error { return nil }, func(any, bool) error { return nil })
	}
	_, err := q.Pop(func(any, bool) error { return nil })
	return err
}

var deltaQueues = map[string]func(cache.KeyListerGetter) cache.Queue{
	upstream: parts.ClientGoAtomicRealFIFO,
	chapters: parts.DeltaFIFO,
	inOrder:  parts.AtomicInOrder,
}

// BenchmarkDeltaQueue: one goroutine updates, one consumes.
func BenchmarkDeltaQueue(b *testing.B) {
	for _, changing := range []int{1000, 1} {
		b.Run(fmt.Sprintf("objects=%d", changing), func(b *testing.B) {
			pods := versions(changing)
			each(b, three, func(b *testing.B, impl string) {
				q := deltaQueues[impl](cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc))
				done := make(chan struct{})
				go func() {
					defer close(done)
					for consume(q) == nil {
					}
				}()
				b.ResetTimer()
				for i := range b.N {
					if err := q.Update(pods[i/changing%2][i%changing]); err != nil {
						b.Fatal(err)
					}
				}
				q.Close()
				<-done
			})
		})
	}
}
