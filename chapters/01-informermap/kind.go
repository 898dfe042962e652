package informermap

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

var errNilObject = errors.New("the object is nil: pass a pointer to the type that is meant, for instance &corev1.Pod{}")

// kindOf finds the kind under which obj is cached; for a list that is the kind
// of its items.
func kindOf(obj runtime.Object, scheme *runtime.Scheme) (schema.GroupVersionKind, error) {
	if v := reflect.ValueOf(obj); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return schema.GroupVersionKind{}, errNilObject
	}
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return gvk, notRegistered(err, obj, schema.GroupVersionKind{}, scheme)
	}
	if _, isObject := obj.(client.Object); !isObject { // Then it is a list; that of Pods is a PodList.
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	return gvk, nil
}

// exampleFor makes an object that tells an informer what to expect, in the
// representation of obj. Not obj itself: that belongs to the caller, who may
// write to it.
func exampleFor(gvk schema.GroupVersionKind, obj runtime.Object, scheme *runtime.Scheme) (runtime.Object, error) {
	switch obj.(type) {
	case runtime.Unstructured:
		example := &unstructured.Unstructured{}
		example.SetGroupVersionKind(gvk)
		return example, nil
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		example := &metav1.PartialObjectMetadata{}
		example.SetGroupVersionKind(gvk)
		return example, nil
	default:
		return newObject(gvk, scheme)
	}
}

func newObject(gvk schema.GroupVersionKind, scheme *runtime.Scheme) (runtime.Object, error) {
	obj, err := scheme.New(gvk)
	if err != nil {
		return nil, notRegistered(err, nil, gvk, scheme)
	}
	return obj, nil
}

// notRegistered says what to do about a kind that the scheme does not know. The
// advice stands where the scheme's name is printed, because
// runtime.IsNotRegisteredError, which callers use, does not look into wrapped
// errors.
func notRegistered(err error, obj runtime.Object, gvk schema.GroupVersionKind, scheme *runtime.Scheme) error {
	if !runtime.IsNotRegisteredError(err) {
		return err
	}
	where := fmt.Sprintf("%s (call AddToScheme of the type's package on it, before the cache is made)", scheme.Name())
	if obj != nil {
		return runtime.NewNotRegisteredErrForType(where, reflect.TypeOf(obj).Elem())
	}
	return runtime.NewNotRegisteredErrForKind(where, gvk)
}
