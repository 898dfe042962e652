package reflectordeltafifo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/04-reflector-deltafifo/deltafifo"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/04-reflector-deltafifo/reflector"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

type runner interface{ RunWithContext(ctx context.Context) }

var reflectors = map[string]func(lw cache.ListerWatcher, store cache.ReflectorStore) runner{
	"our reflector": func(lw cache.ListerWatcher, store cache.ReflectorStore) runner {
		return reflector.New(lw, &corev1.ConfigMap{}, store, reflector.Options{ResyncPeriod: time.Minute})
	},
	"client-go's reflector": func(lw cache.ListerWatcher, store cache.ReflectorStore) runner {
		return cache.NewReflectorWithOptions(lw, &corev1.ConfigMap{}, store, cache.ReflectorOptions{ResyncPeriod: time.Minute})
	},
}

var queues = map[string]func(known cache.Store) cache.Queue{
	"DeltaFIFO": func(known cache.Store) cache.Queue {
		return deltafifo.New(deltafifo.Options{KnownObjects: known, EmitDeltaTypeReplaced: true})
	},
	"InOrder": func(known cache.Store) cache.Queue {
		return deltafifo.NewInOrder(deltafifo.InOrderOptions{KnownObjects: known})
	},
	"InOrder atomic": func(cache.Store) cache.Queue {
		return deltafifo.NewInOrder(deltafifo.InOrderOptions{Atomic: true, EmitDeltaTypeBookmark: true})
	},
	"client-go's DeltaFIFO": func(known cache.Store) cache.Queue {
		return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true})
	},
	"client-go's RealFIFO": func(cache.Store) cache.Queue {
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: true})
	},
	"no queue": nil,
}

func configMap(i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("cm-%d", i)}}
}

// Every reflector goes with every queue, and with a store alone.
func TestReflectorsAndQueuesFitEachOther(t *testing.T) {
	for reflectorName, newReflector := range reflectors {
		for queueName, newQueue := range queues {
			for _, watchList := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, watchList=%t", reflectorName, queueName, watchList), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := lwtest.New(configMap(0), configMap(1))
						s.WatchList = watchList
						c := &consumer{store: cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)}
						ctx, cancel := context.WithCancel(t.Context())
						var wg sync.WaitGroup
						if newQueue == nil {
							wg.Go(func() { newReflector(s, c.store).RunWithContext(ctx) })
						} else {
							q := newQueue(c.store)
							wg.Go(func() {
								newReflector(s, q).RunWithContext(ctx)
								q.Close()
							})
							wg.Go(func() { c.run(every(q)) })
						}
						for i := range 200 {
							churn(s, i)
						}
						time.Sleep(5 * time.Minute)
						cancel()
						wg.Wait()
						want := map[string]string{}
						for _, o := range s.Objects() {
							want[o.GetName()] = o.GetResourceVersion()
						}
						assert.Equal(t, want, c.state())
					})
				})
			}
		}
	}
}

// churn makes one step of a server's life.
func churn(s *lwtest.Server, i int) {
	there := map[string]bool{}
	for _, o := range s.Objects() {
		there[o.GetName()] = true
	}
	cm := configMap(rand.IntN(5))
	switch n := rand.IntN(10); {
	case i%50 == 49:
		time.Sleep(time.Minute)
	case n == 0:
		s.Compact()
		s.CloseWatches()
	case n == 1:
		s.SendError(apierrors.NewResourceExpired("x"))
	case n == 2:
		synctest.Wait()
	case !there[cm.Name]:
		s.Add(cm)
	case n < 6:
		s.Delete(cm)
	default:
		s.Update(cm)
	}
}

// every gives a queue that has none of its own a PopAll.
func every(q cache.Queue) popAller {
	if all, ok := q.(popAller); ok {
		return all
	}
	return onePop{q}
}

type onePop struct{ cache.Queue }

func (p onePop) PopAll(process func([]cache.Delta, bool) error) error {
	_, err := p.Pop(func(obj any, initial bool) error { return process(obj.(cache.Deltas), initial) })
	return err
}

// client-go's controller runs on our queues: with Pop, and with PopBatch where
// there is one.
func TestClientGosControllerRunsOnOurQueues(t *testing.T) {
	for name, newQueue := range queues {
		if newQueue == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := lwtest.New(configMap(0), configMap(1))
				c := &consumer{store: cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)}
				process := func(deltas []cache.Delta) error {
					for _, d := range deltas {
						if err := c.apply(d); err != nil {
							return err
						}
					}
					return nil
				}
				q := newQueue(c.store)
				controller := cache.New(&cache.Config{
					Queue: q, ListerWatcher: s, ObjectType: &corev1.ConfigMap{},
					Process:      func(obj any, _ bool) error { return process(obj.(cache.Deltas)) },
					ProcessBatch: func(deltas []cache.Delta, _ bool) error { return process(deltas) },
				})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); controller.RunWithContext(ctx) }()
				synctest.Wait()
				assert.True(t, controller.HasSynced())
				s.Update(configMap(0))
				s.Delete(configMap(1))
				s.Add(configMap(2))
				synctest.Wait()
				assert.Equal(t, map[string]string{"cm-0": "3", "cm-2": "5"}, c.state())
				assert.Equal(t, "5", controller.LastSyncResourceVersion())
				cancel()
				<-done
			})
		})
	}
}
