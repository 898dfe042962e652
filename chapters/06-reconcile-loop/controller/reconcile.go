package controller

import (
	"context"
	"errors"
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// errReconciliationTimeout tells our deadline from one that the caller had set.
var errReconciliationTimeout = errors.New("reconciliation timeout")

// Reconcile calls the reconciler under ReconciliationTimeout and, unless
// RecoverPanic is false, makes an error of its panic: one bad object must not take
// the process down again and again.
func (c *Controller[request]) Reconcile(ctx context.Context, req request) (_ reconcile.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = c.handlePanic(ctx, r)
		}
	}()
	if c.options.ReconciliationTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.options.ReconciliationTimeout, errReconciliationTimeout)
		defer cancel()
	}
	result, err := c.options.Reconciler.Reconcile(ctx, req)
	if c.options.ReconciliationTimeout > 0 && errors.Is(context.Cause(ctx), errReconciliationTimeout) {
		c.metrics().timeouts.Inc()
	}
	return result, err
}

func (c *Controller[request]) handlePanic(ctx context.Context, r any) error {
	c.metrics().panics.Inc()
	if !isTrue(c.options.RecoverPanic, true) {
		logf.FromContext(ctx).Info(fmt.Sprintf("Observed a panic in reconciler: %v", r))
		panic(r)
	}
	for _, handle := range utilruntime.PanicHandlers {
		handle(ctx, r)
	}
	return fmt.Errorf("panic: %v [recovered]", r)
}
