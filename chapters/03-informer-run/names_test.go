package informer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
)

// An informer is named after what it watches.
func TestNames(t *testing.T) {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("example.com/v1")
	u.SetKind("Thing")
	for want, i := range map[string]cache.SharedIndexInformer{
		"SharedIndexInformer *v1.Pod":                        informer.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil),
		"SharedIndexInformer example.com/v1, Kind=Thing":     informer.NewSharedIndexInformer(nil, u, 0, nil),
		"SharedIndexInformer *unstructured.Unstructured":     informer.NewSharedIndexInformer(nil, &unstructured.Unstructured{}, 0, nil),
		"SharedIndexInformer <nil>":                          informer.NewSharedIndexInformer(nil, nil, 0, nil),
		"SharedIndexInformer what the caller calls the type": informer.NewSharedIndexInformerWithOptions(nil, u, informer.Options{ObjectDescription: "what the caller calls the type"}),
	} {
		assert.Equal(t, want, i.HasSyncedChecker().Name())
	}
}

// A handler is named as client-go names it.
func TestHandlerNames(t *testing.T) {
	add := func(any) {}
	for name, handler := range map[string]cache.ResourceEventHandler{
		"functions of one place":  cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: func(any) {}},
		"functions of two places": &cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: ignore},
		"methods":                 cache.ResourceEventHandlerFuncs{AddFunc: (&ignorant{}).ignore},
		"no functions":            cache.ResourceEventHandlerFuncs{},
		"a type":                  cache.FilteringResourceEventHandler{},
		"a pointer":               &log{},
		"an anonymous type": struct {
			cache.ResourceEventHandlerFuncs
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, err := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil).AddEventHandler(handler)
			require.NoError(t, err)
			ours, err := informer.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil).AddEventHandler(handler)
			require.NoError(t, err)
			assert.Equal(t, theirs.HasSyncedChecker().Name(), ours.HasSyncedChecker().Name())
		})
	}
}

func ignore(any) {}

type ignorant struct{}

func (*ignorant) ignore(any) {}
