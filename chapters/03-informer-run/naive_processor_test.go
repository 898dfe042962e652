package informer

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

func TestResyncPeriods(t *testing.T) {
	for name, tc := range map[string]struct {
		fallback, check time.Duration
		wish            *time.Duration
		started         bool
		want, wantCheck time.Duration
		reason          string
	}{
		"none in particular":         {10 * time.Second, 10 * time.Second, nil, false, 10 * time.Second, 10 * time.Second, "the informer's own"},
		"none at all":                {10 * time.Second, 10 * time.Second, ptr.To[time.Duration](0), false, 0, 10 * time.Second, "zero means: no resyncs"},
		"negative":                   {10 * time.Second, 10 * time.Second, ptr.To(-time.Second), false, 0, 10 * time.Second, "less than none is none"},
		"longer":                     {10 * time.Second, 10 * time.Second, ptr.To(time.Hour), false, time.Hour, 10 * time.Second, "checks go on as they are"},
		"shorter before the start":   {10 * time.Second, 10 * time.Second, ptr.To(3 * time.Second), false, 3 * time.Second, 3 * time.Second, "the check has to be as short"},
		"shorter after the start":    {10 * time.Second, 10 * time.Second, ptr.To(3 * time.Second), true, 10 * time.Second, 10 * time.Second, "the check is fixed"},
		"too short before the start": {10 * time.Second, 10 * time.Second, ptr.To(time.Millisecond), false, time.Second, time.Second, "the minimum"},
		"too short after the start":  {10 * time.Second, 10 * time.Second, ptr.To(time.Millisecond), true, 10 * time.Second, 10 * time.Second, "minimum, then check"},
		"informer without resyncs":   {0, 0, ptr.To(time.Minute), false, 0, 0, "a wish does not make it resync"},
		"informer below the minimum": {time.Millisecond, time.Millisecond, nil, false, time.Second, time.Millisecond, "handlers have a minimum, checks have none"},
	} {
		t.Run(name, func(t *testing.T) {
			r := resyncPeriods{fallback: tc.fallback, check: tc.check}
			assert.Equal(t, tc.want, r.grant(klog.Background(), tc.wish, tc.started), tc.reason)
			assert.Equal(t, tc.wantCheck, r.check, tc.reason)
		})
	}
}

// Which handlers hear of an update without a change: a new one until the first
// check, then those whose period was over at the last check.
func TestNaiveProcessorResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewNaiveProcessor(10 * time.Second)
		heard := map[string]int{}
		add := func(name string, period time.Duration) {
			p.Add(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { heard[name]++ }}, cache.HandlerOptions{ResyncPeriod: &period}, name, nil, false)
		}
		resync := func() map[string]int {
			clear(heard)
			p.OnUpdate(podAt("a", "1"), podAt("a", "1"))
			return heard
		}
		add("ten", 10*time.Second)
		add("twenty", 20*time.Second)
		add("none", 0)
		assert.Equal(t, map[string]int{"ten": 1, "twenty": 1, "none": 1}, resync(), "before the first check")
		assert.False(t, p.ShouldResync(), "nothing is due")
		assert.Empty(t, resync())
		time.Sleep(10 * time.Second)
		assert.True(t, p.ShouldResync())
		assert.Equal(t, map[string]int{"ten": 1}, resync())
		time.Sleep(10 * time.Second)
		assert.True(t, p.ShouldResync())
		assert.Equal(t, map[string]int{"ten": 1, "twenty": 1}, resync())
		time.Sleep(9 * time.Second)
		assert.False(t, p.ShouldResync())
		assert.Empty(t, resync())

		p.OnUpdate(podAt("a", "1"), podAt("a", "2"))
		assert.Equal(t, map[string]int{"ten": 1, "twenty": 1, "none": 1}, heard, "a change is everybody's")
		clear(heard)
		p.OnUpdate("no", "objects")
		assert.Equal(t, map[string]int{"ten": 1, "twenty": 1, "none": 1}, heard, "what has no version may have changed")
	})
}

// After the start the check period can't change: the reflector has read it.
func TestNaiveProcessorCheckPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewNaiveProcessor(time.Minute)
		add := func(period time.Duration) {
			p.Add(cache.ResourceEventHandlerFuncs{}, cache.HandlerOptions{ResyncPeriod: &period}, "", nil, false)
		}
		add(30 * time.Second)
		assert.Equal(t, 30*time.Second, p.ResyncCheckPeriod())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go p.Run(ctx)
		synctest.Wait()
		add(10 * time.Second)
		assert.Equal(t, 30*time.Second, p.ResyncCheckPeriod())
	})
}

func TestNaiveProcessorEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewNaiveProcessor(0)
		gate := make(chan struct{})
		calls := 0
		r := p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { calls++; <-gate }}, cache.HandlerOptions{}, "name", nil, false).(*naiveRegistration)
		assert.Equal(t, "name", r.HasSyncedChecker().Name())

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); p.Run(ctx) }()
		var wg sync.WaitGroup
		wg.Go(func() { p.OnAdd(podAt("a", "1"), false) })
		synctest.Wait()
		cancel()
		synctest.Wait()
		assert.False(t, isClosed(done), "a handler is running")
		assert.False(t, isClosed(r.ShutdownChan()))
		close(gate)
		<-done
		wg.Wait()
		assert.True(t, isClosed(r.ShutdownChan()))
		p.OnAdd(podAt("b", "2"), false)
		assert.Equal(t, 1, calls, "nothing is delivered any more")
	})
}

// A registration that is removed between being chosen and being called is not called.
func TestNaiveProcessorRemovesAtOnce(t *testing.T) {
	p := NewNaiveProcessor(0)
	called := false
	var second cache.ResourceEventHandlerRegistration
	p.Add(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { require.NoError(t, p.Remove(second)) }}, cache.HandlerOptions{}, "", nil, true)
	second = p.Add(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { called = true }}, cache.HandlerOptions{}, "", nil, true)
	p.OnDelete(podAt("a", "1"))
	assert.False(t, called)
	assert.ErrorContains(t, p.Remove(nil), "RemoveEventHandler takes what this informer's AddEventHandler returned")
}

// What there is to say about a handler goes to the logger that came with it.
func TestNaiveProcessorLogger(t *testing.T) {
	really, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash = false
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = really, handlers }()
	var heard []string
	logger := funcr.New(func(_, args string) { heard = append(heard, args) }, funcr.Options{})
	p := NewNaiveProcessor(0)
	p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("handler") }},
		cache.HandlerOptions{Logger: &logger, ResyncPeriod: ptr.To(time.Minute)}, "", nil, true)
	require.Len(t, heard, 1)
	assert.Contains(t, heard[0], "no resyncs for this handler, because its informer has none")
	p.OnAdd(podAt("a", "1"), false)
	require.Len(t, heard, 2)
	assert.Contains(t, heard[1], "Observed a panic")
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
