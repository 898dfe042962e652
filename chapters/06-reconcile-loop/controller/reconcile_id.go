package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// ReconcileIDFromContext is the id of the reconcile that ctx was made for, as it
// is in the log. It is upstream's, so that code which calls upstream's finds it.
var ReconcileIDFromContext = controller.ReconcileIDFromContext

// reconcileIDKey is the key under which upstream looks for the id. Its type is
// private, but a context learns what it is asked for.
var reconcileIDKey = func() any {
	asked := &keyRecorder{Context: context.Background()}
	controller.ReconcileIDFromContext(asked)
	return asked.key
}()

func withReconcileID(ctx context.Context, id types.UID) context.Context {
	return context.WithValue(ctx, reconcileIDKey, id)
}

// keyRecorder is a context that keeps the last key it was asked for.
type keyRecorder struct {
	context.Context
	key any
}

// Value knows nothing.
func (r *keyRecorder) Value(key any) any {
	r.key = key
	return nil
}
