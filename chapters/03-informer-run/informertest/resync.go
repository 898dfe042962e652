package informertest

import (
	"fmt"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var resyncs = map[string]scenario{
	"each handler has its own period": func(w *world) {
		w.informer = w.newPodInformer(10 * time.Second)
		w.serve("a")
		count := map[string]*recorder{}
		add := func(name string, period time.Duration) {
			count[name] = &recorder{}
			_, err := w.informer.AddEventHandlerWithResyncPeriod(count[name], period)
			require.NoError(w, err)
		}
		count["default"], _ = w.handle()
		add("none", 0)
		add("three", 3*time.Second)
		w.run()
		add("late one", time.Second)
		add("late twenty", 20*time.Second)
		synctest.Wait()
		for _, r := range count {
			r.take()
		}

		w.sleep(60*time.Second + 100*time.Millisecond)
		got := map[string]int{}
		for name, r := range count {
			lines := r.take()
			for _, line := range lines {
				assert.Equal(w, "update ns/a 1-1", line)
			}
			got[name] = len(lines)
		}
		assert.Equal(w, map[string]int{
			"none":        0,
			"three":       20, // it made the check period
			"default":     5,  // 10 s, rounded up to the next check: 12
			"late one":    20, // raised to the check period, which is fixed now
			"late twenty": 2,  // 21 s
		}, got)
	},

	"no period is shorter than a second": func(w *world) {
		w.informer = w.newPodInformer(10 * time.Second)
		w.serve("a")
		r := &recorder{}
		_, err := w.informer.AddEventHandlerWithResyncPeriod(r, time.Millisecond)
		require.NoError(w, err)
		w.run()
		r.take()
		w.sleep(30*time.Second + 100*time.Millisecond)
		assert.Len(w, r.take(), 30)
	},

	"an informer without resyncs has none for anybody": func(w *world) {
		w.serve("a")
		r := &recorder{}
		_, err := w.informer.AddEventHandlerWithResyncPeriod(r, time.Second)
		require.NoError(w, err)
		w.run()
		r.take()
		w.sleep(time.Hour)
		assert.Empty(w, r.take())
	},

	"a resync shows all that is stored and asks nobody": func(w *world) {
		w.informer = w.newPodInformer(5 * time.Second)
		for i := range 5 {
			w.serve(fmt.Sprintf("pod-%d", i))
		}
		r, _ := w.handle()
		w.run()
		r.take()
		lists := len(w.server.Requests())
		w.sleep(6 * time.Second)
		assert.Equal(w, []string{"update ns/pod-0 1-1", "update ns/pod-1 2-2", "update ns/pod-2 3-3", "update ns/pod-3 4-4", "update ns/pod-4 5-5"}, r.sorted())
		assert.Len(w, w.server.Requests(), lists)
	},

	"a real update reaches those that do not resync": func(w *world) {
		w.informer = w.newPodInformer(2 * time.Second)
		w.serve("a")
		never := &recorder{}
		_, err := w.informer.AddEventHandlerWithResyncPeriod(never, 0)
		require.NoError(w, err)
		w.run()
		w.sleep(10 * time.Second)
		never.take()
		w.server.Update(labelled("a", "x"))
		w.sleep(10 * time.Second)
		assert.Equal(w, []string{"update ns/a 1-2"}, never.take())
	},
}
