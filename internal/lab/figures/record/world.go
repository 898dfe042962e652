package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/trace"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// namespace is where a story happens; the manager of a story sees no other.
const namespace = "demo"

// world is what a story happens in.
type world struct {
	*recording
	client client.Client // the user's, past all caches and wires
	config *rest.Config  // the manager's: its watches run through wire
	wire   *wire
	layers assembly.Layers // traced
}

// stories are told by chapter.
var stories = map[string]func(context.Context, *world) error{
	"01-first-get":        firstGet,
	"02-predicates":       predicates,
	"03-late-handler":     lateHandler,
	"04-relist":           relist,
	"05-slow-handler":     slowHandler,
	"06-backoff":          backoff,
	"full-drifted-mirror": driftedMirror,
}

// Names are the stories that there are.
func Names() []string { return slices.Sorted(maps.Keys(stories)) }

// Record starts a control plane, lets the named stories happen on it one after
// the other and gives the recording of each to write. No names means all.
func Record(ctx context.Context, progress io.Writer, write func(name string, text []byte) error, names ...string) (err error) {
	if len(names) == 0 {
		names = Names()
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Progress: progress})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	scheme, err := controller.NewScheme()
	if err != nil {
		return err
	}
	c, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	for _, name := range names {
		story, ok := stories[name]
		if !ok {
			return fmt.Errorf("no story is named %q: take one of %v", name, Names())
		}
		w := newWorld(plane.Config(), c)
		if err := story(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := write(name, w.text()); err != nil {
			return err
		}
		if err := c.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(namespace)); err != nil {
			return err
		}
	}
	return nil
}

func newWorld(cfg *rest.Config, c client.Client) *world {
	w := &world{recording: newRecording(), client: c, config: cfg, wire: &wire{}}
	w.config.Wrap(func(next http.RoundTripper) http.RoundTripper { w.wire.next = next; return w.wire })
	w.layers = trace.Wrap(assembly.Layers{}, trace.New(w.sink))
	return w
}

// manager makes one of our layers.
func (w *world) manager(o cache.Options) (manager.Manager, error) {
	return assembly.NewManager(w.config, manager.Options{
		Scheme:                  w.client.Scheme(),
		Cache:                   o,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		GracefulShutdownTimeout: ptr.To(2 * time.Second),
		Controller:              config.Controller{SkipNameValidation: ptr.To(true)},
	}, w.layers)
}

// demo is a manager that sees the story's namespace only.
func (w *world) demo() (manager.Manager, error) {
	return w.manager(cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
}

// during runs the manager while do runs.
func during(ctx context.Context, mgr manager.Manager, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	err := errors.New("the cache does not sync")
	if mgr.GetCache().WaitForCacheSync(ctx) {
		err = do(ctx)
	}
	cancel()
	return errors.Join(err, <-stopped)
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// create makes Secrets before the story begins.
func (w *world) create(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := w.client.Create(ctx, secret(name)); err != nil {
			return err
		}
	}
	return nil
}

// change writes data to a Secret.
func (w *world) change(ctx context.Context, ns, name, value string) error {
	patch := fmt.Sprintf(`{"stringData":{"value":%q}}`, value)
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	return w.client.Patch(ctx, s, client.RawPatch("application/merge-patch+json", []byte(patch)))
}

func (w *world) label(ctx context.Context, name string) error {
	return w.client.Patch(ctx, secret(name), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"team":"a"}}}`)))
}
