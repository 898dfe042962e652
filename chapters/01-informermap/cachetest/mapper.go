package cachetest

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mapper knows the installed kinds, each also as a list, as discovery does.
type mapper struct {
	meta.RESTMapper // none: whatever is not overridden is not used by caches

	mu       sync.Mutex
	mappings map[schema.GroupVersionKind]*meta.RESTMapping
	kinds    map[string]string // by group, version and resource
}

func (m *mapper) add(gvk schema.GroupVersionKind, scope meta.RESTScope) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mappings == nil {
		m.mappings, m.kinds = map[schema.GroupVersionKind]*meta.RESTMapping{}, map[string]string{}
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	m.kinds[gvk.GroupVersion().String()+"/"+resource.Resource] = gvk.Kind
	for _, kind := range []string{gvk.Kind, gvk.Kind + "List"} {
		m.mappings[gvk.GroupVersion().WithKind(kind)] = &meta.RESTMapping{
			Resource: resource, GroupVersionKind: gvk.GroupVersion().WithKind(kind), Scope: scope}
	}
}

// RESTMapping implements meta.RESTMapper.
func (m *mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, version := range versions {
		if mapping, ok := m.mappings[gk.WithVersion(version)]; ok {
			return mapping, nil
		}
	}
	return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
}

// kind is the kind that a request is for.
func (m *mapper) kind(ask request) string {
	if ask.metadataOnly {
		return "PartialObjectMetadata"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kinds[ask.groupVersion+"/"+ask.resource]
}
