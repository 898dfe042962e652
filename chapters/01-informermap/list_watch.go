package informermap

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// createListWatcherFunc makes the two functions that an informer gets its
// objects from. It is called when a kind is asked for the first time; it is the
// one thing in which the three maps differ.
type createListWatcherFunc func(*meta.RESTMapping, *specificInformersMap) (*toolscache.ListWatch, error)

// createStructuredListWatch decodes into the Go types of the scheme.
func createStructuredListWatch(mapping *meta.RESTMapping, ip *specificInformersMap) (*toolscache.ListWatch, error) {
	gvk := mapping.GroupVersionKind
	client, err := apiutil.RESTClientForGVK(gvk, false, false, ip.config, ip.codecs, ip.HTTPClient)
	if err != nil {
		return nil, err
	}
	emptyList, err := ip.Scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		return nil, notRegistered(err, emptyList, gvk.GroupVersion().WithKind(gvk.Kind+"List"), ip.Scheme)
	}
	namespace := ip.namespaceOf(mapping)
	request := func(opts *metav1.ListOptions) *rest.Request {
		return client.Get().NamespaceIfScoped(namespace, namespace != "").
			Resource(mapping.Resource.Resource).VersionedParams(opts, ip.paramCodec)
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list := emptyList.DeepCopyObject()
			if err := request(&opts).Do(ctx).Into(list); err != nil {
				return nil, err
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return request(&opts).Watch(ctx)
		},
	}, nil
}

// createUnstructuredListWatch needs no Go types: objects are maps.
func createUnstructuredListWatch(mapping *meta.RESTMapping, ip *specificInformersMap) (*toolscache.ListWatch, error) {
	client, err := dynamic.NewForConfigAndClient(ip.config, ip.HTTPClient)
	if err != nil {
		return nil, err
	}
	resource := dynamic.ResourceInterface(client.Resource(mapping.Resource))
	if namespace := ip.namespaceOf(mapping); namespace != "" {
		resource = client.Resource(mapping.Resource).Namespace(namespace)
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return resource.List(ctx, opts)
		},
		WatchFuncWithContext: resource.Watch,
	}, nil
}

// createMetadataListWatch asks the API server for the metadata alone. The
// objects come back as PartialObjectMetadata, so each has to be told its kind.
func createMetadataListWatch(mapping *meta.RESTMapping, ip *specificInformersMap) (*toolscache.ListWatch, error) {
	client, err := metadata.NewForConfigAndClient(ip.config, ip.HTTPClient)
	if err != nil {
		return nil, err
	}
	resource := metadata.ResourceInterface(client.Resource(mapping.Resource))
	if namespace := ip.namespaceOf(mapping); namespace != "" {
		resource = client.Resource(mapping.Resource).Namespace(namespace)
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := resource.List(ctx, opts)
			if err != nil {
				return nil, err
			}
			for n := range list.Items {
				list.Items[n].SetGroupVersionKind(mapping.GroupVersionKind)
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			w, err := resource.Watch(ctx, opts)
			if err != nil {
				return nil, err
			}
			return newGVKFixupWatcher(mapping.GroupVersionKind, w), nil
		},
	}, nil
}

// restrict puts the map's selectors into every request, and notes how it ended.
func (ip *specificInformersMap) restrict(lw *toolscache.ListWatch, i *MapEntry) toolscache.ListerWatcher {
	restricted := &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			ip.Selector.applyTo(&opts)
			list, err := lw.ListWithContextFunc(ctx, opts)
			i.note(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.Watch = true
			opts.AllowWatchBookmarks = ip.EnableWatchBookmarks
			ip.Selector.applyTo(&opts)
			w, err := lw.WatchFuncWithContext(ctx, opts)
			i.note(err)
			return w, err
		},
	}
	if !ip.EnableWatchBookmarks {
		return listThenWatch{restricted}
	}
	return restricted
}

// listThenWatch keeps reflectors from asking for the list as a watch. The end of
// such a list is marked by a bookmark: without bookmarks it never ends.
type listThenWatch struct{ *toolscache.ListWatch }

func (listThenWatch) IsWatchListSemanticsUnSupported() bool { return true }
