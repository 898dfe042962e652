package informermap

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

func TestMetadataOfAWatchIsToldItsKind(t *testing.T) {
	gvk := corev1.SchemeGroupVersion.WithKind("Pod")
	source := watch.NewFakeWithChanSize(10, false)
	w := newGVKFixupWatcher(gvk, source)
	source.Add(&metav1.PartialObjectMetadata{})
	source.Modify(&metav1.PartialObjectMetadata{})
	source.Delete(&metav1.PartialObjectMetadata{})
	source.Error(&metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}})
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		event := <-w.ResultChan()
		assert.Equal(t, want, event.Type)
		assert.Equal(t, gvk, event.Object.GetObjectKind().GroupVersionKind())
	}
	event := <-w.ResultChan()
	assert.Equal(t, "Status", event.Object.GetObjectKind().GroupVersionKind().Kind, "an error is no Pod")
	source.Stop()
	_, open := <-w.ResultChan()
	assert.False(t, open, "ends with its source")
}

func TestStoppedMetadataWatchLeavesNoGoroutine(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	source := watch.NewFakeWithChanSize(10, false)
	w := newGVKFixupWatcher(corev1.SchemeGroupVersion.WithKind("Pod"), source)
	source.Add(&metav1.PartialObjectMetadata{})
	source.Add(&metav1.PartialObjectMetadata{})
	<-w.ResultChan()
	w.Stop()
	w.Stop()
	require.NoError(t, goleak.Find(ignore), "the event that nobody took is dropped")
}
