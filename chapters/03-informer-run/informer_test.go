package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run/informertest"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

func TestMain(m *testing.M) { controlplane.Main(m) }

func TestInformer(t *testing.T) {
	informertest.Run(t, informer.NewSharedIndexInformer, informertest.Capabilities{HandlersInPlace: true})
}

// Upstream's informer plays the same scenarios: what they ask is what it does.
func TestClientGo(t *testing.T) {
	informertest.Run(t, cache.NewSharedIndexInformer, informertest.ClientGo)
}

// client-go's in-order queue, both in the mode that client-go's own informers
// run and in the one that knows the store.
func TestInformerOverRealFIFO(t *testing.T) {
	for name, newQueue := range realFIFOs {
		t.Run(name, func(t *testing.T) {
			informertest.Run(t, func(lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
				return informer.NewSharedIndexInformerWithOptions(lw, obj, informer.Options{
					ResyncPeriod: resync, Indexers: indexers, NewQueue: newQueue,
				})
			}, informertest.Capabilities{HandlersInPlace: true, InOrder: true})
		})
	}
}

var realFIFOs = map[string]func(cache.KeyListerGetter) cache.Queue{
	"plain": func(known cache.KeyListerGetter) cache.Queue {
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
	},
	"atomic": func(cache.KeyListerGetter) cache.Queue {
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: true})
	},
}

// An atomic queue passes bookmarks on, and so the store knows how far it is.
func TestBookmarksReachTheStore(t *testing.T) {
	for name, newInformer := range map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
		"client-go's": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
		},
		"ours": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, informer.Options{NewQueue: realFIFOs["atomic"]})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lw := lwtest.New(pod("a"))
				i := newInformer(lw)
				run(t, i)
				assert.Equal(t, "1", i.GetStore().LastStoreSyncResourceVersion())
				lw.Advance(7)
				lw.Bookmark()
				synctest.Wait()
				assert.Equal(t, "8", i.GetStore().LastStoreSyncResourceVersion())
			})
		})
	}
}
