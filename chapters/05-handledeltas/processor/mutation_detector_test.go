package processor_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/processor"
)

const detectorEnv = "KUBE_CACHE_MUTATION_DETECTOR"

func TestMutationDetectorIsOffByDefault(t *testing.T) {
	for _, value := range []string{"", "false", "maybe"} {
		t.Setenv(detectorEnv, value)
		p := processor.New(0)
		assert.Same(t, p, processor.NewMutationDetector(p, "pods"), "it costs nothing when it is off")
	}
}

func TestMutationDetector(t *testing.T) {
	a, b, mutated := pod("a", "1"), pod("b", "1"), pod("mutated", "1")
	for name, tc := range map[string]struct {
		add    func(h cache.ResourceEventHandler)
		mutate func()
		after  time.Duration
		panics bool
		reason string
	}{
		"nothing changed": {
			add:    func(h cache.ResourceEventHandler) { h.OnAdd(a, true); h.OnUpdate(a, b); h.OnDelete(a) },
			mutate: func() {},
			reason: "a program that keeps to the rule must not notice",
		},
		"an added object": {
			add:    func(h cache.ResourceEventHandler) { h.OnAdd(mutated, true) },
			mutate: func() { mutated.Labels = map[string]string{"mine": "yes"} },
			panics: true,
		},
		"an updated object": {
			add:    func(h cache.ResourceEventHandler) { h.OnUpdate(a, mutated) },
			mutate: func() { mutated.Spec.NodeName = "mine: yes" },
			panics: true,
		},
		"after three minutes": {
			add:    func(h cache.ResourceEventHandler) { h.OnAdd(mutated, true) },
			mutate: func() { mutated.Spec.NodeName = "mine: yes, later" },
			after:  3 * time.Minute,
			panics: true,
			reason: "an object is watched for two minutes at least and two more until the second rotation",
		},
		"after five minutes": {
			add:    func(h cache.ResourceEventHandler) { h.OnAdd(mutated, true) },
			mutate: func() { mutated.Spec.NodeName = "mine: yes, too late" },
			after:  5 * time.Minute,
			reason: "memory must not grow for ever",
		},
		"what can't be copied": {
			add:    func(h cache.ResourceEventHandler) { h.OnAdd("text", true) },
			mutate: func() {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(detectorEnv, "true")
			synctest.Test(t, func(t *testing.T) {
				p := processor.NewMutationDetector(processor.New(0), "pods")
				h := &recorder{}
				addHandler(p, h)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				result := make(chan any, 1)
				go func() {
					defer func() { result <- recover() }()
					p.Run(ctx)
				}()
				tc.add(p)
				p.Flush()
				synctest.Wait()
				assert.NotEmpty(t, h.got(), "the handler gets what it would get without")
				time.Sleep(tc.after)
				time.Sleep(1500 * time.Millisecond)
				require.Empty(t, result, "nothing has been changed yet")
				synctest.Wait()
				tc.mutate()
				// Who changes a cached object races with its readers by nature. This
				// lock, which the detector takes too, keeps the race detector out.
				p.OnAdd(b, false)
				time.Sleep(1500 * time.Millisecond)
				cancel()
				message := <-result
				if !tc.panics {
					assert.Nil(t, message, tc.reason)
					return
				}
				require.NotNil(t, message, tc.reason)
				assert.Contains(t, message, "cache pods", "names the cache")
				assert.Contains(t, message, "*v1.Pod ns/mutated", "names the object")
				assert.Regexp(t, `\+ .*"?mine"?: "?yes`, fmt.Sprint(message), "shows the change")
			})
		})
	}
}

func TestMutationDetectorRunsAsLongAsItsProcessor(t *testing.T) {
	t.Setenv(detectorEnv, "true")
	synctest.Test(t, func(t *testing.T) {
		p := processor.NewMutationDetector(processor.New(0), "pods")
		release := make(chan struct{})
		addHandler(p, &recorder{before: func(string) { <-release }})
		p.OnAdd("text", false)
		p.Flush()
		stop := run(t, p)
		synctest.Wait()
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("a handler is still running")
		default:
		}
		close(release)
		<-stopped
	})
}
