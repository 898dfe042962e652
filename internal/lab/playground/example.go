package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// example is a pull secret that two teams get a copy of. Its names and its label
// should be nobody else's in a cluster that is not ours.
type example struct {
	namespaces []*corev1.Namespace
	secret     *corev1.Secret
	mirror     *v1alpha1.Mirror
}

func newExample() example {
	const label = "walkthrough.example.com/team"
	namespace := func(name string, labels map[string]string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	team := map[string]string{label: "true"}
	platform := namespace("walkthrough-platform", nil)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: platform.Name, Name: "registry-pull"},
		Type:       corev1.SecretTypeDockerConfigJson,
		StringData: map[string]string{corev1.DockerConfigJsonKey: `{"auths":{"registry.example.com":{"auth":"c2VjcmV0"}}}`},
	}
	return example{
		namespaces: []*corev1.Namespace{platform, namespace("walkthrough-team-a", team), namespace("walkthrough-team-b", team)},
		secret:     secret,
		mirror: &v1alpha1.Mirror{
			ObjectMeta: metav1.ObjectMeta{Name: "registry-pull-secret"},
			Spec: v1alpha1.MirrorSpec{
				Source:            v1alpha1.SourceReference{Kind: v1alpha1.Secret, Namespace: secret.Namespace, Name: secret.Name},
				NamespaceSelector: metav1.LabelSelector{MatchLabels: team},
			},
		},
	}
}

// create makes the example. An object that is there already is someone else's, so
// it is an error; what was made until then will be undone.
func (e example) create(ctx context.Context, c client.Client, u *undo) error {
	var objects []client.Object
	for _, ns := range e.namespaces {
		objects = append(objects, ns)
	}
	for _, obj := range append(objects, e.secret, e.mirror) {
		if err := c.Create(ctx, obj); err != nil {
			return fmt.Errorf("make the example's %T %s: %w", obj, obj.GetName(), err)
		}
		u.add(func(ctx context.Context) error { return remove(ctx, c, obj) })
	}
	return nil
}

// remove deletes the object and waits until it is gone. A namespace is left to
// the controller that empties it, which a bare API server does not have.
func remove(ctx context.Context, c client.Client, obj client.Object) error {
	name := fmt.Sprintf("%T %s", obj, obj.GetName())
	if err := client.IgnoreNotFound(c.Delete(ctx, obj)); err != nil {
		return fmt.Errorf("left behind: %s: %w", name, err)
	}
	if _, ok := obj.(*corev1.Namespace); ok {
		return nil
	}
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("left behind: %s was deleted but is still there, with finalizers %v: %w", name, obj.GetFinalizers(), err)
	}
	return nil
}

// awaitReady waits until the operator says that the Mirror is Ready. The error
// says what it says instead.
func awaitReady(ctx context.Context, c client.Client, name string, limit time.Duration) error {
	reason := errors.New("the operator has not said anything about it")
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		mirror := &v1alpha1.Mirror{}
		if err := c.Get(ctx, client.ObjectKey{Name: name}, mirror); err != nil {
			// Near the end a request fails for want of time, which is no reason.
			if end, limited := ctx.Deadline(); !limited || time.Until(end) > time.Second {
				reason = err
			}
			return false, nil
		}
		condition := meta.FindStatusCondition(mirror.Status.Conditions, v1alpha1.Ready)
		if condition == nil || condition.ObservedGeneration != mirror.Generation {
			return false, nil
		}
		reason = fmt.Errorf("%s: %s", condition.Reason, condition.Message)
		return condition.Status == metav1.ConditionTrue, nil
	})
	if err != nil {
		return fmt.Errorf("Mirror %s is not Ready after %s: %w", name, limit, reason)
	}
	return nil
}
