package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Mirror keeps copies of one Secret or ConfigMap in every namespace that a
// selector matches, and keeps them right.
//
// A Mirror reaches across namespaces: whoever may create one can read its source
// in any namespace. It is cluster-scoped, so that only those who are granted
// mirrors cluster-wide can.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=mir,categories=walkthrough
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.source.kind`
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.spec.source.name`
// +kubebuilder:printcolumn:name="From",type=string,JSONPath=`.spec.source.namespace`
// +kubebuilder:printcolumn:name="Synced",type=integer,JSONPath=`.status.synced`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.status.desired`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Mirror struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is copied and where to.
	// +required
	Spec MirrorSpec `json:"spec"`
	// status says what the operator found and did.
	// +optional
	Status MirrorStatus `json:"status,omitempty"`
}

// MirrorList is a list of Mirrors.
//
// +kubebuilder:object:root=true
type MirrorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Mirror `json:"items"`
}

// MirrorSpec is what the user wants.
type MirrorSpec struct {
	// source names the object that is copied.
	// +required
	Source SourceReference `json:"source"`
	// namespaceSelector matches the labels of the namespaces that get a copy. It
	// must not be empty; to mean every namespace, require the key
	// kubernetes.io/metadata.name with the operator Exists.
	// +required
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)",message="must not be empty; to mean every namespace, use matchExpressions: [{key: kubernetes.io/metadata.name, operator: Exists}]"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="an operator of matchExpressions must be In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && size(e.values) > 0))",message="in matchExpressions, In and NotIn need values, Exists and DoesNotExist take none"
	NamespaceSelector metav1.LabelSelector `json:"namespaceSelector"`
	// conflictPolicy says what happens where an object of the source's name exists
	// that is not a copy of this Mirror: Skip leaves it alone and reports the
	// namespace, Overwrite takes it over.
	// +optional
	// +default="Skip"
	ConflictPolicy ConflictPolicy `json:"conflictPolicy,omitempty"`
	// deletionPolicy says what happens to a copy when the Mirror goes or its
	// namespace stops matching: Delete deletes it, Retain leaves it as an object
	// that belongs to nobody.
	// +optional
	// +default="Delete"
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// SourceReference names a Secret or ConfigMap. A copy can't be a source.
type SourceReference struct {
	// kind of the source: Secret or ConfigMap.
	// +required
	Kind SourceKind `json:"kind"`
	// namespace of the source.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Label().validate(self).hasValue()",message="must be the name of a namespace: lower case letters, digits and '-'"
	Namespace string `json:"namespace"`
	// name of the source, and of every copy.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be the name of a Secret or ConfigMap: lower case letters, digits, '-' and '.'"
	Name string `json:"name"`
}

// SourceKind is a kind that can be mirrored.
//
// +kubebuilder:validation:Enum=Secret;ConfigMap
type SourceKind string

const (
	Secret    SourceKind = "Secret"
	ConfigMap SourceKind = "ConfigMap"
)

// ConflictPolicy says what happens to an object that stands where a copy should.
//
// +kubebuilder:validation:Enum=Skip;Overwrite
type ConflictPolicy string

const (
	Skip      ConflictPolicy = "Skip"
	Overwrite ConflictPolicy = "Overwrite"
)

// DeletionPolicy says what happens to copies that are no longer wanted.
//
// +kubebuilder:validation:Enum=Delete;Retain
type DeletionPolicy string

const (
	Delete DeletionPolicy = "Delete"
	Retain DeletionPolicy = "Retain"
)

// Condition types of a Mirror.
const (
	// Ready: every namespace that matches has a copy that is right.
	Ready = "Ready"
	// SourceAvailable: the source exists and can be copied.
	SourceAvailable = "SourceAvailable"
	// Conflicted: in some namespace another object stands where a copy should.
	Conflicted = "Conflicted"
)

// MaxConflicts is how many namespaces with a conflict the status names.
const MaxConflicts = 20

// MirrorStatus is what the operator last saw and did.
type MirrorStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// desired is the number of namespaces that should have a copy.
	// +optional
	Desired int32 `json:"desired"`
	// synced is the number of namespaces that have a copy that is right.
	// +optional
	Synced int32 `json:"synced"`
	// conflicts names the first 20 namespaces in which another object stands where
	// the copy should.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	Conflicts []string `json:"conflicts,omitempty"`
	// conditions: Ready, SourceAvailable, Conflicted.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
