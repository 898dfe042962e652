package informermap

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/01-informermap/cachetest"
)

// Who looks at an API server's audit log wants to know which program lists everything.
func TestRequestsNameTheProgram(t *testing.T) {
	for want, given := range map[string]string{rest.DefaultKubernetesUserAgent(): "", "mine": "mine"} {
		agents := make(chan string, 1000)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			agents <- r.UserAgent()
			w.WriteHeader(http.StatusForbidden)
		}))
		config := &rest.Config{Host: server.URL, UserAgent: given}
		c, err := New(config, cache.Options{Mapper: cachetest.NewAPIServer().Options().Mapper})
		require.NoError(t, err)
		_, err = c.GetInformer(within(t, patience), &corev1.Pod{})
		require.NoError(t, err)
		ended := make(chan error, 1)
		ctx := within(t, 200*time.Millisecond)
		go func() { ended <- c.Start(ctx) }()
		assert.Equal(t, want, <-agents)
		assert.Equal(t, given, config.UserAgent, "the caller's config is left alone")
		require.NoError(t, <-ended)
		server.Close()
	}
}
