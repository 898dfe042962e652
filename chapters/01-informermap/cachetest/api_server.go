package cachetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// APIServer answers list and watch requests from memory, as the transport of an
// HTTP client: no sockets, so it works in a synctest bubble, too. It keeps every
// event, so a watch may begin at any resourceVersion.
type APIServer struct {
	mapper *mapper

	mu       sync.Mutex
	objects  map[string]*unstructured.Unstructured // by resource/namespace/name
	history  []event                               // history[n] has resourceVersion n+1
	changed  chan struct{}                         // closed and replaced on each event
	failures map[string]*apierrors.StatusError     // by resource
	held     map[string]chan struct{}              // by resource
	watches  map[string]int                        // open ones, by resource
	requests []url.URL
}

// event is one change: old is nil for a new object, new for a deleted one.
type event struct {
	resource string
	old, new *unstructured.Unstructured
}

// NewAPIServer serves pods, configmaps, namespaces and nodes; Install adds more.
func NewAPIServer() *APIServer {
	s := &APIServer{
		mapper:   &mapper{},
		objects:  map[string]*unstructured.Unstructured{},
		changed:  make(chan struct{}),
		failures: map[string]*apierrors.StatusError{},
		held:     map[string]chan struct{}{},
		watches:  map[string]int{},
	}
	for _, kind := range []string{"Pod", "ConfigMap"} {
		s.Install(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	for _, kind := range []string{"Node", "Namespace"} {
		s.Install(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeRoot)
	}
	return s
}

// Install makes the server know a kind, as installing its CRD does.
func (s *APIServer) Install(gvk schema.GroupVersionKind, scope meta.RESTScope) {
	s.mapper.add(gvk, scope)
}

// Config is what a cache connects with, together with Options.
func (s *APIServer) Config() *rest.Config {
	return &rest.Config{Host: "http://in-memory", QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// Options has the three fields that lead to this server.
func (s *APIServer) Options() cache.Options {
	return cache.Options{HTTPClient: &http.Client{Transport: s}, Mapper: s.mapper, Scheme: scheme.Scheme}
}

// Put creates or updates objects.
func (s *APIServer) Put(objs ...client.Object) {
	for _, obj := range objs {
		resource, u := s.convert(obj)
		s.mu.Lock()
		s.record(event{resource: resource, old: s.objects[key(resource, u)], new: u})
		s.mu.Unlock()
	}
}

// Delete deletes an object.
func (s *APIServer) Delete(obj client.Object) {
	resource, u := s.convert(obj)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.objects[key(resource, u)]; old != nil {
		s.record(event{resource: resource, old: old})
	}
}

// Fail makes every request for a resource end in err, until it is given nil.
func (s *APIServer) Fail(resource string, err *apierrors.StatusError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[resource] = err
}

// Hold leaves requests for a resource unanswered until release is called.
func (s *APIServer) Hold(resource string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.held[resource] = held
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, resource)
		close(held)
	})
}

// Watches counts the open watches of a resource.
func (s *APIServer) Watches(resource string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[resource]
}

// Requests are the URLs asked for so far.
func (s *APIServer) Requests() []url.URL {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *APIServer) convert(obj client.Object) (string, *unstructured.Unstructured) {
	gvk, err := apiutil.GVKForObject(obj, scheme.Scheme)
	if err != nil {
		panic(err)
	}
	mapping, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		panic(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	return mapping.Resource.Resource, u.DeepCopy()
}

// record needs mu.
func (s *APIServer) record(e event) {
	version := strconv.Itoa(len(s.history) + 1)
	if e.new != nil {
		e.new.SetResourceVersion(version)
		s.objects[key(e.resource, e.new)] = e.new
	} else {
		e.old = e.old.DeepCopy()
		e.old.SetResourceVersion(version)
		delete(s.objects, key(e.resource, e.old))
	}
	s.history = append(s.history, e)
	close(s.changed)
	s.changed = make(chan struct{})
}

func key(resource string, u *unstructured.Unstructured) string {
	return resource + "/" + u.GetNamespace() + "/" + u.GetName()
}

// RoundTrip implements http.RoundTripper.
func (s *APIServer) RoundTrip(req *http.Request) (*http.Response, error) {
	ask, err := parse(req)
	if err != nil {
		return refuse(req, apierrors.NewBadRequest(err.Error()))
	}
	s.mu.Lock()
	s.requests = append(s.requests, *req.URL)
	held := s.held[ask.resource]
	s.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	s.mu.Lock()
	failure := s.failures[ask.resource]
	s.mu.Unlock()
	if failure != nil {
		return refuse(req, failure)
	}
	if ask.watch {
		return s.watch(req, ask), nil
	}
	return s.list(req, ask)
}

func (s *APIServer) list(req *http.Request, ask request) (*http.Response, error) {
	s.mu.Lock()
	items := []any{}
	for _, u := range s.current(ask) {
		item := ask.shape(u)
		delete(item, "apiVersion") // The API server leaves them out, too.
		delete(item, "kind")
		items = append(items, item)
	}
	version := strconv.Itoa(len(s.history))
	s.mu.Unlock()
	return respond(req, http.StatusOK, map[string]any{
		"apiVersion": ask.apiVersion(), "kind": s.mapper.kind(ask) + "List",
		"metadata": map[string]any{"resourceVersion": version}, "items": items,
	})
}

// current needs mu.
func (s *APIServer) current(ask request) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for k, u := range s.objects {
		if strings.HasPrefix(k, ask.resource+"/") && ask.matches(u) {
			found = append(found, u)
		}
	}
	return found
}

func refuse(req *http.Request, err *apierrors.StatusError) (*http.Response, error) {
	status := err.Status()
	status.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Status"))
	return respond(req, int(status.Code), status)
}

func respond(req *http.Request, code int, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return response(req, code, io.NopCloser(bytes.NewReader(data))), nil
}

func response(req *http.Request, code int, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: fmt.Sprint(code), StatusCode: code, Request: req, Body: body,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: -1,
	}
}
