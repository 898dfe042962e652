package reflector

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lwtest"
)

func TestNewNamesWhatIsMissing(t *testing.T) {
	assert.PanicsWithValue(t, "reflector.New: the ListerWatcher is nil: give one that lists and watches the objects",
		func() { New(nil, nil, newJournal(), Options{}) })
	assert.PanicsWithValue(t, "reflector.New: the ListerWatcher is nil: give one that lists and watches the objects",
		func() { New((*cache.ListWatch)(nil), nil, newJournal(), Options{}) })
	assert.PanicsWithValue(t, "reflector.New: the store is nil: give the queue or store to fill",
		func() { New(newServer(), nil, nil, Options{}) })
}

func TestIdentity(t *testing.T) {
	foo := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Foo"}}
	tests := map[string]struct {
		expectedType any
		options      Options
		want         string
	}{
		"none":              {nil, Options{}, "<unspecified>"},
		"typed":             {&corev1.Pod{}, Options{}, "*v1.Pod"},
		"unstructured":      {foo, Options{}, "example.com/v1, Kind=Foo"},
		"any unstructured":  {&unstructured.Unstructured{}, Options{}, "*unstructured.Unstructured"},
		"given description": {foo, Options{TypeDescription: "foos"}, "foos"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := New(newServer(), tc.expectedType, newJournal(), tc.options)
			assert.Equal(t, tc.want, r.TypeDescription())
			theirs := cache.NewReflectorWithOptions(newServer(), tc.expectedType, newJournal(), cache.ReflectorOptions{TypeDescription: tc.options.TypeDescription})
			assert.Equal(t, theirs.TypeDescription(), r.TypeDescription())
			assert.NotEmpty(t, r.Name())
		})
	}
	assert.Equal(t, "mine", New(newServer(), nil, newJournal(), Options{Name: "mine"}).Name())
}

// A lister that ignores its context must not keep Run from ending.
func TestDeafListerDoesNotHangRun(t *testing.T) {
	holds := map[string]func(s *lwtest.Server) func(){
		"list":       func(s *lwtest.Server) func() { return s.HoldLists() },
		"watch":      func(s *lwtest.Server) func() { return s.HoldWatches() },
		"watch list": func(s *lwtest.Server) func() { s.WatchList = true; return s.HoldWatches() },
	}
	for name, hold := range holds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, j := newServer(pod("a")), newJournal()
				s.IgnoreContext = true
				release := hold(s)
				stop := run(t, ours(s, &corev1.Pod{}, j))
				j.read()
				stop()
				release()
				synctest.Wait()
				assert.Empty(t, j.read(), "what comes too late must not reach the store")
				assert.Zero(t, s.OpenWatches(), "a watch that comes too late is stopped")
			})
		})
	}
}

// What a deaf lister answers at last must be stopped by somebody.
func TestWatchThatComesTooLateIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, late := make(chan struct{}), watch.NewFake()
		lw := &cache.ListWatch{WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			<-release
			return late, nil
		}}
		stop := run(t, ours(lw, &corev1.Pod{}, newJournal()))
		stop()
		close(release)
		synctest.Wait()
		assert.True(t, late.IsStopped())
	})
}

// Whatever it waits for, it ends with its context and leaves no watch open.
func TestRunEndsWhereverItIs(t *testing.T) {
	states := map[string]func(s *lwtest.Server){
		"watching":               func(*lwtest.Server) {},
		"in a streamed list":     func(s *lwtest.Server) { s.WatchList = true },
		"behind a streamed list": func(s *lwtest.Server) { s.WatchList = true },
		"listing":                func(s *lwtest.Server) { s.HoldLists() },
		"opening a watch":        func(s *lwtest.Server) { s.HoldWatches() },
		"pausing":                func(s *lwtest.Server) { s.FailLists(lwtest.Always, errors.New("x")) },
		"pausing for a watch":    func(s *lwtest.Server) { s.FailWatches(lwtest.Always, apierrors.NewTooManyRequests("x", 1)) },
		"pausing for a stream": func(s *lwtest.Server) {
			s.WatchList = true
			s.FailWatches(lwtest.Always, apierrors.NewTooManyRequests("x", 1))
		},
	}
	for name, prepare := range states {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(pod("a"))
				prepare(s)
				var lw cache.ListerWatcher = deafWatches{s}
				switch name {
				case "in a streamed list":
					lw = noBookmarks{s}
				case "opening a watch":
					lw = s
				}
				reported := 0
				stop := run(t, New(lw, &corev1.Pod{}, newJournal(), Options{WatchErrorHandler: func(context.Context, *cache.Reflector, error) { reported++ }}))
				before, asked, start := reported, len(s.Requests()), time.Now()
				stop()
				assert.Len(t, s.Requests(), asked, "nothing is asked behind the end")
				assert.Zero(t, time.Since(start), "at once")
				assert.Equal(t, before, reported, "its own end is no error")
				synctest.Wait()
				assert.Zero(t, s.OpenWatches())
			})
		})
	}
}

// A context that ends while a streamed list is being given to the store.
func TestStreamIsStoppedIfTheEndComesInBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := newServer(pod("a")), newJournal()
		s.WatchList = true
		ctx, cancel := context.WithCancel(t.Context())
		j.fail = func(string) error { cancel(); return nil }
		New(deafWatches{s}, &corev1.Pod{}, j, Options{}).RunWithContext(ctx)
		synctest.Wait()
		assert.Zero(t, s.OpenWatches())
	})
}

// deafWatches is a server whose watches end only when they are stopped.
type deafWatches struct{ *lwtest.Server }

func (d deafWatches) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return d.Server.WatchWithContext(context.WithoutCancel(ctx), opts)
}

// A server may leave a stream open behind an error.
func TestWatchesAreStoppedBehindAnError(t *testing.T) {
	for name, newLW := range map[string]func(s *lwtest.Server) cache.ListerWatcher{
		"watch":         func(s *lwtest.Server) cache.ListerWatcher { return s },
		"streamed list": func(s *lwtest.Server) cache.ListerWatcher { s.WatchList = true; return noBookmarks{s} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(pod("a"))
				run(t, ours(newLW(s), &corev1.Pod{}, newJournal()))
				require.Equal(t, 1, s.OpenWatches())
				s.Send(lwtest.ErrorEvent(apierrors.NewInternalError(errors.New("x"))))
				pass(5 * time.Second)
				assert.Equal(t, 1, s.OpenWatches())
			})
		})
	}
}

func TestPanicsReachTheCallerOfRun(t *testing.T) {
	lw := &cache.ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { panic("boom") }}
	handlers := utilruntime.PanicHandlers
	utilruntime.PanicHandlers = nil
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
	r := New(cache.ToListWatcherWithWatchListSemantics(lw, newServer()), &corev1.Pod{}, newJournal(), Options{})
	assert.PanicsWithValue(t, "boom", func() { r.RunWithContext(t.Context()) })
}

// Nothing waits in silence.
func TestWaitsAreNamedEveryTenSeconds(t *testing.T) {
	tests := map[string]struct {
		prepare func(s *lwtest.Server)
		want    string
	}{
		"list":     {func(s *lwtest.Server) { s.HoldLists() }, `"for"="the list of *v1.Pod" "since"="20s"`},
		"watch":    {func(s *lwtest.Server) { s.HoldWatches() }, `"for"="the answer to a watch of *v1.Pod" "since"="20s"`},
		"bookmark": {func(s *lwtest.Server) { s.WatchList = true }, `"for"="the bookmark that marks the end of the initial events of *v1.Pod"`},
		"pause": {func(s *lwtest.Server) { s.FailLists(lwtest.Always, errors.New("x")) },
			`"for"="the pause before *v1.Pod is requested again" "since"="20s"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var lines []string
				logger := funcr.New(func(_, args string) {
					mu.Lock()
					defer mu.Unlock()
					lines = append(lines, args)
				}, funcr.Options{})
				s := newServer(pod("a"))
				tc.prepare(s)
				var lw cache.ListerWatcher = s
				if name == "bookmark" {
					lw = noBookmarks{s}
				}
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
				done := make(chan struct{})
				go func() {
					defer close(done)
					New(lw, &corev1.Pod{}, newJournal(), Options{
						WatchErrorHandler: func(context.Context, *cache.Reflector, error) {},
					}).RunWithContext(ctx)
				}()
				pass(25*time.Second + map[bool]time.Duration{true: 3 * time.Minute}[name == "pause"])
				cancel()
				<-done
				mu.Lock()
				defer mu.Unlock()
				assert.Contains(t, strings.Join(lines, "\n"), tc.want)
			})
		})
	}
}

// noBookmarks is a server that takes SendInitialEvents and never says where they end.
type noBookmarks struct{ *lwtest.Server }

func (n noBookmarks) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.SendInitialEvents, opts.ResourceVersionMatch = nil, ""
	return deafWatches(n).WatchWithContext(ctx, opts)
}

// The default handler logs what is no everyday event, under the reflector's name.
func TestDefaultWatchErrorHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		old := utilruntime.ErrorHandlers
		utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(ctx context.Context, err error, msg string, kv ...any) {
			logger.Error(err, msg, kv...)
		}}
		defer func() { utilruntime.ErrorHandlers = old }()
		s := newServer()
		s.FailLists(1, errors.New("boom"))
		stop := run(t, New(s, &corev1.Pod{}, newJournal(), Options{Name: "mine"}))
		stop()
		require.Len(t, lines, 1)
		assert.Contains(t, lines[0], `"error"="failed to list *v1.Pod: boom" "reflector"="mine" "type"="*v1.Pod"`)
	})
}

type counted map[string][]float64

type metric struct {
	c    counted
	name string
}

func (m metric) Inc()              { m.c[m.name] = append(m.c[m.name], 1) }
func (m metric) Observe(v float64) { m.c[m.name] = append(m.c[m.name], v) }
func (m metric) Set(v float64)     { m.c[m.name] = append(m.c[m.name], v) }

func (c counted) NewListsMetric(n string) cache.CounterMetric { return metric{c, n + " lists"} }
func (c counted) NewListDurationMetric(n string) cache.SummaryMetric {
	return metric{c, n + " list seconds"}
}
func (c counted) NewItemsInListMetric(n string) cache.SummaryMetric {
	return metric{c, n + " items in list"}
}
func (c counted) NewWatchesMetric(n string) cache.CounterMetric { return metric{c, n + " watches"} }
func (c counted) NewShortWatchesMetric(n string) cache.CounterMetric {
	return metric{c, n + " short watches"}
}
func (c counted) NewWatchDurationMetric(n string) cache.SummaryMetric {
	return metric{c, n + " watch seconds"}
}
func (c counted) NewItemsInWatchMetric(n string) cache.SummaryMetric {
	return metric{c, n + " items in watch"}
}
func (c counted) NewLastResourceVersionMetric(n string) cache.GaugeMetric {
	return metric{c, n + " version"}
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := counted{}
		s := newServer(pod("a"), pod("b"))
		s.ServeWatches(1)
		stop := run(t, New(s, &corev1.Pod{}, newJournal(), Options{
			Name: "r", MetricsProvider: c,
			WatchErrorHandler: func(context.Context, *cache.Reflector, error) {},
		}))
		pass(5 * time.Second)
		opened := s.Requests(lwtest.Watch)[1].At
		s.Add(pod("c"))
		pass(time.Minute)
		stop()
		assert.Equal(t, counted{
			"r lists":          {1, 1},
			"r list seconds":   {0, 0},
			"r items in list":  {2, 2},
			"r watches":        {1, 1},
			"r short watches":  {1},
			"r watch seconds":  {0, time.Since(opened).Seconds()},
			"r items in watch": {0, 1},
			"r version":        {2, 2, 3},
		}, c)
	})
}
