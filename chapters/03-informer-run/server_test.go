package informer_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// An informer follows a real API server through creations, changes, deletions, a
// watch that is cut and a gap that only a list can close.
func TestRealServer(t *testing.T) {
	for name, newInformer := range map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
		"client-go's": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(lw, &corev1.ConfigMap{}, 0, cache.Indexers{})
		},
		"ours": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return informer.NewSharedIndexInformer(lw, &corev1.ConfigMap{}, 0, cache.Indexers{})
		},
		"ours over client-go's in-order queue": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return informer.NewSharedIndexInformerWithOptions(lw, &corev1.ConfigMap{}, informer.Options{NewQueue: realFIFOs["atomic"]})
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := controlplane.Config(t)
			client, err := kubernetes.NewForConfig(cfg)
			require.NoError(t, err)
			configMaps := client.CoreV1().ConfigMaps(controlplane.Namespace(t, cfg))
			create := func(name string) {
				_, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
				require.NoError(t, err)
			}
			update := func(name, value string) {
				patch := fmt.Appendf(nil, `{"data":{"value":%q}}`, value)
				_, err := configMaps.Patch(t.Context(), name, "application/merge-patch+json", patch, metav1.PatchOptions{})
				require.NoError(t, err)
			}
			remove := func(name string) {
				require.NoError(t, configMaps.Delete(t.Context(), name, metav1.DeleteOptions{}))
			}

			var cut cutter
			i := newInformer(&cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
					return configMaps.List(ctx, o)
				},
				WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					return cut.watch(func() (watch.Interface, error) { return configMaps.Watch(ctx, o) })
				},
			})
			early := &log{}
			registration, err := i.AddEventHandler(early)
			require.NoError(t, err)

			create("a")
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); i.RunWithContext(ctx) }()
			t.Cleanup(func() { cancel(); <-done })
			require.True(t, cache.WaitForCacheSync(ctx.Done(), i.HasSynced, registration.HasSynced))
			early.await(t, "add a  initial")

			create("b")
			early.await(t, "add b ")
			update("b", "1")
			early.await(t, "update b 1")
			remove("a")
			early.await(t, "delete a ")

			late := &log{}
			_, err = i.AddEventHandler(late)
			require.NoError(t, err)
			late.await(t, "add b 1 initial")

			// A watch that ends: what follows comes all the same.
			cut.cut()
			update("b", "2")
			early.await(t, "update b 2")
			late.await(t, "update b 2")

			// A gap: what happened while the informer was away is forgotten, as far as
			// it is told. The list shows what changed, and a deletion as a tombstone.
			create("c")
			early.await(t, "add c ")
			late.await(t, "add c ")
			reopen := cut.expire()
			update("b", "3")
			remove("c")
			reopen()
			for _, l := range []*log{early, late} {
				require.Eventually(t, func() bool { return l.len() == 2 }, 20*time.Second, 5*time.Millisecond, "the list brings both changes")
				assert.ElementsMatch(t, []string{"update b 3", "gone c "}, l.take())
			}
			assert.Equal(t, 1, len(i.GetStore().ListKeys()))
		})
	}
}

// cutter opens watches and breaks them.
type cutter struct {
	mu     sync.Mutex
	open   watch.Interface
	closed chan struct{} // while not nil, watches wait for it and then get a 410
}

func (c *cutter) watch(open func() (watch.Interface, error)) (watch.Interface, error) {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed != nil {
		<-closed
		return nil, apierrors.NewResourceExpired("too old resource version")
	}
	w, err := open()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = w
	return w, err
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open.Stop()
}

func (c *cutter) expire() (reopen func()) {
	closed := make(chan struct{})
	c.mu.Lock()
	c.closed = closed
	c.mu.Unlock()
	c.cut()
	return func() {
		c.mu.Lock()
		c.closed = nil
		c.mu.Unlock()
		close(closed)
	}
}

// log is an event handler that keeps a line for each event until it is taken.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) OnAdd(obj any, isInInitialList bool) {
	l.write("add", obj, map[bool]string{true: " initial"}[isInInitialList])
}
func (l *log) OnUpdate(_, obj any) { l.write("update", obj, "") }
func (l *log) OnDelete(obj any) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		l.write("gone", t.Obj, "")
		return
	}
	l.write("delete", obj, "")
}

func (l *log) write(what string, obj any, suffix string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	cm := obj.(*corev1.ConfigMap)
	if cm.Name != "kube-root-ca.crt" {
		l.lines = append(l.lines, what+" "+cm.Name+" "+cm.Data["value"]+suffix)
	}
}

func (l *log) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

func (l *log) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// await takes the next line, which must be want.
func (l *log) await(t *testing.T, want string) {
	t.Helper()
	require.Eventually(t, func() bool { return l.len() > 0 }, 20*time.Second, 5*time.Millisecond, "waiting for %q", want)
	require.Equal(t, []string{want}, l.take())
}
