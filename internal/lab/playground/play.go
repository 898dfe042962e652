package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
)

// stopLimit is how long the end may take, without the control plane's own.
const stopLimit = 5 * time.Second

// play runs the playground until ctx ends, or until the Mirror is Ready if it is
// for once. It undoes all that it did.
func play(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	var u undo
	defer func() {
		// Also when ctx is done, which is how it mostly ends.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = errors.Join(err, u.run(ctx))
	}()

	cfg, kubeconfig, err := connect(ctx, o, &u, stdout, stderr)
	if err != nil {
		return orInterrupted(ctx, o, err)
	}
	scheme, err := controller.NewScheme()
	if err != nil {
		return err
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("the API server of %s does not answer: %w", kubeconfig, err)
	}
	objects := &u
	if o.cluster == "" {
		objects = &undo{} // they go with the API server
	}
	if err := installCRDs(ctx, cfg, objects, stdout); err != nil {
		return orInterrupted(ctx, o, err)
	}
	failed, err := startOperator(ctx, cfg, scheme, &u, stdout)
	if err != nil {
		return err
	}
	e := newExample()
	if err := e.create(ctx, c, objects); err != nil {
		return orInterrupted(ctx, o, err)
	}

	ready := make(chan error, 1)
	u.add(func(context.Context) error { <-ready; return nil })
	readyCtx, cancel := context.WithTimeout(ctx, o.readyLimit)
	u.add(func(context.Context) error { cancel(); return nil })
	go func() {
		defer close(ready)
		ready <- awaitReady(readyCtx, c, e.mirror.Name, o.readyLimit)
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("the operator ended: %w", err)
	case <-ctx.Done():
		return orInterrupted(ctx, o, nil)
	case err := <-ready:
		if o.once && err == nil {
			fmt.Fprintln(stdout, "\nThe Mirror is Ready: every namespace that matches has its copy.")
		}
		if o.once || err != nil && ctx.Err() == nil {
			return orInterrupted(ctx, o, err)
		}
	}
	fmt.Fprintf(stdout, "\nThe Mirror is Ready. Change something and watch, for example:\n  kubectl --kubeconfig=%s -n %s annotate secret %s changed=yes\nCtrl-C ends it all.\n\n",
		kubeconfig, e.secret.Namespace, e.secret.Name)
	select {
	case err := <-failed:
		return fmt.Errorf("the operator ended: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// orInterrupted is what a run that did not get to its end returns: Ctrl-C is how
// it is meant to end, unless it should have waited for the Mirror.
func orInterrupted(ctx context.Context, o options, err error) error {
	switch {
	case ctx.Err() == nil:
		return err
	case o.once:
		return errors.New("interrupted before the Mirror was Ready")
	default:
		return nil
	}
}

// undo remembers how to undo what was done. The zero value has nothing to undo.
type undo struct {
	steps []func(context.Context) error
}

func (u *undo) add(step func(context.Context) error) { u.steps = append(u.steps, step) }

// run undoes in the opposite order. A step that fails stops none.
func (u *undo) run(ctx context.Context) error {
	var errs []error
	for _, step := range slices.Backward(u.steps) {
		errs = append(errs, step(ctx))
	}
	return errors.Join(errs...)
}
