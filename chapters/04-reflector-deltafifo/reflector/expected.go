package reflector

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// expected is what the objects of a watch have to be; the zero value takes all.
type expected struct {
	goType           reflect.Type
	apiVersion, kind string // of unstructured objects; kind is empty if any will do
}

func newExpected(example any) expected {
	e := expected{goType: reflect.TypeOf(example)}
	if u, ok := example.(*unstructured.Unstructured); ok && !u.GroupVersionKind().Empty() {
		e.apiVersion, e.kind = u.GroupVersionKind().ToAPIVersionAndKind()
	}
	return e
}

func describe(example any) string {
	if example == nil {
		return "<unspecified>"
	}
	if u, ok := example.(*unstructured.Unstructured); ok && !u.GroupVersionKind().Empty() {
		return u.GroupVersionKind().String()
	}
	return reflect.TypeOf(example).String()
}

// accept returns the metadata of the event's object if it is one that belongs
// here. What doesn't is reported and skipped: one odd event is no reason to give
// up the watch.
func (r *Reflector) accept(ctx context.Context, e watch.Event) (metav1.Object, bool) {
	report := func(err error, message string, want, got any) (metav1.Object, bool) {
		utilruntime.HandleErrorWithContext(ctx, err, message, "reflector", r.name, "event", e.Type, "expected", want, "actual", got)
		return nil, false
	}
	if t := reflect.TypeOf(e.Object); r.expected.goType != nil && t != r.expected.goType {
		return report(nil, "Unexpected watch event object type", r.expected.goType, t)
	}
	if u, ok := e.Object.(*unstructured.Unstructured); ok {
		apiVersion, kind := u.GetAPIVersion(), u.GetKind()
		if r.expected.kind != "" && (kind != r.expected.kind || apiVersion != r.expected.apiVersion) {
			return report(nil, "Unexpected watch event object gvk", r.expected.apiVersion+" "+r.expected.kind, apiVersion+" "+kind)
		}
		if isTable(apiVersion, kind) {
			return report(nil, "Unsupported watch event object gvk: the client must not ask for tables", r.typeDescription, apiVersion+" "+kind)
		}
	}
	if obj, ok := e.Object.(metav1.Object); ok {
		return obj, true
	}
	obj, err := meta.Accessor(e.Object)
	if err != nil {
		return report(err, "Unable to understand watch event", r.typeDescription, reflect.TypeOf(e.Object))
	}
	return obj, true
}

// isTable recognizes rows made for printing, which an API server sends to a
// client that accepts them: they have no names.
func isTable(apiVersion, kind string) bool {
	return kind == "Table" &&
		(apiVersion == metav1.SchemeGroupVersion.String() || apiVersion == metav1beta1.SchemeGroupVersion.String())
}

func refuseTable(list runtime.Object, typeDescription string) error {
	if u, ok := list.(*unstructured.UnstructuredList); ok && isTable(u.GetAPIVersion(), u.GetKind()) {
		return fmt.Errorf("unsupported list gvk: %v, type: %v: the client must not ask for tables", u.GroupVersionKind(), typeDescription)
	}
	return nil
}
