package informer

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// storeSpy is a store with every optional interface that a reflector looks for.
type storeSpy struct {
	cache.Queue
	heard []string
}

func (s *storeSpy) hear(verb string, obj any) error {
	s.heard = append(s.heard, verb+" "+show(obj))
	return nil
}

func (s *storeSpy) Add(obj any) error    { return s.hear("add", obj) }
func (s *storeSpy) Update(obj any) error { return s.hear("update", obj) }
func (s *storeSpy) Delete(obj any) error { return s.hear("delete", obj) }
func (s *storeSpy) Resync() error        { return s.hear("resync", "") }
func (s *storeSpy) Replace(list []any, version string) error {
	for _, obj := range list {
		_ = s.hear("replace "+version, obj)
	}
	return nil
}
func (s *storeSpy) Bookmark(version string) error        { return s.hear("bookmark", version) }
func (s *storeSpy) UpdateResourceVersion(version string) { _ = s.hear("version", version) }
func (s *storeSpy) Transformer() cache.TransformFunc {
	return func(any) (any, error) { panic("twice") }
}

func TestTransformOnce(t *testing.T) {
	boom := errors.New("boom")
	transform := func(obj any) (any, error) {
		p := obj.(*corev1.Pod)
		if p.Name == "bad" {
			return nil, boom
		}
		return podAt(p.Name, p.ResourceVersion+"t"), nil
	}
	s := &storeSpy{}
	var store cache.ReflectorStore = transformOnce{s, transform}
	_, transforms := store.(cache.TransformingStore)
	assert.False(t, transforms, "or client-go's reflector transforms streamed lists as well")

	require.NoError(t, store.Add(podAt("a", "1")))
	require.NoError(t, store.Update(podAt("a", "2")))
	require.NoError(t, store.Delete(podAt("a", "3")))
	require.NoError(t, store.Replace([]any{podAt("b", "4")}, "9"))
	require.NoError(t, store.Resync())
	require.NoError(t, store.(cache.ReflectorBookmarkStore).Bookmark("10"))
	store.(cache.ResourceVersionUpdater).UpdateResourceVersion("11")
	want := []string{"add a1t", "update a2t", "delete a3t", "replace 9 b4t", "resync ", "bookmark 10", "version 11"}
	assert.Equal(t, want, s.heard)

	for name, err := range map[string]error{
		"add":     store.Add(podAt("bad", "")),
		"update":  store.Update(podAt("bad", "")),
		"delete":  store.Delete(podAt("bad", "")),
		"replace": store.Replace([]any{podAt("b", "4"), podAt("bad", "")}, "9"),
	} {
		assert.ErrorIs(t, err, boom, name)
	}
	assert.Equal(t, want, s.heard, "and nothing of it reaches the store")

	plain := transformOnce{cache.NewStore(cache.MetaNamespaceKeyFunc), nil}
	require.NoError(t, plain.Add(podAt("a", "1")))
	require.NoError(t, plain.Bookmark("1"), "a store need not care")
	plain.UpdateResourceVersion("1")
}
