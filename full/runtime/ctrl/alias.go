package ctrl

import (
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	crbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/scheme"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/assembly"
	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/builder"
)

type (
	// Builder builds a controller and gives it to a manager. It is ours.
	Builder = builder.Builder
	// Request names the object to reconcile.
	Request = reconcile.Request
	// Result says when to reconcile again.
	Result = reconcile.Result
	// Manager starts and stops what an operator is made of.
	Manager = manager.Manager
	// Options are those of NewManager.
	Options = manager.Options
	// SchemeBuilder registers Go types with a scheme.
	//
	// Deprecated: as upstream's; use k8s.io/apimachinery/pkg/runtime.NewSchemeBuilder.
	SchemeBuilder = scheme.Builder //nolint:staticcheck // operators still use it
	// GroupVersion names an API.
	GroupVersion = schema.GroupVersion
	// GroupResource names a resource in any version.
	GroupResource = schema.GroupResource
	// TypeMeta is kind and version of an object.
	TypeMeta = metav1.TypeMeta
	// ObjectMeta is what every object has.
	ObjectMeta = metav1.ObjectMeta
)

// Upstream's, as they are.
var (
	RegisterFlags          = config.RegisterFlags
	CreateOrPatch          = controllerutil.CreateOrPatch
	CreateOrUpdate         = controllerutil.CreateOrUpdate
	SetControllerReference = controllerutil.SetControllerReference
	SetupSignalHandler     = signals.SetupSignalHandler
	Log                    = log.Log
	LoggerFrom             = log.FromContext
	LoggerInto             = log.IntoContext
	SetLogger              = log.SetLogger
)

// NewManager makes a manager of ours over a cache of ours.
func NewManager(config *rest.Config, options Options) (Manager, error) {
	return assembly.NewManager(config, options, assembly.Layers{})
}

// NewControllerManagedBy begins a controller of ours that m, whoever made it, will start.
func NewControllerManagedBy(m Manager) *Builder {
	return assembly.ControllerManagedBy(m, assembly.Layers{})
}

// NewWebhookManagedBy begins a webhook; it is upstream's.
func NewWebhookManagedBy[T runtime.Object](m Manager, obj T) *crbuilder.WebhookBuilder[T] {
	return crbuilder.WebhookManagedBy(m, obj)
}

// GetConfig finds the API server as upstream's does: --kubeconfig, $KUBECONFIG, the cluster this
// process runs in, ~/.kube/config.
func GetConfig() (*rest.Config, error) {
	cfg, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("no usable kubeconfig: %w; name a readable file with --kubeconfig or $KUBECONFIG, or run inside a cluster", err)
	}
	return cfg, nil
}

// GetConfigOrDie is GetConfig for a main function.
func GetConfigOrDie() *rest.Config {
	cfg, err := GetConfig()
	if err != nil {
		log.Log.Error(err, "Can't find the API server")
		os.Exit(1)
	}
	return cfg
}
