package informermap

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// GetOptions says what Get does when the informer is not there, or not ready.
type GetOptions struct {
	FailOnMissing bool // do not make an informer, return cache.ErrResourceNotCached
	NoWait        bool // do not wait for the informer to sync
}

// specificInformersMap holds the informers of one representation, by kind.
//
// Invariant: an entry in the map of a started, not yet stopped map is running.
// It stands for controller-runtime v0.11's internal.specificInformersMap.
type specificInformersMap struct {
	Settings
	config            *rest.Config
	codecs            serializer.CodecFactory
	paramCodec        runtime.ParameterCodec
	createListWatcher createListWatcherFunc

	// startWait is closed by Start, after ctx was set.
	startWait chan struct{}
	// running counts the informers whose Run has not returned.
	running sync.WaitGroup

	// mu guards what follows. Lookups take it for reading, so a read of one kind
	// never waits for the list of another.
	mu             sync.RWMutex
	informersByGVK map[schema.GroupVersionKind]*MapEntry
	// started says that Start was called: a new entry has to be run at once.
	// It says nothing about any one informer.
	started bool
	// stopped says that Start is waiting for running: nothing may be added to it.
	stopped bool
	ctx     context.Context // of Start; ends every informer
}

func newSpecificInformersMap(config *rest.Config, settings Settings, create createListWatcherFunc) *specificInformersMap {
	if settings.NewInformer == nil {
		settings.NewInformer = toolscache.NewSharedIndexInformer
	}
	return &specificInformersMap{
		Settings:          settings,
		config:            config,
		codecs:            serializer.NewCodecFactory(settings.Scheme),
		paramCodec:        runtime.NewParameterCodec(settings.Scheme),
		createListWatcher: create,
		startWait:         make(chan struct{}),
		informersByGVK:    map[schema.GroupVersionKind]*MapEntry{},
	}
}

// Start runs the informers made so far, lets later ones be run when they are
// made, and returns when ctx has ended and all of them have stopped. It must be
// called once.
func (ip *specificInformersMap) Start(ctx context.Context) {
	func() {
		ip.mu.Lock()
		defer ip.mu.Unlock()
		ip.ctx = ctx
		for _, i := range ip.informersByGVK {
			ip.run(i)
		}
		ip.started = true
		close(ip.startWait)
	}()
	<-ctx.Done()

	ip.mu.Lock()
	ip.stopped = true // A WaitGroup must not grow while it is waited for.
	ip.mu.Unlock()
	ip.running.Wait()
}

// Get returns whether the map is started, and the entry for gvk.
func (ip *specificInformersMap) Get(ctx context.Context, gvk schema.GroupVersionKind, obj runtime.Object, opts GetOptions) (bool, *MapEntry, error) {
	i, started, ok := func() (*MapEntry, bool, bool) {
		ip.mu.RLock()
		defer ip.mu.RUnlock()
		i, ok := ip.informersByGVK[gvk]
		return i, ip.started, ok
	}()

	if !ok {
		if opts.FailOnMissing {
			return started, nil, &cache.ErrResourceNotCached{GVK: gvk}
		}
		var err error
		if i, started, err = ip.addInformerToMap(gvk, obj); err != nil {
			return started, nil, err
		}
	}

	// An empty store would answer "not found" for objects that are there.
	if started && !opts.NoWait && !i.Informer.HasSynced() {
		if err := ip.waitForSync(ctx, i); err != nil {
			return started, nil, err
		}
	}
	return started, i, nil
}

// Remove stops and forgets the informer of gvk. Removing what is not there is
// no error.
func (ip *specificInformersMap) Remove(gvk schema.GroupVersionKind) {
	ip.mu.Lock()
	defer ip.mu.Unlock()
	if i, ok := ip.informersByGVK[gvk]; ok {
		delete(ip.informersByGVK, gvk)
		i.remove()
	}
}

func (ip *specificInformersMap) addInformerToMap(gvk schema.GroupVersionKind, obj runtime.Object) (*MapEntry, bool, error) {
	// Outside the lock: discovery asks the API server, and readers of kinds that
	// are here already must not wait for that.
	mapping, err := ip.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, false, fmt.Errorf("the API server has no resource for %s (if it is a CRD: install it, then ask again): %w", gvk, err)
	}
	example, err := exampleFor(gvk, obj, ip.Scheme)
	if err != nil {
		return nil, false, err
	}

	ip.mu.Lock()
	defer ip.mu.Unlock()

	// The second look: another goroutine may have missed, too, and been faster.
	if i, ok := ip.informersByGVK[gvk]; ok {
		return i, ip.started, nil
	}
	if ip.stopped {
		return nil, true, fmt.Errorf("no informer for %s: %w", gvk, errStopped)
	}

	lw, err := ip.createListWatcher(mapping, ip)
	if err != nil {
		return nil, false, fmt.Errorf("no informer for %s: %w", gvk, err)
	}
	i := newMapEntry(gvk)
	i.Informer = ip.NewInformer(ip.restrict(lw, i), example, resyncPeriod(ip.Resync), toolscache.Indexers{
		toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc,
	})
	if ip.WatchErrorHandler != nil {
		if err := i.Informer.SetWatchErrorHandlerWithContext(ip.WatchErrorHandler); err != nil {
			return nil, false, fmt.Errorf("no informer for %s: %w", gvk, err)
		}
	}
	if err := i.Informer.SetTransform(ip.Transform); err != nil {
		return nil, false, fmt.Errorf("no informer for %s: %w", gvk, err)
	}
	i.Reader = CacheReader{
		indexer:          i.Informer.GetIndexer(),
		groupVersionKind: gvk,
		scopeName:        mapping.Scope.Name(),
		disableDeepCopy:  ip.DisableDeepCopy,
	}
	ip.informersByGVK[gvk] = i

	// Under a manager this is the usual way: the cache starts first, controllers
	// ask for their informers afterwards.
	if ip.started {
		ip.run(i)
	}
	return i, ip.started, nil
}

// run starts an informer; the caller holds mu for writing.
func (ip *specificInformersMap) run(i *MapEntry) {
	if ip.stopped {
		return
	}
	ctx, stop := context.WithCancel(ip.ctx)
	i.stop = stop
	ip.running.Go(func() {
		defer i.closeGone()
		defer stop()
		i.Informer.RunWithContext(ctx)
	})
}
