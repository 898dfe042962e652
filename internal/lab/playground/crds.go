package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/informer-walkthrough/informer-walkthrough/full/config/crd"
)

// installCRDs installs what the cluster does not have and waits until it is
// served. A CRD that is there belongs to someone: it stays as it is.
func installCRDs(ctx context.Context, cfg *rest.Config, u *undo, stdout io.Writer) error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("install the CRD: %w", err)
	}
	files, err := fs.Glob(crd.Files, "*.yaml")
	if err != nil {
		return err
	}
	for _, name := range files {
		text, err := crd.Files.ReadFile(name)
		if err != nil {
			return err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, definition); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		err = c.Create(ctx, definition)
		if apierrors.IsAlreadyExists(err) {
			fmt.Fprintf(stdout, "CRD %s is there already and stays as it is; whatever Mirrors there are will be reconciled, too\n", definition.Name)
			continue
		}
		if err != nil {
			return fmt.Errorf("install CRD %s: %w", definition.Name, err)
		}
		u.add(func(ctx context.Context) error { return remove(ctx, c, definition) })
		if err := envtest.WaitForCRDs(cfg, []*apiextensionsv1.CustomResourceDefinition{definition},
			envtest.CRDInstallOptions{MaxTime: readyLimit}); err != nil {
			return fmt.Errorf("CRD %s was installed but is not served: %w", definition.Name, err)
		}
	}
	return nil
}
