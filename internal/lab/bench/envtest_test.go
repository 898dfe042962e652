package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is a control plane with ConfigMaps.
type cluster struct {
	kubeconfig string
	client     kubernetes.Interface
}

func newCluster(b *testing.B) cluster {
	kubeconfig := os.Getenv(kubeconfigVariable)
	if kubeconfig == "" {
		b.Skipf("needs a control plane: make bench brings one, or name one's kubeconfig in %s", kubeconfigVariable)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(b, err)
	cfg.QPS = -1
	c, err := kubernetes.NewForConfig(cfg)
	require.NoError(b, err)
	return cluster{kubeconfig, c}
}

// create makes n ConfigMaps with the label bench=value; those that are there stay.
func (c cluster) create(b *testing.B, value string, n int) {
	var creators errgroup.Group
	creators.SetLimit(8)
	for i := range n {
		creators.Go(func() error {
			_, err := c.client.CoreV1().ConfigMaps("default").Create(context.Background(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%05d", value, i), Labels: map[string]string{"bench": value}},
				Data:       map[string]string{"data": strings.Repeat("x", 1000)},
			}, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	}
	require.NoError(b, creators.Wait())
}

// ensure is create, once in a control plane's life.
func (c cluster) ensure(b *testing.B, value string, n int) {
	last, err := c.client.CoreV1().ConfigMaps("default").List(b.Context(), metav1.ListOptions{LabelSelector: "bench=" + value, ResourceVersion: "0"})
	require.NoError(b, err)
	if len(last.Items) < n {
		c.create(b, value, n)
	}
}

// BenchmarkEnvtestStart: a process with a manager, to its first reconcile; 10,000
// ConfigMaps are there.
func BenchmarkEnvtestStart(b *testing.B) {
	c := newCluster(b)
	c.ensure(b, "start", objects)
	each(b, three, func(b *testing.B, impl string) {
		var first report
		for range b.N {
			o := startOperator(b, job{Impl: impl, Kubeconfig: c.kubeconfig, Label: "bench=start", Objects: objects})
			first = o.await("first")
			first.PeakMB = o.await("all").PeakMB
			o.stop()
		}
		b.ReportMetric(first.Took, "s-to-first")
		b.ReportMetric(first.PeakMB, "peak-MB")
	})
}

// BenchmarkEnvtestCreate: 2,000 ConfigMaps are created and reconciled.
func BenchmarkEnvtestCreate(b *testing.B) {
	const created = 2000
	c := newCluster(b)
	each(b, three, func(b *testing.B, impl string) {
		var cpu float64
		for range b.N {
			value := fmt.Sprintf("run-%d", time.Now().UnixNano())
			o := startOperator(b, job{Impl: impl, Kubeconfig: c.kubeconfig, Label: "bench=" + value, Objects: created})
			ready := o.await("ready")
			c.create(b, value, created)
			cpu += o.await("all").CPU - ready.CPU
			o.stop()
		}
		b.ReportMetric(cpu/float64(b.N), "cpu-s")
	})
}
