package controller

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// An event in one namespace costs as many writes among many namespaces as among few.
func TestEventsInOneNamespaceCostTheSameAmongMany(t *testing.T) {
	t.Parallel()
	onEachRuntime(t, func(w *world) {
		source := w.source(map[string]string{"user": "a"})
		var first string
		for i := range 12 {
			if ns := w.namespace(fmt.Sprintf("n%d", i), w.team()); i == 0 {
				first = ns
			}
		}
		m := w.mirror(source)
		w.ready(m, 12)
		for _, tt := range []struct {
			what     string
			do, wait func()
			most     int
		}{
			{"a copy is deleted: it is made again", func() {
				require.NoError(w, w.Delete(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: first, Name: source.Name}}))
			}, func() { w.secret(first, source.Name, map[string]string{"user": "a"}) }, 1},
			{"a copy is changed: it is written once, and rid of the foreign key", func() {
				s := w.secret(first, source.Name, map[string]string{"user": "a"})
				s.Data["user"], s.Data["more"] = []byte("x"), []byte("y")
				require.NoError(w, w.Update(w.ctx, s))
			}, func() { w.secret(first, source.Name, map[string]string{"user": "a"}) }, 2},
			{"a namespace comes: a copy and the status", func() { w.namespace("more", w.team()) }, func() { w.ready(m, 13) }, 2},
			{"a namespace matches no longer: a copy and the status", func() { relabel(w, first, "") }, func() { w.ready(m, 12) }, 2},
			{"a namespace that does not match comes", func() { w.namespace("other", nil) }, func() {}, 0},
			{"a foreign Secret comes", func() {
				require.NoError(w, w.Create(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: first, Name: w.name("foreign")}}))
			}, func() {}, 0},
			{"the source changes in nothing that is copied", func() {
				source.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"}
				require.NoError(w, w.Update(w.ctx, source))
			}, func() {}, 0},
		} {
			w.quiet()
			before, seen := w.op.writes(), w.op.count(func(*sent) bool { return true })
			tt.do()
			tt.wait()
			w.quiet()
			// A cache that lags may cost a write that is refused.
			assert.LessOrEqual(w, w.op.writes()-before-w.op.refused(before), tt.most, "%s; it sent %s", tt.what, w.op.since(seen))
		}
	})
}

func TestSteadyStateResyncAndRestartWriteNothing(t *testing.T) {
	t.Parallel()
	inEachWorld(t, func(w *world) {
		w.start()
		source := w.source(map[string]string{"user": "a"})
		taken := w.namespace("taken", w.team())
		require.NoError(w, w.Create(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: taken, Name: source.Name}}))
		for i := range 3 {
			w.namespace(fmt.Sprintf("n%d", i), w.team())
		}
		m := w.mirror(source)
		w.condition(m, v1alpha1.Ready, metav1.ConditionFalse, reasonConflicts)
		missing := w.mirror(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "nowhere", Name: "x"}}, func(m *v1alpha1.Mirror) { m.Name += "-2" })
		w.condition(missing, v1alpha1.Ready, metav1.ConditionFalse, reasonSourceMissing)
		w.quiet()
		w.stop()

		w.start(func(o *manager.Options) { o.Cache.SyncPeriod = ptr.To(300 * time.Millisecond) })
		reads := func() int {
			return w.op.count(func(s *sent) bool {
				return s.method == http.MethodGet && strings.HasSuffix(s.path, "/secrets/"+source.Name)
			})
		}
		w.eventually("resync has made five passes", func() error {
			if n := reads(); n < 5 {
				return fmt.Errorf("%d", n)
			}
			return nil
		})
		assert.Zero(w, w.op.count((*sent).write), "neither copies nor status nor events are written")
		assert.Empty(w, w.op.log.errors())
	})
}

// refused counts the writes behind the first n that were refused as stale.
func (t *traffic) refused(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	refused := 0
	for _, s := range t.sent {
		if !s.write() || s.event() {
			continue
		}
		if n--; n < 0 && (s.status == http.StatusConflict || s.status == http.StatusUnprocessableEntity) {
			refused++
		}
	}
	return refused
}

// since lists what was sent behind the first n requests.
func (t *traffic) since(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, s := range t.sent[n:] {
		lines = append(lines, fmt.Sprintf("%s %s: %d", s.method, s.path, s.status))
	}
	return lines
}

func TestUnrelatedSecretsTakeLittleMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector multiplies what an object takes; make e2e runs this without")
	}
	n := 5000
	if testing.Short() {
		n = 500
	}
	inEachWorldAlone(t, func(w *world) {
		w.start()
		w.ready(w.mirror(w.source(nil)), 0)
		ns := w.namespace("many", nil)
		defer func() { require.NoError(w, w.DeleteAllOf(w.ctx, &corev1.Secret{}, client.InNamespace(ns))) }()
		before := heap()
		w.parallel(n, func(i int) error {
			return w.Create(w.ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("unrelated-%d", i), Annotations: map[string]string{"some": strings.Repeat("x", 1000)}},
				Data:       map[string][]byte{"some": make([]byte, 10_000)},
			})
		})
		r := w.op.objects
		w.eventually("the second cache has them", func() error {
			list := newMetadataList(v1alpha1.Secret)
			if err := r.List(w.ctx, list, client.InNamespace(ns)); err != nil || len(list.Items) == n {
				return err
			}
			return fmt.Errorf("%d", len(list.Items))
		})
		w.quiet()
		each := (heap() - before) / n
		w.Logf("%d unrelated Secrets of 10 kB take %d bytes each", n, each)
		assert.LessOrEqual(w, each, 1024)
	})
}

// heap is what is in use after everything that can be freed was.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// parallel calls f with 0 to n-1, eight at a time.
func (w *world) parallel(n int, f func(i int) error) {
	w.Helper()
	next, errs := make(chan int), make(chan error, n)
	for range 8 {
		go func() {
			for i := range next {
				errs <- f(i)
			}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range n {
		require.NoError(w, <-errs)
	}
}

// Many namespaces that come at once, and many Mirrors: it converges, and no copy
// is written twice. MIRROR_SCALE=1 asks for the size that the figures are about.
func TestScale(t *testing.T) {
	scale := os.Getenv("MIRROR_SCALE") != ""
	run := inEachWorldAlone
	if !scale {
		run = inEachWorld
		t.Parallel()
	}
	for name, size := range map[string]struct{ mirrors, namespaces, big int }{
		"one Mirror, 300 namespaces at once": {1, 40, 300},
		"50 Mirrors on 200 namespaces":       {5, 10, 200},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w *world) {
				w.start()
				mirrors, namespaces := size.mirrors, size.namespaces
				if scale {
					namespaces = size.big
					if mirrors > 1 {
						mirrors = 50
					}
				}
				var all []*v1alpha1.Mirror
				for i := range mirrors {
					s := w.source(map[string]string{"user": "a"}, fmt.Sprint("-", i))
					all = append(all, w.mirror(s, func(m *v1alpha1.Mirror) { m.Name += fmt.Sprint("-", i) }))
				}
				w.quiet()
				began, before := time.Now(), w.op.count(func(*sent) bool { return true })
				w.parallel(namespaces, func(i int) error {
					return w.Create(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name(fmt.Sprintf("n%d", i)), Labels: w.team()}})
				})
				w.patience = 10 * time.Minute
				for _, m := range all {
					w.ready(m, namespaces)
				}
				took := time.Since(began).Round(time.Millisecond)
				w.quiet()
				copies := w.op.count(func(s *sent) bool { return s.write() && strings.Contains(s.path, "/secrets/") })
				status := w.op.count(func(s *sent) bool { return s.write() && strings.HasSuffix(s.path, "/status") })
				w.Logf("%d Mirrors on %d namespaces that come at once: %s, %d requests (%d writes of copies, %d of status)",
					mirrors, namespaces, took, w.op.count(func(*sent) bool { return true })-before, copies, status)
				assert.LessOrEqual(w, copies-w.op.refused(0), mirrors*namespaces, "no copy is written twice")
				assert.Empty(w, w.op.log.errors())
			})
		})
	}
}
