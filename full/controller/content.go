package controller

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// content is what of a Secret or ConfigMap is copied.
type content struct {
	secretType  corev1.SecretType // Secrets only
	text        map[string]string // ConfigMaps only
	binary      map[string][]byte
	immutable   bool
	labels      map[string]string
	annotations map[string]string
}

// contentOf reads a *corev1.Secret or *corev1.ConfigMap; no other type gets here.
func contentOf(obj client.Object) content {
	c := content{labels: portable(obj.GetLabels()), annotations: portable(obj.GetAnnotations())}
	switch o := obj.(type) {
	case *corev1.Secret:
		c.secretType, c.binary, c.immutable = o.Type, o.Data, ptr.Deref(o.Immutable, false)
	case *corev1.ConfigMap:
		c.text, c.binary, c.immutable = o.Data, o.BinaryData, ptr.Deref(o.Immutable, false)
	}
	return c
}

// toolPrefixes begin the keys that a tool writes to recognise its own objects: a
// copy that carried one would be taken for that tool's and, by some, be deleted.
var toolPrefixes = []string{
	prefix,
	"kubectl.kubernetes.io/",
	"app.kubernetes.io/managed-by", "app.kubernetes.io/instance",
	"meta.helm.sh/", "helm.sh/",
	"argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/",
	"objectset.rio.cattle.io/", "applyset.kubernetes.io/",
}

// portable leaves out the labels or annotations that belong to a tool.
func portable(all map[string]string) map[string]string {
	kept := maps.Clone(all)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		return slices.ContainsFunc(toolPrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
	})
	return kept
}

// metadataHash identifies the labels and annotations of the content.
func (c content) metadataHash() string {
	h := fnv.New64a()
	for _, m := range []map[string]string{c.labels, c.annotations} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(h, "%q=%q,", k, m[k])
		}
		h.Write([]byte{';'})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sameData tells whether two contents agree in all but labels and annotations.
func (c content) sameData(other content) bool {
	return c.secretType == other.secretType && c.immutable == other.immutable &&
		maps.Equal(c.text, other.text) &&
		maps.EqualFunc(c.binary, other.binary, func(a, b []byte) bool { return string(a) == string(b) })
}

// includes tells whether every entry of want is in have.
func includes(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// upToDate tells whether copy is what apply would make it.
func (c content) upToDate(copy client.Object, mirror *v1alpha1.Mirror) bool {
	return c.sameData(contentOf(copy)) &&
		metav1.IsControlledBy(copy, mirror) &&
		includes(copy.GetLabels(), c.copyLabels(mirror)) &&
		includes(copy.GetAnnotations(), c.copyAnnotations(mirror))
}

func (c content) copyLabels(mirror *v1alpha1.Mirror) map[string]string {
	labels := map[string]string{LabelCopy: string(mirror.UID)}
	maps.Copy(labels, c.labels)
	return labels
}

func (c content) copyAnnotations(mirror *v1alpha1.Mirror) map[string]string {
	source := mirror.Spec.Source
	annotations := map[string]string{
		AnnotationSource:   types.NamespacedName{Namespace: source.Namespace, Name: source.Name}.String(),
		AnnotationMetadata: c.metadataHash(),
	}
	maps.Copy(annotations, c.annotations)
	return annotations
}

// applyConfiguration is the copy as server-side apply wants it: every field that
// the operator owns and no other. It is good for exactly what was seen to stand in
// the place: the API server refuses it if that has changed, or if nothing was seen
// and now something is there.
func (c content) applyConfiguration(mirror *v1alpha1.Mirror, namespace string, standing client.Object) runtime.ApplyConfiguration {
	name := mirror.Spec.Source.Name
	meta := metav1ac.ObjectMeta().
		WithLabels(c.copyLabels(mirror)).WithAnnotations(c.copyAnnotations(mirror)).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(v1alpha1.GroupVersion.String()).WithKind("Mirror").
			WithName(mirror.Name).WithUID(mirror.UID).
			WithController(true).WithBlockOwnerDeletion(true))
	if standing != nil {
		meta.WithUID(standing.GetUID()).WithResourceVersion(standing.GetResourceVersion())
	} else {
		// Apply knows no "create only". This field, which belongs to the API server,
		// is dropped when an object is created and refused when one is changed,
		// which comes to the same.
		meta.WithDeletionGracePeriodSeconds(-1)
	}
	immutable := ptr.To(true)
	if !c.immutable {
		immutable = nil
	}
	if mirror.Spec.Source.Kind == v1alpha1.Secret {
		s := corev1ac.Secret(name, namespace).WithType(c.secretType).WithData(c.binary)
		meta.Name, meta.Namespace, s.ObjectMetaApplyConfiguration, s.Immutable = s.Name, s.Namespace, meta, immutable
		return s
	}
	m := corev1ac.ConfigMap(name, namespace).WithData(c.text).WithBinaryData(c.binary)
	meta.Name, meta.Namespace, m.ObjectMetaApplyConfiguration, m.Immutable = m.Name, m.Namespace, meta, immutable
	return m
}

// foreignKeys are the keys that applied, as the server answered, has beyond the
// content, as a merge patch that removes them. Empty if there is none.
func (c content) foreignKeys(applied runtime.ApplyConfiguration) map[string]map[string]any {
	patch := map[string]map[string]any{}
	switch a := applied.(type) {
	case *corev1ac.SecretApplyConfiguration:
		dropKeys(patch, "data", a.Data, c.binary)
	case *corev1ac.ConfigMapApplyConfiguration:
		dropKeys(patch, "data", a.Data, c.text)
		dropKeys(patch, "binaryData", a.BinaryData, c.binary)
	}
	return patch
}

func dropKeys[V any](patch map[string]map[string]any, field string, have, want map[string]V) {
	for k := range have {
		if _, ok := want[k]; !ok {
			if patch[field] == nil {
				patch[field] = map[string]any{}
			}
			patch[field][k] = nil
		}
	}
}

// spellings are the forms in which a value may be quoted. What is shorter than four
// bytes is found everywhere, and hides nothing.
func spellings(value []byte) []string {
	if len(value) < 4 {
		return nil
	}
	return []string{string(value), base64.StdEncoding.EncodeToString(value), fmt.Sprintf("%q", value)}
}
