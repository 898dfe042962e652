package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	informer "github.com/informer-walkthrough/informer-walkthrough/chapters/03-informer-run"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

func TestNilListerWatcher(t *testing.T) {
	i := informer.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	require.NoError(t, i.GetIndexer().Add(pod("a")), "without a server it is still a store, as tests use it")
	handlers := utilruntime.PanicHandlers
	utilruntime.PanicHandlers = nil
	defer func() { utilruntime.PanicHandlers = handlers }()
	assert.PanicsWithValue(t, "SharedIndexInformer *v1.Pod: the ListerWatcher is nil; give the constructor one that lists and watches this type",
		func() { i.RunWithContext(t.Context()) })
}

// Whoever waits says for what, every ten seconds.
func TestWaitingIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		logger := funcr.New(func(_, args string) { d.write("%s", args) }, funcr.Options{})
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
		lw := lwtest.New(pod("a"))
		release := lw.HoldLists()
		stopped := make(chan struct{})
		var i cache.SharedIndexInformer
		i = informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, informer.Options{
			NewProcessor: func(time.Duration) informer.Processor {
				return &processor{diary: &diary{}, informer: &i, stopped: stopped}
			},
		})
		done := make(chan struct{})
		go func() { defer close(done); i.RunWithContext(ctx) }()
		time.Sleep(25 * time.Second)
		release()
		synctest.Wait()
		assert.Equal(t, []string{
			`"level"=0 "msg"="Still waiting" "for"="SharedIndexInformer *v1.Pod: the first list" "since"="10s"`,
			`"level"=0 "msg"="Still waiting" "for"="SharedIndexInformer *v1.Pod: the first list" "since"="20s"`,
		}, d.read())

		cancel()
		time.Sleep(15 * time.Second)
		close(stopped)
		<-done
		assert.Equal(t, `"level"=0 "msg"="Still waiting" "for"="SharedIndexInformer *v1.Pod: event handlers to return" "since"="10s"`, d.read()[2])
	})
}
