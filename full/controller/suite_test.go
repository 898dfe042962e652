package controller

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/config/configtest"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

func TestMain(m *testing.M) {
	sideBySide(8)
	ctrl.SetLogger(logr.Discard())
	// The metadata watches of controller-runtime's cache leave a goroutine behind when they are stopped
	// while an event is on its way; ours do not (chapter 1, gvk_fixup_watcher.go).
	controlplane.Main(m, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}

// runtimes are what the operator runs on; every test runs on each.
var runtimes = map[string]assembly.Layers{
	"chapters":           {},
	"controller-runtime": assembly.ControllerRuntime,
}

// sideBySide lets n tests that are parallel run at once, if nobody says -parallel:
// they wait for the API server, and the default is the number of processors.
func sideBySide(n int) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}

// world is one test's view of a cluster in which the operator runs. Names carry a
// suffix of the test's own, and its operator sees its own Mirrors only, so that
// tests share the cluster and do not meet.
type world struct {
	*testing.T
	client.Client
	suffix string
	// alone tells that no other test runs meanwhile; its operator is that of
	// production, and sees every Mirror.
	alone  bool
	cfg    *rest.Config
	ctx    context.Context
	layers assembly.Layers
	// op is the operator that runs now.
	op *operator
	// patience is for a machine that compiles something else meanwhile.
	patience time.Duration
}

// onEachRuntime runs a test with the operator started on each runtime.
func onEachRuntime(t *testing.T, test func(w *world)) {
	t.Helper()
	inEachWorld(t, func(w *world) {
		w.start()
		test(w)
	})
}

// inEachWorld runs a test that starts the operator itself, on each runtime.
func inEachWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	for name, layers := range runtimes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.layers = layers
			test(w)
		})
	}
}

// inEachWorldAlone is inEachWorld for a test that is not parallel.
func inEachWorldAlone(t *testing.T, test func(w *world)) {
	t.Helper()
	for name, layers := range runtimes {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.layers, w.alone = layers, true
			test(w)
		})
	}
}

// worlds counts them.
var worlds atomic.Int64

// newWorld is a world without an operator.
func newWorld(t *testing.T) *world {
	t.Helper()
	cfg := controlplane.Config(t)
	installed.Do(func() {
		configtest.Install(t, cfg, "../config")
		scheme, err := NewScheme()
		require.NoError(t, err)
		admin, err = client.NewWithWatch(cfg, client.Options{Scheme: scheme})
		require.NoError(t, err)
	})
	require.NotNil(t, admin, "the first test could not install the manifests, its failure says why")
	w := &world{T: t, Client: admin, cfg: cfg, ctx: t.Context(), patience: time.Minute,
		suffix: fmt.Sprint("w", worlds.Add(1))}
	t.Cleanup(w.cleanUp)
	return w
}

// installed is done once for the control plane of this test binary, and makes the
// client of all its tests, which as administrator may do everything.
var (
	installed sync.Once
	admin     client.WithWatch
)

// cleanUp takes away the Mirrors, which shows once more that they can go, and the
// labels of the namespaces, which can't be deleted here.
func (w *world) cleanUp() {
	w.ctx = context.Background()
	defer w.stop()
	var mirrors v1alpha1.MirrorList
	mine := client.MatchingLabelsSelector{Selector: w.mine()}
	require.NoError(w, w.List(w.ctx, &mirrors, mine))
	if len(mirrors.Items) > 0 && w.op == nil {
		w.start()
	}
	for i := range mirrors.Items {
		require.NoError(w, client.IgnoreNotFound(w.Delete(w.ctx, &mirrors.Items[i])))
	}
	w.eventually("every Mirror is gone", func() error {
		if err := w.List(w.ctx, &mirrors, mine); err != nil || len(mirrors.Items) == 0 {
			return err
		}
		return fmt.Errorf("%d left, the first %s", len(mirrors.Items), mirrors.Items[0].Name)
	})
}

// eventually waits until check finds nothing wrong, and reports what it last found.
func (w *world) eventually(reason string, check func() error) {
	w.Helper()
	var last error
	for deadline := time.Now().Add(w.patience); ; {
		if last = check(); last == nil {
			return
		}
		if time.Now().After(deadline) {
			last20 := []string{"nothing, since it does not run"}
			if w.op != nil {
				last20 = w.op.since(max(0, w.op.count(func(*sent) bool { return true })-20))
			}
			w.Fatalf("not within %s: %s: %v\nthe operator sent last:\n%s", w.patience, reason, last, strings.Join(last20, "\n"))
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (w *world) name(base string) string { return base + "-" + w.suffix }

// namespace makes a namespace with the labels and returns its name.
func (w *world) namespace(base string, labels map[string]string) string {
	w.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name(base), Labels: labels}}
	require.NoError(w, w.Create(w.ctx, ns))
	return ns.Name
}

// team are the labels that this test's Mirror selects.
func (w *world) team() map[string]string { return map[string]string{"team": w.suffix} }

// mark labels the Mirrors of this test.
func (w *world) mark() map[string]string { return map[string]string{"test": w.suffix} }

// mine selects the Mirrors of this test.
func (w *world) mine() labels.Selector {
	if w.alone {
		return labels.Everything()
	}
	return labels.SelectorFromSet(w.mark())
}

// source makes the Secret that is mirrored, in a namespace of its own.
func (w *world) source(data map[string]string, suffix ...string) *corev1.Secret {
	w.Helper()
	end := strings.Join(suffix, "")
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace("platform"+end, nil), Name: w.name("pull" + end)},
		StringData: data,
	}
	require.NoError(w, w.Create(w.ctx, s))
	return s
}

// mirror makes a Mirror of source for this test's team.
func (w *world) mirror(source client.Object, edit ...func(*v1alpha1.Mirror)) *v1alpha1.Mirror {
	w.Helper()
	m := &v1alpha1.Mirror{
		ObjectMeta: metav1.ObjectMeta{Name: w.name("mirror"), Labels: w.mark()},
		Spec: v1alpha1.MirrorSpec{
			Source:            v1alpha1.SourceReference{Kind: kindOf(source), Namespace: source.GetNamespace(), Name: source.GetName()},
			NamespaceSelector: metav1.LabelSelector{MatchLabels: w.team()},
		},
	}
	for _, e := range edit {
		e(m)
	}
	require.NoError(w, w.Create(w.ctx, m))
	return m
}

// secret reads the copy in a namespace, waiting until it holds the data.
func (w *world) secret(namespace, name string, data map[string]string) *corev1.Secret {
	w.Helper()
	s := &corev1.Secret{}
	w.eventually("a copy with the source's data in "+namespace, func() error {
		if err := w.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
			return err
		}
		got := map[string]string{}
		for k, v := range s.Data {
			got[k] = string(v)
		}
		if fmt.Sprint(got) != fmt.Sprint(data) {
			return fmt.Errorf("has %v, want %v", got, data)
		}
		return nil
	})
	return s
}

// gone waits until an object does not exist.
func (w *world) gone(obj client.Object, reason string) {
	w.Helper()
	key := client.ObjectKeyFromObject(obj)
	w.eventually(fmt.Sprintf("%s: %s is gone", reason, key), func() error {
		err := w.Get(w.ctx, key, obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it still exists (%v)", err)
	})
}

// condition waits until the Mirror's condition has the status and reason, for its
// current generation.
func (w *world) condition(m *v1alpha1.Mirror, kind string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	w.Helper()
	var c *metav1.Condition
	w.eventually(fmt.Sprintf("%s=%s (%s)", kind, status, reason), func() error {
		if err := w.Get(w.ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err
		}
		c = meta.FindStatusCondition(m.Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason || c.ObservedGeneration != m.Generation {
			return fmt.Errorf("generation %d, condition %+v", m.Generation, c)
		}
		return nil
	})
	return c
}

// ready waits until the Mirror is Ready and counts n copies.
func (w *world) ready(m *v1alpha1.Mirror, n int) {
	w.Helper()
	w.eventually(fmt.Sprintf("Mirror %s is ready with %d copies", m.Name, n), func() error {
		w.condition(m, v1alpha1.Ready, metav1.ConditionTrue, reasonSynced)
		if int(m.Status.Desired) != n || int(m.Status.Synced) != n {
			return fmt.Errorf("has %d of %d", m.Status.Synced, m.Status.Desired)
		}
		return nil
	})
}

// reaches waits for a request that the test holds.
func (w *world) reaches(reached <-chan struct{}) {
	w.Helper()
	select {
	case <-reached:
	case <-time.After(w.patience):
		w.Fatal("the request that the test wants to hold never came; the log says:\n", w.op.log)
	}
}
