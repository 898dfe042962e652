package assembly_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	. "github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func readingOwnWrites(ns string) manager.Options {
	o := inNamespace(ns)
	o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}
	return o
}

// Every read that follows an own write sees it, while others write to the same kind.
func TestReadYourWrites(t *testing.T) {
	cfg := controlplane.Config(t)
	for name, layers := range map[string]Layers{
		"our in-order queue":         {Queue: OurInOrder},
		"our in-order queue, atomic": {Queue: OurAtomicInOrder},
		"client-go's informer":       {Informer: ClientGoInformer},
	} {
		t.Run(name, func(t *testing.T) {
			ns := controlplane.Namespace(t, cfg)
			mgr, err := NewManager(cfg, readingOwnWrites(ns), layers)
			require.NoError(t, err)
			run(t, mgr)
			c := mgr.GetClient()

			const writers, rounds = 8, 20
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprint("cm-", w)}}
					if !assert.NoError(t, c.Create(t.Context(), cm)) {
						return
					}
					for r := range rounds {
						cm.Data = map[string]string{"round": fmt.Sprint(r)}
						if !assert.NoError(t, c.Update(t.Context(), cm)) {
							return
						}
						var read corev1.ConfigMap
						if assert.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(cm), &read)) {
							assert.Equal(t, fmt.Sprint(r), read.Data["round"], "stale read")
						}
					}
				})
			}
			all.Wait()
		})
	}
}

func TestReadYourWritesIsRefusedOverDeltaFIFO(t *testing.T) {
	for name, layers := range map[string]Layers{"ours": {}, "client-go's": {Queue: ClientGoDeltaFIFO}} {
		t.Run(name, func(t *testing.T) {
			o := readingOwnWrites("ns")
			o.MapperProvider = noMapper
			_, err := NewManager(&rest.Config{}, o, layers)
			assert.ErrorContains(t, err, "EnableReadYourWritesConsistency needs a queue that keeps the order of the watch")
			assert.ErrorContains(t, err, "DeltaFIFO moves a later change of an object before earlier changes of others")
		})
	}
}

// Whoever brings informers of his own brings their queue, of which the layers know nothing.
func TestReadYourWritesIsRefusedOverInformersOfTheCaller(t *testing.T) {
	o := readingOwnWrites("ns")
	o.MapperProvider = noMapper
	o.Cache.NewInformer = NewInformer(Layers{})
	_, err := NewManager(&rest.Config{}, o, Layers{Queue: OurInOrder})
	assert.ErrorContains(t, err, "EnableReadYourWritesConsistency needs a queue that keeps the order of the watch")
}
