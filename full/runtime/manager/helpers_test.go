package manager_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/manager"
)

type newManager func(*rest.Config, manager.Options) (manager.Manager, error)

// onBoth runs a test on our manager and on controller-runtime's.
func onBoth(t *testing.T, test func(*testing.T, newManager)) {
	t.Run("ours", func(t *testing.T) { test(t, ours.New) })
	t.Run("upstream", func(t *testing.T) { test(t, manager.New) })
}

// offline are options for a manager that never meets an API server. The cache is synced at once unless
// another one is given.
func offline(change ...func(*manager.Options)) manager.Options {
	o := manager.Options{
		Logger:  logr.Discard(),
		Metrics: metricsserver.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return meta.NewDefaultRESTMapper([]schema.GroupVersion{}), nil
		},
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) { return &fakeCache{}, nil },
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// make1 makes a manager and fails the test if it can't.
func make1(t *testing.T, n newManager, o manager.Options) manager.Manager {
	t.Helper()
	mgr, err := n(&rest.Config{Host: "http://unused.invalid"}, o)
	require.NoError(t, err)
	return mgr
}

// run is a manager that runs in the background.
type run struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// start runs the manager until stop, or until the test ends.
func start(t *testing.T, mgr manager.Manager) *run {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &run{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = mgr.Start(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-r.done
	})
	return r
}

// wait blocks until Start has returned, and returns its error.
func (r *run) wait() error {
	<-r.done
	return r.err
}

func (r *run) stop() error {
	r.cancel()
	return r.wait()
}

// fakeCache runs like a cache and is synced when the test says so; a nil channel means at once.
type fakeCache struct {
	informertest.FakeInformers
	journal *journal
	synced  <-chan struct{}
	fails   error
}

func (c *fakeCache) Start(ctx context.Context) error {
	if c.fails != nil {
		return c.fails
	}
	c.journal.add("start caches")
	<-ctx.Done()
	c.journal.add("stop caches")
	return nil
}

func (c *fakeCache) WaitForCacheSync(ctx context.Context) bool {
	if c.synced == nil {
		return true
	}
	select {
	case <-c.synced:
		return true
	case <-ctx.Done():
		return false
	}
}

func withCache(c cache.Cache) func(*manager.Options) {
	return func(o *manager.Options) {
		o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return c, nil }
	}
}

// journal remembers what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

func (j *journal) index(line string) int {
	for i, l := range j.all() {
		if strings.Contains(l, line) {
			return i
		}
	}
	return -1
}

func (j *journal) logger() logr.Logger {
	return funcr.New(func(_, args string) { j.add(args) }, funcr.Options{})
}

// noted is a runnable that writes its start and stop into a journal; it runs on every replica unless it
// is a leader's.
type noted struct {
	name    string
	journal *journal
	leader  bool
}

func (n *noted) NeedLeaderElection() bool { return n.leader }

func (n *noted) Start(ctx context.Context) error {
	n.journal.add("start " + n.name)
	<-ctx.Done()
	n.journal.add("stop " + n.name)
	return nil
}

// warm is a leader's runnable with a warm-up.
type warm struct{ noted }

func (w *warm) Warmup(ctx context.Context) error {
	w.journal.add("start warmup")
	<-ctx.Done()
	w.journal.add("stop warmup")
	return nil
}

// notedWebhooks is a webhook server without a port.
type notedWebhooks struct {
	webhook.Server
	noted
}

func (w *notedWebhooks) Start(ctx context.Context) error { return w.noted.Start(ctx) }
func (w *notedWebhooks) NeedLeaderElection() bool        { return false }

// fakeLock is a lease in memory. The holder "other" keeps it from being won.
type fakeLock struct {
	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord
	broken  bool
	journal *journal
}

var errLockBroken = errors.New("lock is broken")

func (l *fakeLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return nil, nil, errLockBroken
	}
	if l.record == nil {
		l.record = &resourcelock.LeaderElectionRecord{}
	}
	r := *l.record
	return &r, []byte(fmt.Sprint(r)), nil
}

func (l *fakeLock) Create(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(context.Background(), r)
}

func (l *fakeLock) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return errLockBroken
	}
	if r.HolderIdentity == "" {
		l.journal.add("lease released")
	}
	l.record = &r
	return nil
}

// lose makes every later renewal fail.
func (l *fakeLock) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
}

// free gives the lease up in the name of its holder.
func (l *fakeLock) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record = &resourcelock.LeaderElectionRecord{}
}

func (l *fakeLock) RecordEvent(string) {}
func (l *fakeLock) Identity() string   { return "me" }
func (l *fakeLock) Describe() string   { return "fake/lease" }

func withLock(l resourcelock.Interface) func(*manager.Options) {
	return func(o *manager.Options) {
		o.LeaderElection = true
		o.LeaderElectionResourceLockInterface = l
		o.LeaderElectionReleaseOnCancel = true
	}
}

// heldByOther is a lock that is never won.
func heldByOther() *fakeLock {
	return &fakeLock{record: &resourcelock.LeaderElectionRecord{HolderIdentity: "other", LeaseDurationSeconds: 1 << 30}}
}
