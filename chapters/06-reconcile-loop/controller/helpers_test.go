package controller_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	upstream "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/controller"
)

type (
	request = reconcile.Request
	result  = reconcile.Result
	queue   = workqueue.TypedRateLimitingInterface[request]
)

// constructors are controller-runtime's and ours.
var constructors = map[string]func(name string, o upstream.Options) (upstream.Controller, error){
	"upstream": upstream.NewUnmanaged,
	"chapters": controller.NewUnmanaged,
}

// onBoth runs a test in virtual time on both controllers.
func onBoth(t *testing.T, test func(t *testing.T, newController func(o upstream.Options) *world)) {
	for impl, construct := range constructors {
		t.Run(impl, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, func(o upstream.Options) *world { return newWorld(t, impl, construct, o) })
			})
		})
	}
}

// world is a controller with its queue in sight.
type world struct {
	upstream.Controller
	impl, name string
	queue      queue
	cancel     context.CancelFunc
	ended      chan error
}

var names atomic.Int64

func uniqueName() string { return fmt.Sprintf("controller-%d", names.Add(1)) }

func newWorld(t *testing.T, impl string, construct func(string, upstream.Options) (upstream.Controller, error), o upstream.Options) *world {
	w := &world{impl: impl, name: uniqueName(), ended: make(chan error, 1)}
	c, err := construct(w.name, o)
	require.NoError(t, err)
	w.Controller = c
	// A source learns which queue the controller has made.
	require.NoError(t, c.Watch(source.Func(func(_ context.Context, q queue) error {
		w.queue = q
		return nil
	})))
	return w
}

// start returns when the controller runs or has failed.
func (w *world) start() *world {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go func() { w.ended <- w.Start(ctx) }()
	synctest.Wait()
	return w
}

// stop stops the controller and returns what Start returned.
func (w *world) stop() error {
	w.cancel()
	return <-w.ended
}

func named(name string) request {
	return request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

// syncing is a source that is told how to start and to sync.
type syncing struct {
	start, sync func(ctx context.Context) error
}

func (s *syncing) String() string { return "source of the test" }

func (s *syncing) Start(ctx context.Context, _ queue) error {
	if s.start == nil {
		return nil
	}
	return s.start(ctx)
}

func (s *syncing) WaitForSync(ctx context.Context) error {
	if s.sync == nil {
		return nil
	}
	return s.sync(ctx)
}
