package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// reachTimeout bounds the question whether the API server is there. It is short because a server that
// is there answers in milliseconds, and long enough for a slow link.
const reachTimeout = 10 * time.Second

// reach asks the API server for its version, which every user may read, and turns what went wrong into
// one line that says what to do. An answer of any other kind means that the server is there.
func reach(config *rest.Config, httpClient *http.Client) error {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), reachTimeout)
	defer cancel()
	err = client.RESTClient().Get().AbsPath("/version").Do(ctx).Error()

	var status apierrors.APIStatus
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("API server %s refused the credentials: %w; check the user's certificate or token in the kubeconfig", config.Host, err)
	case errors.As(err, &status):
		return nil
	case errors.As(err, &certificate):
		return fmt.Errorf("certificate of API server %s refused: %w; check certificate-authority-data and the server's name in the kubeconfig", config.Host, err)
	default:
		return fmt.Errorf("API server %s unreachable: %w; check the server's address in the kubeconfig and that it runs", config.Host, err)
	}
}
