package processor

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
)

const (
	// mutationDetectorEnv is client-go's switch, so that one setting serves both.
	mutationDetectorEnv = "KUBE_CACHE_MUTATION_DETECTOR"
	compareEvery        = time.Second
	// watchFor to twice watchFor is how long an object is compared: whoever has
	// not changed it by then has probably let go of it.
	watchFor = 2 * time.Minute
)

// NewMutationDetector wraps a processor so that a program which changes an
// object of the cache crashes, saying which and what. It costs a copy of every
// object and is for tests: without KUBE_CACHE_MUTATION_DETECTOR=true in the
// environment it returns p itself. name is the cache's, for the report.
func NewMutationDetector(p informer.Processor, name string) informer.Processor {
	if on, _ := strconv.ParseBool(os.Getenv(mutationDetectorEnv)); !on {
		return p
	}
	klog.Background().Info("Warning: the cache mutation detector is on, which takes time and memory", "cache", name)
	return &mutationDetector{Processor: p, name: name}
}

// mutationDetector copies each object as it is reported, and compares from time
// to time. Stands for client-go's defaultCacheMutationDetector. It embeds the
// processor's whole interface and adds to three of its methods.
type mutationDetector struct {
	informer.Processor
	name string

	mu    sync.Mutex // guards fresh
	fresh []original

	// Run's own.

	watched, retained []original
	rotated           time.Time
}

// original is an object of the cache with a copy of what it was when it came.
type original struct {
	cached, copied runtime.Object
}

func (d *mutationDetector) OnAdd(obj any, isInInitialList bool) {
	d.watch(obj)
	d.Processor.OnAdd(obj, isInInitialList)
}

func (d *mutationDetector) OnUpdate(old, obj any) {
	d.watch(obj)
	d.Processor.OnUpdate(old, obj)
}

func (d *mutationDetector) watch(obj any) {
	object, ok := obj.(runtime.Object)
	if !ok {
		return // there is no way to copy it
	}
	o := original{cached: object, copied: object.DeepCopyObject()}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fresh = append(d.fresh, o)
}

// Run runs the processor and compares until ctx is done. It compares in the
// caller's goroutine, so that the panic is where somebody can see it.
func (d *mutationDetector) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { d.Processor.Run(ctx) })
	tick := time.NewTicker(compareEvery)
	defer tick.Stop()
	d.rotated = time.Now()
	for {
		select {
		case <-tick.C:
			d.compare()
		case <-ctx.Done():
			wg.Wait()
			return
		}
	}
}

func (d *mutationDetector) compare() {
	if time.Since(d.rotated) > watchFor {
		d.retained, d.watched = d.watched, nil
		d.rotated = time.Now()
	}
	d.mu.Lock()
	d.watched = append(d.watched, d.fresh...)
	d.fresh = nil
	d.mu.Unlock()

	var changed []string
	for _, list := range [][]original{d.watched, d.retained} {
		for _, o := range list {
			if !reflect.DeepEqual(o.cached, o.copied) {
				changed = append(changed, fmt.Sprintf("%s (- as it came, + as it is now):\n%s", nameOf(o.copied), diff.Diff(o.copied, o.cached)))
			}
		}
	}
	if len(changed) > 0 {
		panic(fmt.Sprintf("cache %s: an object was changed in place; who gets an object from a cache must copy it before changing it\n%s", d.name, strings.Join(changed, "\n")))
	}
}

func nameOf(object runtime.Object) string {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return fmt.Sprintf("%T", object)
	}
	return fmt.Sprintf("%T %s", object, key)
}
