package indexer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/05-handledeltas/indexer"
)

// implementations is what comparisons run on.
var implementations = map[string]func(cache.KeyFunc, cache.Indexers) cache.Indexer{
	"ours":     func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return indexer.New(k, i) },
	"upstream": func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return cache.NewIndexer(k, i) },
}

const byValues = "values"

// pod has comma-separated index values for the index byValues.
func pod(name, resourceVersion, values string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, ResourceVersion: resourceVersion,
		Annotations: map[string]string{"values": values},
	}}
}

func valuesOf(obj any) ([]string, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("%T is no pod", obj)
	}
	if values := p.Annotations["values"]; values != "" {
		return strings.Split(values, ","), nil
	}
	return nil, nil
}

func valueIndexers() cache.Indexers { return cache.Indexers{byValues: valuesOf} }

// forBoth runs a test on our Indexer and on client-go's.
func forBoth(t *testing.T, indexers func() cache.Indexers, test func(t *testing.T, x cache.Indexer)) {
	for name, make := range implementations {
		t.Run(name, func(t *testing.T) {
			x := make(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers())
			test(t, x)
			if c, ok := x.(interface{ Check() error }); ok {
				require.NoError(t, c.Check())
			}
		})
	}
}

func names(t *testing.T, objs []any, err error) []string {
	t.Helper()
	require.NoError(t, err)
	found := []string{}
	for _, obj := range objs {
		found = append(found, obj.(*corev1.Pod).Name)
	}
	slices.Sort(found)
	return found
}

func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
