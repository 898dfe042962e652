package cachetest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// request is a list or watch request, taken apart.
type request struct {
	groupVersion  string // as in the path: "v1", "example.com/v1"
	resource      string
	namespace     string
	label         labels.Selector
	field         fields.Selector
	watch         bool
	bookmarks     bool
	initialEvents bool // the list comes as a watch
	from          int  // resourceVersion that the watch begins after
	metadataOnly  bool
}

func parse(req *http.Request) (request, error) {
	path := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	if len(path) < 3 {
		return request{}, fmt.Errorf("no resource in %s", req.URL)
	}
	r := request{groupVersion: path[1]}
	rest := path[2:]
	if path[0] == "apis" {
		r.groupVersion, rest = path[1]+"/"+path[2], path[3:]
	}
	if len(rest) == 3 && rest[0] == "namespaces" {
		r.namespace, rest = rest[1], rest[2:]
	}
	r.resource = rest[0]

	var err error
	q := req.URL.Query()
	if r.label, err = labels.Parse(q.Get("labelSelector")); err != nil {
		return r, err
	}
	if r.field, err = fields.ParseSelector(q.Get("fieldSelector")); err != nil {
		return r, err
	}
	for _, term := range r.field.Requirements() {
		if !slices.Contains([]string{"metadata.name", "metadata.namespace"}, term.Field) {
			return r, fmt.Errorf("field label not supported: %s", term.Field)
		}
	}
	r.watch = q.Get("watch") == "true"
	r.bookmarks = q.Get("allowWatchBookmarks") == "true"
	r.initialEvents = q.Get("sendInitialEvents") == "true"
	r.from, _ = strconv.Atoi(q.Get("resourceVersion"))
	r.metadataOnly = strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata")
	return r, nil
}

func (r request) matches(u *unstructured.Unstructured) bool {
	return u != nil && (r.namespace == "" || r.namespace == u.GetNamespace()) && r.label.Matches(labels.Set(u.GetLabels())) &&
		r.field.Matches(fields.Set{"metadata.name": u.GetName(), "metadata.namespace": u.GetNamespace()})
}

func (r request) apiVersion() string {
	if r.metadataOnly {
		return "meta.k8s.io/v1"
	}
	return r.groupVersion
}

// shape is the object as the client asked for it.
func (r request) shape(u *unstructured.Unstructured) map[string]any {
	shaped := u.DeepCopy().Object
	if r.metadataOnly {
		return map[string]any{"apiVersion": r.apiVersion(), "kind": "PartialObjectMetadata", "metadata": shaped["metadata"]}
	}
	return shaped
}
