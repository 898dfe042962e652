package processor_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
)

func TestEveryHandlerGetsEverythingInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		a, b := &recorder{}, &recorder{}
		addHandler(p, a)
		addHandler(p, b)
		run(t, p)

		p.OnAdd(pod("x", "1"), true)
		p.OnUpdate(pod("x", "1"), pod("x", "2"))
		synctest.Wait()
		assert.Empty(t, a.got(), "nothing is given out before Flush")
		p.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/x"})
		p.Flush()
		p.Flush()
		p.OnAdd(pod("y", "3"), false)
		p.Flush()
		synctest.Wait()
		want := []string{"add x1 initial=true", "update x1 to x2", "delete tombstone ns/x", "add y3 initial=false"}
		assert.Equal(t, want, a.got())
		assert.Equal(t, want, b.got())
	})
}

func TestLateHandler(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		run(t, p)
		p.OnAdd(pod("x", "1"), false)
		late := &recorder{}
		registration := p.Add(late, cache.HandlerOptions{}, "late", []any{pod("x", "1"), pod("y", "2")}, true)
		p.OnUpdate(pod("x", "1"), pod("x", "3"))
		p.Flush()
		synctest.Wait()
		assert.Equal(t, []string{"add x1 initial=true", "add y2 initial=true", "update x1 to x3"}, late.got(),
			"what was reported and not flushed before Add is in its initial list, and comes once")
		assert.True(t, registration.HasSynced())
		assert.Equal(t, "late", registration.HasSyncedChecker().Name())
	})
}

func TestB24_SyncedWhenTheHandlerHasReturned(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		release := make(chan struct{})
		slow := &recorder{before: func(event string) {
			if strings.HasPrefix(event, "add b") {
				<-release
			}
		}}
		slowRegistration, quickRegistration := addHandler(p, slow), addHandler(p, &recorder{})
		run(t, p)
		for _, name := range []string{"a", "b", "c"} {
			p.OnAdd(pod(name, "1"), true)
		}
		p.Flush()
		synctest.Wait()
		assert.False(t, quickRegistration.HasSynced(), "the informer has not synced yet")
		p.Synced()
		synctest.Wait()
		assert.True(t, quickRegistration.HasSynced())
		assert.False(t, slowRegistration.HasSynced(), "it is still busy with b")
		close(release)
		<-slowRegistration.HasSyncedChecker().Done()
		assert.Len(t, slow.got(), 3)
		p.Synced()
		synctest.Wait()
		assert.True(t, slowRegistration.HasSynced(), "a second mark does no harm")
	})
}

func TestSyncedOverAnEmptyList(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		early := addHandler(p, &recorder{})
		p.Synced()
		run(t, p)
		late := p.Add(&recorder{}, cache.HandlerOptions{}, "late", nil, true)
		synctest.Wait()
		assert.True(t, early.HasSynced())
		assert.True(t, late.HasSynced())
	})
}

func TestHandlersMayRemoveThemselvesAndAddOthers(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		var registration cache.ResourceEventHandlerRegistration
		h := &recorder{before: func(string) { assert.NoError(t, p.Remove(registration)) }}
		registration = addHandler(p, h)
		run(t, p)
		p.OnAdd(pod("a", "1"), false)
		p.OnAdd(pod("b", "2"), false)
		p.Flush()
		<-registration.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
		assert.Equal(t, []string{"add a1 initial=false"}, h.got(), "no call begins after Remove")
	})
}

func TestRemovedHandlerDoesNotGetSynced(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		release := make(chan struct{})
		registration := addHandler(p, &recorder{before: func(string) { <-release }})
		run(t, p)
		p.OnAdd(pod("a", "1"), true)
		p.OnAdd(pod("b", "1"), true)
		p.Synced()
		synctest.Wait()
		require.NoError(t, p.Remove(registration))
		close(release)
		synctest.Wait()
		assert.False(t, registration.HasSynced(), "b was dropped, so the initial list has not been delivered")
	})
}

// As client-go's: what counts is whether the handler has seen all of the initial list.
func TestHandlerThatIsRemovedInItsLastInitialCallGetsSynced(t *testing.T) {
	for name, end := range map[string]func(p *processor.Processor, r cache.ResourceEventHandlerRegistration, stop func()){
		"removed": func(p *processor.Processor, r cache.ResourceEventHandlerRegistration, _ func()) {
			require.NoError(t, p.Remove(r))
		},
		"stopped": func(_ *processor.Processor, _ cache.ResourceEventHandlerRegistration, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *processor.Processor) {
				release := make(chan struct{})
				registration := addHandler(p, &recorder{before: func(string) { <-release }})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); p.Run(ctx) }()
				synctest.Wait()
				p.OnAdd(pod("a", "1"), true)
				p.Flush()
				synctest.Wait()
				p.Synced() // the mark waits behind the call
				p.OnAdd(pod("b", "1"), false)
				p.Flush()
				end(p, registration, cancel)
				synctest.Wait()
				assert.False(t, registration.HasSynced(), "the handler has not returned")
				close(release)
				synctest.Wait()
				assert.True(t, registration.HasSynced(), "the handler has returned from all of the initial list")
				cancel()
				<-done
			})
		})
	}
}

func TestDeliveredObjectsAreLetGo(t *testing.T) {
	p := processor.New(0)
	blocked, release := make(chan struct{}), make(chan struct{})
	p.Add(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { close(blocked); <-release }}, cache.HandlerOptions{}, "blocks", nil, false)
	first := func() weak.Pointer[corev1.Pod] {
		obj := pod("first", "1")
		p.OnAdd(obj, false)
		p.Flush()
		return weak.Make(obj)
	}()
	p.OnDelete("second")
	p.Flush()
	run(t, p)
	<-blocked
	assert.Eventually(t, func() bool { runtime.GC(); return first.Value() == nil }, 10*time.Second, time.Millisecond,
		"a handler that blocks must not keep what it has been given before")
	close(release)
}

func TestRunOnce(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		h := &recorder{}
		addHandler(p, h)
		stop := run(t, p)
		synctest.Wait()
		p.Run(t.Context()) // returns at once, or the bubble deadlocks
		p.OnAdd(pod("a", "1"), false)
		p.Flush()
		synctest.Wait()
		assert.Len(t, h.got(), 1, "a second Run must not start a second goroutine per handler")
		stop()
		p.Run(t.Context())

		p.OnAdd(pod("b", "2"), false)
		p.Flush()
		p.Synced()
		late := &recorder{}
		registration := addHandler(p, late, pod("a", "1"))
		<-registration.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
		synctest.Wait()
		assert.Empty(t, late.got(), "after the stop nobody is called")
		assert.Empty(t, h.got())
		assert.NoError(t, p.Remove(registration))
	})
}

func TestSlowHandlerIsNamed(t *testing.T) {
	bubble(t, func(t *testing.T, p *processor.Processor) {
		var mu sync.Mutex
		var lines []string
		logger := funcr.New(func(_, args string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, args)
		}, funcr.Options{})
		slow := &recorder{before: func(event string) {
			if event == "add 7 initial=false" {
				time.Sleep(150 * time.Millisecond) // virtual: the handler's work
			}
		}}
		p.Add(slow, cache.HandlerOptions{Logger: &logger}, "the slow one", nil, false)
		run(t, p)
		p.OnAdd(7, false)
		p.Flush()
		time.Sleep(time.Second)
		assert.Empty(t, lines, "slow, but nothing waits for it")
		for range 2000 {
			p.OnAdd(8, false)
		}
		p.OnAdd(7, false)
		p.Flush()
		time.Sleep(time.Second)
		p.OnAdd(7, false) // slow again, and nothing waits any more
		p.Flush()
		time.Sleep(time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, lines, 1)
		assert.Contains(t, lines[0], "the slow one")
		assert.Contains(t, lines[0], "150ms")
	})
}

func TestResyncPeriods(t *testing.T) {
	for name, tc := range map[string]struct {
		informer, early, late time.Duration
		check                 time.Duration
		due                   map[string]string // by second, who is due then
		reason                string
	}{
		"none": {0, 5 * time.Second, 5 * time.Second, 0, map[string]string{}, "an informer without resyncs has none, whoever asks"},
		"the informer's": {3 * time.Second, 3 * time.Second, 3 * time.Second, 3 * time.Second,
			map[string]string{"3": "early late", "6": "early late", "9": "early late"}, ""},
		"shorter before the start": {10 * time.Second, 2 * time.Second, 4 * time.Second, 2 * time.Second,
			map[string]string{"2": "early", "4": "early late", "6": "early", "8": "early late"}, "the check period follows the shortest wish"},
		"shorter after the start": {4 * time.Second, 4 * time.Second, time.Second, 4 * time.Second,
			map[string]string{"4": "early late", "8": "early late"}, "the reflector ticks by then; nobody is due between ticks"},
		"too short": {2 * time.Second, time.Millisecond, 0, time.Second,
			map[string]string{"1": "early", "2": "early", "3": "early", "4": "early", "5": "early", "6": "early", "7": "early", "8": "early", "9": "early"}, "at least a second; zero wants none"},
		"negative": {4 * time.Second, -time.Second, 8 * time.Second, 4 * time.Second,
			map[string]string{"8": "late"}, "less than nothing is nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processor.New(tc.informer)
				early, late := &recorder{}, &recorder{}
				addResyncing(p, early, tc.early)
				run(t, p)
				synctest.Wait()
				addResyncing(p, late, tc.late)
				require.Equal(t, tc.check, p.ResyncCheckPeriod(), tc.reason)
				require.False(t, p.ShouldResync())

				due := map[string]string{}
				step := max(tc.check, time.Second)
				for at := step; at < 10*time.Second; at += step {
					time.Sleep(step)
					needed := p.ShouldResync()
					p.OnUpdate(pod("a", "1"), pod("a", "1"))
					p.Flush()
					synctest.Wait()
					var who []string
					if len(early.got()) > 0 {
						who = append(who, "early")
					}
					if len(late.got()) > 0 {
						who = append(who, "late")
					}
					if len(who) > 0 {
						due[fmt.Sprint(int(at.Seconds()))] = strings.Join(who, " ")
					}
					assert.Equal(t, len(who) > 0, needed)
				}
				assert.Equal(t, tc.due, due, tc.reason)
			})
		})
	}
}

func TestResyncPeriodOfTheInformerIsTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processor.New(3 * time.Second)
		addHandler(p, &recorder{})
		time.Sleep(2 * time.Second)
		assert.False(t, p.ShouldResync())
		time.Sleep(time.Second)
		assert.True(t, p.ShouldResync())
	})
}

// As upstream: the wish is raised to the check period, and not only rounded up to
// the next check.
func TestShortPeriodOfALateHandlerIsRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processor.New(4 * time.Second)
		run(t, p)
		time.Sleep(time.Second)
		addResyncing(p, &recorder{}, time.Second)
		time.Sleep(3 * time.Second)
		assert.False(t, p.ShouldResync(), "3 s after it was added")
		time.Sleep(4 * time.Second)
		assert.True(t, p.ShouldResync(), "7 s after it was added")
	})
}
