package informer_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

// The cheapest way to empty a queue is taken.
func TestPop(t *testing.T) {
	type queue = cache.Queue
	for name, tc := range map[string]struct {
		wrap   func(*cache.RealFIFO, *diary) cache.Queue
		want   string
		reason string
	}{
		"all": {
			wrap:   func(q *cache.RealFIFO, d *diary) queue { return popAllQueue{popBatchQueue{q, d}} },
			want:   "PopAll",
			reason: "several deltas of one object at once are allowed here only",
		},
		"batch": {
			wrap:   func(q *cache.RealFIFO, d *diary) queue { return popBatchQueue{q, d} },
			want:   "PopBatch",
			reason: "client-go's in-order queue",
		},
		"one": {
			wrap:   func(q *cache.RealFIFO, d *diary) queue { return popQueue{queueOnly{q}, d} },
			want:   "Pop",
			reason: "client-go's DeltaFIFO",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &diary{}
				i := informer.NewSharedIndexInformerWithOptions(lwtest.New(pod("a")), &corev1.Pod{}, informer.Options{
					NewQueue: func(known cache.KeyListerGetter) cache.Queue {
						return tc.wrap(cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known}), d)
					},
				})
				run(t, i)
				assert.Equal(t, []string{"ns/a"}, i.GetStore().ListKeys())
				assert.Contains(t, d.read(), tc.want, tc.reason)
				for _, line := range d.read() {
					assert.Equal(t, tc.want, line, tc.reason)
				}
			})
		})
	}
}

type queueOnly struct{ cache.Queue }

type popQueue struct {
	queueOnly
	*diary
}

func (q popQueue) Pop(p cache.PopProcessFunc) (any, error) {
	q.write("Pop")
	return q.Queue.Pop(p)
}

type popBatchQueue struct {
	*cache.RealFIFO
	*diary
}

func (q popBatchQueue) PopBatch(all cache.ProcessBatchFunc, one cache.PopProcessFunc) error {
	q.write("PopBatch")
	return q.RealFIFO.PopBatch(all, one)
}

type popAllQueue struct{ popBatchQueue }

func (q popAllQueue) PopAll(process func([]cache.Delta, bool) error) error {
	q.write("PopAll")
	return q.RealFIFO.PopBatch(process, func(obj any, initial bool) error { return process(obj.(cache.Deltas), initial) })
}
