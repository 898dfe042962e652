package reflectordeltafifo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/04-reflector-deltafifo/reflector"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// line is a ListerWatcher whose connection can be cut.
type line struct {
	*cache.ListWatch
	streamed bool

	mu       sync.Mutex
	up       *sync.Cond // broadcast when down becomes false
	down     bool
	watches  []*watch.RaceFreeFakeWatcher
	requests []metav1.ListOptions
	lists    int
}

func newLine(lw *cache.ListWatch, streamed bool) *line {
	l := &line{ListWatch: lw, streamed: streamed}
	l.up = sync.NewCond(&l.mu)
	return l
}

func (l *line) IsWatchListSemanticsUnSupported() bool { return !l.streamed }

// pass notes a request and waits while the line is down.
func (l *line) pass(opts metav1.ListOptions) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, opts)
	for l.down {
		l.up.Wait()
	}
}

func (l *line) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	l.pass(opts)
	l.mu.Lock()
	l.lists++
	l.mu.Unlock()
	return l.ListWatch.ListWithContext(ctx, opts)
}

func (l *line) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	l.pass(opts)
	real, err := l.ListWatch.WatchWithContext(ctx, opts)
	if err != nil {
		return nil, err
	}
	cuttable := watch.NewRaceFreeFake()
	l.mu.Lock()
	l.watches = append(l.watches, cuttable)
	l.mu.Unlock()
	go func() {
		defer real.Stop()
		for e := range real.ResultChan() {
			if cuttable.IsStopped() {
				return
			}
			cuttable.Action(e.Type, e.Object)
		}
		cuttable.Stop()
	}()
	return cuttable, nil
}

// cut ends the open watches as a server does that has forgotten their version,
// and holds all requests until mend.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	gone := apierrors.NewResourceExpired("cut by the test").Status()
	for _, w := range l.watches {
		if !w.IsStopped() {
			w.Error(&gone)
		}
	}
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
	l.up.Broadcast()
}

type popAller interface {
	cache.Queue
	PopAll(func([]cache.Delta, bool) error) error
}

// consumer is the loop of doc.go, and remembers the tombstones it met.
type consumer struct {
	store cache.Store

	mu         sync.Mutex
	tombstones []string
}

func (c *consumer) run(q popAller) {
	for {
		err := q.PopAll(func(deltas []cache.Delta, _ bool) error {
			for _, d := range deltas {
				if err := c.apply(d); err != nil {
					return err
				}
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			return
		}
		if err != nil {
			panic(err)
		}
	}
}

func (c *consumer) apply(d cache.Delta) error {
	switch d.Type {
	case cache.ReplacedAll:
		info := d.Object.(cache.ReplacedAllInfo)
		return c.store.Replace(info.Objects, info.ResourceVersion)
	case cache.Deleted:
		if tombstone, ok := d.Object.(cache.DeletedFinalStateUnknown); ok {
			c.mu.Lock()
			c.tombstones = append(c.tombstones, tombstone.Obj.(*corev1.ConfigMap).Name)
			c.mu.Unlock()
		}
		return c.store.Delete(d.Object)
	case cache.Bookmark, cache.SyncAll:
		return nil
	}
	return c.store.Update(d.Object)
}

func (c *consumer) state() map[string]string {
	state := map[string]string{}
	for _, obj := range c.store.List() {
		cm := obj.(*corev1.ConfigMap)
		state[cm.Name] = cm.ResourceVersion
	}
	return state
}

// Our reflector and our queues follow real objects into client-go's store: the
// initial list, each kind of change, and what happened while the line was down.
func TestFollowsRealObjects(t *testing.T) {
	cfg := controlplane.Config(t)
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	modes := map[string]struct {
		streamed bool
		pageSize int64
		finds    []string
	}{
		"streamed": {streamed: true, finds: []string{"cm-2"}},
		"listed":   {finds: []string{"cm-2"}},
		// A limit makes the server answer with the very version that was asked for,
		// so the deletion comes as an event of the watch that follows.
		"in pages": {pageSize: 3},
	}
	for _, kind := range []string{"DeltaFIFO", "InOrder", "InOrder atomic"} {
		for name, mode := range modes {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				ns := controlplane.Namespace(t, cfg)
				cms := client.CoreV1().ConfigMaps(ns)
				create := func(name string) {
					_, err := cms.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
					require.NoError(t, err)
				}
				for i := range 7 {
					create(fmt.Sprintf("cm-%d", i))
				}
				l := newLine(cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", ns, fields.Everything()), mode.streamed)
				c := &consumer{store: cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)}
				q := queues[kind](c.store).(popAller)
				r := reflector.New(l, &corev1.ConfigMap{}, q, reflector.Options{PageSize: mode.pageSize})
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				wg.Go(func() { r.RunWithContext(ctx); q.Close() })
				wg.Go(func() { c.run(q) })
				defer wg.Wait()
				defer cancel()
				follows := func(reason string) {
					t.Helper()
					list, err := cms.List(t.Context(), metav1.ListOptions{})
					require.NoError(t, err)
					want := map[string]string{}
					for _, cm := range list.Items {
						want[cm.Name] = cm.ResourceVersion
					}
					require.Eventually(t, func() bool { return maps.Equal(c.state(), want) }, 20*time.Second, 10*time.Millisecond,
						"%s: want %v", reason, want)
				}

				follows("initial list")
				require.Eventually(t, q.HasSynced, 5*time.Second, time.Millisecond, "what was popped is synced")
				create("cm-7")
				_, err := cms.Patch(t.Context(), "cm-0", "application/merge-patch+json", []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
				require.NoError(t, err)
				require.NoError(t, cms.Delete(t.Context(), "cm-1", metav1.DeleteOptions{}))
				follows("watch")

				l.cut()
				require.NoError(t, cms.Delete(t.Context(), "cm-2", metav1.DeleteOptions{}))
				create("cm-8")
				require.NoError(t, cms.Delete(t.Context(), "cm-3", metav1.DeleteOptions{}))
				create("cm-3")
				l.mend()
				follows("relist")
				create("cm-9")
				follows("watch after the relist")

				c.mu.Lock()
				defer c.mu.Unlock()
				if kind == "InOrder atomic" {
					assert.Empty(t, c.tombstones, "an atomic queue leaves it to the consumer to find what is gone")
				} else {
					assert.Equal(t, mode.finds, c.tombstones, "what is gone is found by the relist")
				}
				l.mu.Lock()
				defer l.mu.Unlock()
				paged := slices.ContainsFunc(l.requests, func(o metav1.ListOptions) bool { return o.Continue != "" })
				assert.Equal(t, mode.pageSize > 0, paged, "only who asks for pages gets them")
				assert.Equal(t, mode.streamed, l.lists == 0, "a streamed list needs no other")
			})
		}
	}
}
