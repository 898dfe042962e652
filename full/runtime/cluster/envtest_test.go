package cluster_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ours "github.com/informer-walkthrough/informer-walkthrough/full/runtime/cluster"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

const patience = 30 * time.Second

func TestReadsAndWrites(t *testing.T) {
	cfg := controlplane.Config(t)
	onBoth(t, func(t *testing.T, n newCluster) {
		ns := controlplane.Namespace(t, cfg)
		c, err := n(cfg)
		require.NoError(t, err)
		start(t, c)

		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "cm"}, Data: map[string]string{"k": "v"}}
		require.NoError(t, c.GetClient().Create(t.Context(), cm))
		require.NoError(t, c.GetAPIReader().Get(t.Context(), client.ObjectKeyFromObject(cm), &corev1.ConfigMap{}), "the API reader asks the server, which has it")
		require.Eventually(t, func() bool {
			var read corev1.ConfigMap
			return c.GetClient().Get(t.Context(), client.ObjectKeyFromObject(cm), &read) == nil && read.Data["k"] == "v"
		}, patience, 10*time.Millisecond, "the client reads from the cache, which gets it by its watch")
	})
}

func TestRecordersWriteEvents(t *testing.T) {
	cfg := controlplane.Config(t)
	onBoth(t, func(t *testing.T, n newCluster) {
		ns := controlplane.Namespace(t, cfg)
		c, err := n(cfg)
		require.NoError(t, err)
		start(t, c)

		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "cm"}}
		require.NoError(t, c.GetClient().Create(t.Context(), cm))
		old, events := c.GetEventRecorderFor("old"), c.GetEventRecorder("new")
		old.Event(cm, corev1.EventTypeNormal, "OldEvent", "message")
		old.Eventf(cm, corev1.EventTypeNormal, "OldEventf", "message %d", 1)
		old.AnnotatedEventf(cm, map[string]string{"a": "1"}, corev1.EventTypeNormal, "OldAnnotated", "message")
		events.Eventf(cm, nil, corev1.EventTypeNormal, "NewEventf", "Test", "note %d", 1)
		events.AnnotatedEventf(cm, nil, map[string]string{"a": "1"}, corev1.EventTypeNormal, "NewAnnotated", "Test", "note")

		require.Eventually(t, func() bool {
			var list eventsv1.EventList
			require.NoError(t, c.GetAPIReader().List(t.Context(), &list, client.InNamespace(ns)))
			annotated := map[string]string{}
			for _, e := range list.Items {
				annotated[e.Reason] = e.Annotations["a"]
			}
			return len(annotated) == 5 && annotated["OldAnnotated"] == "1" && annotated["NewAnnotated"] == "1"
		}, patience, 50*time.Millisecond, "both recorders write to the API server, with annotations")
	})
}

// An error where it comes in: with a server that is not there or not trusted, New says so.
func TestUnusableServer(t *testing.T) {
	good := controlplane.Config(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := l.Addr().String()
	require.NoError(t, l.Close())

	tests := map[string]struct {
		change func(*rest.Config)
		want   string
	}{
		"unreachable":         {func(c *rest.Config) { c.Host = "https://" + closed }, "API server https://" + closed + " unreachable: "},
		"certificate refused": {func(c *rest.Config) { c.CAData = otherCA(t) }, "certificate of API server " + good.Host + " refused: "},
		"credentials refused": {func(c *rest.Config) {
			c.CertData, c.KeyData, c.BearerToken = nil, nil, "wrong"
		}, "API server " + good.Host + " refused the credentials: "},
		"reachable":             {func(*rest.Config) {}, ""},
		"there, but forbidden":  {func(c *rest.Config) { *c = rest.Config{Host: answers(t, http.StatusForbidden)} }, ""},
		"there, but in trouble": {func(c *rest.Config) { *c = rest.Config{Host: answers(t, http.StatusInternalServerError)} }, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := rest.CopyConfig(good)
			tc.change(cfg)
			c, err := ours.New(cfg)
			if tc.want == "" {
				require.NoError(t, err)
				c.GetHTTPClient().CloseIdleConnections()
				return
			}
			assert.ErrorContains(t, err, tc.want)
			assert.ErrorContains(t, err, "check ")
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// answers is the address of a server with one answer to everything.
func answers(t *testing.T, status int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(server.Close)
	return server.URL
}
