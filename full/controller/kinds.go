package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// kinds are all that can be mirrored.
var kinds = []v1alpha1.SourceKind{v1alpha1.Secret, v1alpha1.ConfigMap}

// newObject is an empty object of a kind that can be mirrored.
func newObject(kind v1alpha1.SourceKind) client.Object {
	if kind == v1alpha1.Secret {
		return &corev1.Secret{}
	}
	return &corev1.ConfigMap{}
}

// newMetadata is newObject with nothing but metadata.
func newMetadata(kind v1alpha1.SourceKind) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(string(kind)))
	return m
}

// newMetadataList is a list of newMetadata.
func newMetadataList(kind v1alpha1.SourceKind) *metav1.PartialObjectMetadataList {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(string(kind) + "List"))
	return l
}

// kindOf is the kind of a Secret or ConfigMap, whole or as metadata.
func kindOf(obj client.Object) v1alpha1.SourceKind {
	switch obj.(type) {
	case *corev1.Secret:
		return v1alpha1.Secret
	case *corev1.ConfigMap:
		return v1alpha1.ConfigMap
	}
	return v1alpha1.SourceKind(obj.GetObjectKind().GroupVersionKind().Kind)
}
