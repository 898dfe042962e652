// Package configtest installs the operator's manifests in a test's control plane,
// and lends the identity that they grant.
package configtest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
)

// The service account that the manifests give the operator, the namespace that it is
// in, and the name of the generated roles, which is the same.
const (
	Namespace      = "mirror-system"
	ServiceAccount = "mirror-operator"
)

// Install does what `kubectl apply --server-side -k dir` does, and returns when the
// API server serves Mirrors to the operator.
func Install(t testing.TB, cfg *rest.Config, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	require.NoError(t, err)
	var kustomization struct{ Resources []string }
	require.NoError(t, sigsyaml.UnmarshalStrict(text, &kustomization))
	c, err := client.New(cfg, client.Options{})
	require.NoError(t, err)
	for _, path := range kustomization.Resources {
		Apply(t, c, filepath.Join(dir, path))
	}
	// Applied above; this waits until it is served.
	_, err = envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{filepath.Join(dir, "crd")}})
	require.NoError(t, err)

	operator, err := client.New(AsOperator(cfg), client.Options{})
	require.NoError(t, err)
	mirrors := &unstructured.UnstructuredList{}
	mirrors.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MirrorList"))
	require.Eventually(t, func() bool { return operator.List(t.Context(), mirrors) == nil },
		time.Minute, 20*time.Millisecond, "the API server has to know the roles of %s/%s", Namespace, ServiceAccount)
}

// Apply applies a file of manifests, and returns the objects.
func Apply(t testing.TB, c client.Client, path string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []*unstructured.Unstructured
	for docs := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		u := &unstructured.Unstructured{}
		err := docs.Decode(u)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err, path)
		require.NoError(t, c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("test"), client.ForceOwnership), path)
		all = append(all, u)
	}
}

// AsOperator returns a copy of cfg with the rights of the operator's service
// account, which rbac/binding.yaml grants the generated roles, and no others.
func AsOperator(cfg *rest.Config) *rest.Config {
	as := rest.CopyConfig(cfg)
	as.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + Namespace + ":" + ServiceAccount,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + Namespace, "system:authenticated"},
	}
	return as
}

// Denied makes the clients of cfg report every request that the roles do not allow;
// a denied event, say, is one that otherwise nobody notices. What admission forbids
// is none of these.
func Denied(cfg *rest.Config, report func(message string)) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err != nil || answer.StatusCode != http.StatusForbidden {
				return answer, err
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				return nil, err
			}
			_ = answer.Body.Close()
			answer.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte(" cannot ")) {
				report(string(body))
			}
			return answer, nil
		})
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
