package deltafifo

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// maxBeside is how many deltas may gather beside a batch before Add and Update
// wait for it, too: a reflector that runs ahead of a stuck consumer would fill
// the memory otherwise.
const maxBeside = 2000

// base is what both queues have in common: who may enter when, what belongs to
// the initial list, keys and the transform.
//
// The methods expect mu held, unless they say otherwise.
type base struct {
	// Set by New and never changed.
	name        string
	logger      klog.Logger
	keyFunc     cache.KeyFunc // nil: namespace/name
	known       cache.KeyListerGetter
	transformer cache.TransformFunc
	metrics     metrics
	synced      chan struct{} // closed once the initial list is processed

	// mu guards everything below and the queue that embeds base.
	mu sync.Mutex
	// changed is broadcast when something was queued, a batch ended or the queue closed.
	changed sync.Cond
	closed  bool
	// working is true while a batch is processed outside mu.
	working bool
	// waiters counts the calls that wait for the batch to end; the consumer lets
	// them go first, or a busy queue would starve them.
	waiters int
	// populated is true once the first call that could bring objects was made.
	populated bool
	// initial counts what the first Replace queued and is not processed yet.
	initial int
	// isSynced says whether synced is closed.
	isSynced bool
}

func (b *base) init(name string, logger *klog.Logger) {
	l := klog.Background()
	if logger != nil {
		l = *logger
	}
	b.name, b.logger = name, klog.LoggerWithName(l, name)
	b.synced = make(chan struct{})
	b.changed.L = &b.mu
}

// Close makes Pop return cache.ErrFIFOClosed once the queue is empty.
func (b *base) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Broadcast()
}

// IsClosed reports whether Close was called.
func (b *base) IsClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// HasSynced reports whether all that the first Replace queued was processed; it
// is true as well if something else came before a Replace.
func (b *base) HasSynced() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isSynced
}

// HasSyncedChecker is done when HasSynced is true.
func (b *base) HasSyncedChecker() cache.DoneChecker { return b }

// Name is the queue's name in logs and of its checker.
func (b *base) Name() string { return b.name }

// Done is closed when HasSynced becomes true.
func (b *base) Done() <-chan struct{} { return b.synced }

// KeyOf returns the key of an object, a tombstone, or the newest of Deltas.
// It needs no lock.
func (b *base) KeyOf(obj any) (string, error) {
	switch o := obj.(type) {
	case cache.DeletedFinalStateUnknown:
		return o.Key, nil
	case cache.Deltas:
		if len(o) == 0 {
			return "", cache.KeyError{Obj: obj, Err: cache.ErrZeroLengthDeltasObject}
		}
		obj = o.Newest().Object
		if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			return d.Key, nil
		}
	}
	if b.keyFunc == nil {
		return cache.MetaNamespaceKeyFunc(obj)
	}
	return b.keyFunc(obj)
}

// checkKey is KeyOf without building the key where that can be avoided.
func (b *base) checkKey(obj any) error {
	if b.keyFunc == nil {
		if _, err := meta.Accessor(obj); err == nil {
			return nil
		}
	}
	_, err := b.KeyOf(obj)
	return err
}

// transform runs the transformer on an object that comes from the API server; a
// tombstone holds one that went through it already.
func (b *base) transform(obj any) (any, error) {
	if b.transformer == nil {
		return obj, nil
	}
	if _, tombstone := obj.(cache.DeletedFinalStateUnknown); tombstone {
		return obj, nil
	}
	return b.transformer(obj)
}

// populate notes that objects came, the first count of them as the initial list.
func (b *base) populate(count int) {
	if !b.populated {
		b.populated, b.initial = true, count
		b.checkSynced()
	}
}

func (b *base) checkSynced() {
	if b.populated && b.initial == 0 && !b.isSynced {
		b.isSynced = true
		close(b.synced)
	}
}

// awaitWork waits until there is work and it is the consumer's turn.
func (b *base) awaitWork(empty func() bool) error {
	for b.working || b.waiters > 0 || empty() {
		if b.closed && !b.working && b.waiters == 0 {
			return cache.ErrFIFOClosed
		}
		b.changed.Wait()
	}
	return nil
}

// run processes what was taken out of the queue; if outside, without holding
// mu. Only then has it been seen, so the initial list shrinks afterwards, even
// if process panics.
func (b *base) run(outside bool, taken, left int, process func() error) error {
	start := time.Now()
	// A Replace beside the batch may begin an initial list that this batch is no part of.
	initial := min(taken, b.initial)
	if outside {
		b.working = true
		b.mu.Unlock()
	}
	defer func() {
		if outside {
			b.mu.Lock()
			b.working = false
			b.changed.Broadcast()
		}
		b.initial -= initial
		b.checkSynced()
		b.processed(start, taken, left)
	}()
	return process()
}

// processed reports how long a batch took.
func (b *base) processed(start time.Time, taken, left int) {
	took := time.Since(start)
	b.metrics.took(took)
	const slow, crowded = 100 * time.Millisecond, 10
	if left > crowded && took > min(time.Duration(taken)*slow, time.Second) {
		b.logger.Info("Processing holds the queue up: event handlers or index functions are slow",
			"took", took, "taken", taken, "waiting", left)
	}
}
