package cachetest

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience is how long a scenario waits for what must come.
const patience = 20 * time.Second

// scenarios by name; a name that begins with B and a number is that of a public
// bug report.
var scenarios = map[string]func(*testing.T, *bench){}

func scenario(name string, run func(*testing.T, *bench)) struct{} {
	scenarios[name] = run
	return struct{}{}
}

// Run lets a cache go through the scenarios of these names, or through all.
func Run(t *testing.T, newCache cache.NewCacheFunc, names ...string) {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(scenarios))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, scenarios, name)
			scenarios[name](t, &bench{newCache: newCache, api: NewAPIServer()})
		})
	}
}

// bench is one API server and what makes caches of it.
type bench struct {
	newCache func(*rest.Config, cache.Options) (cache.Cache, error)
	api      *APIServer
}

// make makes a cache whose options are edited by edit.
func (b *bench) make(edit func(*cache.Options)) (cache.Cache, error) {
	opts := b.api.Options()
	edit(&opts)
	return b.newCache(b.api.Config(), opts)
}

// start makes and starts a cache, and stops it at the end of the test.
func (b *bench) start(t *testing.T, edit func(*cache.Options)) cache.Cache {
	t.Helper()
	c, err := b.make(edit)
	require.NoError(t, err)
	run(t, c)
	return c
}

// run starts a cache; stop ends it and waits for it.
func run(t *testing.T, c cache.Cache) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	stop = func() {
		cancel()
		select {
		case err, ok := <-ended:
			require.NoError(t, err)
			if ok {
				close(ended)
			}
		case <-time.After(patience):
			require.Fail(t, "Start did not return after its context had ended")
		}
	}
	t.Cleanup(stop)
	require.True(t, c.WaitForCacheSync(within(t, patience)))
	return stop
}

// within is a context for one step.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func asIs(*cache.Options) {}

func eventually(t *testing.T, reason string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, patience, 5*time.Millisecond, reason)
}

func pod(namespace, name string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}}}
	for n := 0; n < len(labels); n += 2 {
		p.Labels[labels[n]] = labels[n+1]
	}
	return p
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// names of a list's items, as namespace/name, sorted.
func names(pods []corev1.Pod) []string {
	found := []string{}
	for n := range pods {
		found = append(found, client.ObjectKeyFromObject(&pods[n]).String())
	}
	slices.Sort(found)
	return found
}

// listed reads a list of pods and returns its names.
func listed(t *testing.T, c cache.Cache, opts ...client.ListOption) []string {
	t.Helper()
	list := &corev1.PodList{}
	require.NoError(t, c.List(within(t, patience), list, opts...))
	return names(list.Items)
}

// recorder is a handler that sends what it is called with.
type recorder chan string

func (r recorder) handler() toolscache.ResourceEventHandler {
	name := func(obj any) string {
		if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		return client.ObjectKeyFromObject(obj.(client.Object)).String()
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r <- "add " + name(obj) },
		UpdateFunc: func(_, obj any) { r <- "update " + name(obj) },
		DeleteFunc: func(obj any) { r <- "delete " + name(obj) },
	}
}

// next is what the handler is called with next.
func (r recorder) next(t *testing.T) string {
	t.Helper()
	select {
	case call := <-r:
		return call
	case <-time.After(patience):
		require.Fail(t, "no further event")
		return ""
	}
}

// handlerFor sends added pods as they are, not copied.
func handlerFor(pods chan<- *corev1.Pod) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { pods <- obj.(*corev1.Pod) }}
}
