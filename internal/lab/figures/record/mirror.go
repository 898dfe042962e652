package record

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"time"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/config/crd"
	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/full/trace"
)

// driftedMirror: the full system. Somebody writes to a copy, and the operator
// mends it.
func driftedMirror(ctx context.Context, w *world) error {
	if err := w.installCRD(); err != nil {
		return err
	}
	mgr, err := w.manager(controller.CacheOptions())
	if err != nil {
		return err
	}
	r := &controller.Reconciler{
		Client:   mgr.GetClient(),
		Live:     mgr.GetAPIReader(),
		Recorder: mgr.GetEventRecorder(controller.FieldManager),
	}
	if err := r.SetupWithManager(mgr, w.layers); err != nil {
		return err
	}
	const name, source, team = "pull-secret", "platform", "team-a"
	for _, obj := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: source}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team, Labels: map[string]string{"team": "true"}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source, Name: "pull"}, StringData: map[string]string{"value": "right"}},
		&v1alpha1.Mirror{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.MirrorSpec{
			Source:            v1alpha1.SourceReference{Kind: v1alpha1.Secret, Namespace: source, Name: "pull"},
			NamespaceSelector: metav1.LabelSelector{MatchLabels: map[string]string{"team": "true"}},
		}},
	} {
		if err := w.client.Create(ctx, obj); err != nil {
			return err
		}
	}
	return during(ctx, mgr, func(ctx context.Context) error {
		if err := w.awaitReady(ctx, name); err != nil {
			return err
		}
		time.Sleep(time.Second) // what getting ready has caused comes to rest
		w.begin(func(e trace.Event) bool {
			return strings.HasPrefix(e.Key, team+"/") || e.Key == name || e.Request == name
		})
		w.note("有人改了副本 team-a/pull 的内容", "somebody changes the copy team-a/pull")
		if err := w.change(ctx, team, "pull", "wrong"); err != nil {
			return err
		}
		err := wait.PollUntilContextTimeout(ctx, time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
			s := &corev1.Secret{}
			err := w.client.Get(ctx, client.ObjectKey{Namespace: team, Name: "pull"}, s)
			return err == nil && string(s.Data["value"]) == "right", err
		})
		if err != nil {
			return fmt.Errorf("the copy was not mended: %w", err)
		}
		time.Sleep(500 * time.Millisecond) // what mending has caused comes to rest
		return nil
	})
}

func (w *world) awaitReady(ctx context.Context, name string) error {
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		m := &v1alpha1.Mirror{}
		err := w.client.Get(ctx, client.ObjectKey{Name: name}, m)
		return err == nil && meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.Ready), err
	})
}

func (w *world) installCRD() error {
	text, err := crd.Files.ReadFile("walkthrough.example.com_mirrors.yaml")
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err = errors.Join(err, yaml.UnmarshalStrict(text, definition)); err != nil {
		return err
	}
	_, err = envtest.InstallCRDs(w.config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition}})
	return err
}
