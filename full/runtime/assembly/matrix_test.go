package assembly_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

var (
	matrixAll   = flag.Bool("matrix.all", false, "run every combination, not only a covering array of all pairs")
	matrixWrite = flag.Bool("matrix.write", false, "write docs/matrix.md")
	matrixSide  = flag.Int("matrix.clusters", 1, "run on that many control planes side by side; needs -parallel, too")
)

// result is what came of one combination.
type result struct {
	combination
	passed     bool
	reconciles int64
	took       time.Duration
}

// TestMatrix runs the Mirror operator through one Mirror's whole life, on every pair of layers that can
// be wired, and prints what came of it.
func TestMatrix(t *testing.T) {
	clusters := matrixClusters(t)
	all := combinations()
	covering, report := coveringArray(all), "a covering array of all pairs"
	chosen := covering
	if *matrixAll {
		chosen, report = all, "every combination"
	}
	results := make([]result, len(chosen))
	// The group ends when all have run, those side by side, too.
	t.Run("life", func(t *testing.T) {
		for i, combination := range chosen {
			t.Run(combination.String(), func(t *testing.T) {
				t.Parallel()
				cluster := <-clusters
				defer func() { clusters <- cluster }()
				cluster.run(t, combination, &results[i])
			})
		}
	})
	results = slices.DeleteFunc(results, func(r result) bool { return r.combination == nil }) // not chosen by -run
	what := fmt.Sprintf("%d of %d combinations (%s)", len(results), len(all), report)
	t.Log("\n" + markdown(what, results, results))
	if !*matrixWrite || t.Failed() {
		return
	}
	require.Len(t, results, len(chosen), "-run left some out; docs/matrix.md is written of all of them only")
	// Thousands of rows are not for reading.
	rows := slices.DeleteFunc(slices.Clone(results), func(r result) bool {
		return !slices.ContainsFunc(covering, func(c combination) bool { return slices.Equal(c, r.combination) })
	})
	require.NoError(t, os.MkdirAll("../../../docs", 0o755))
	require.NoError(t, os.WriteFile("../../../docs/matrix.md", []byte(markdown(what, results, rows)), 0o644))
}

// matrixCluster is a control plane, for one operator at a time: a Mirror is everybody's.
type matrixCluster struct {
	*rest.Config
	client.Client
}

// matrixClusters returns the control planes that are free.
func matrixClusters(t *testing.T) chan matrixCluster {
	scheme, err := controller.NewScheme()
	require.NoError(t, err)
	free := make(chan matrixCluster, *matrixSide)
	for i := range *matrixSide {
		var cfg *rest.Config
		if i == 0 {
			cfg = controlplane.Config(t)
		} else {
			another, err := controlplane.Start(t.Context(), controlplane.Options{})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, another.Stop()) })
			cfg = another.Config()
		}
		_, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{"../../config/crd"}})
		require.NoError(t, err)
		c, err := client.New(cfg, client.Options{Scheme: scheme})
		require.NoError(t, err)
		free <- matrixCluster{Config: cfg, Client: c}
	}
	return free
}

// run is one Mirror's life on one combination. It tells what came of it also when t ends on the way.
func (c matrixCluster) run(t *testing.T, on combination, r *result) {
	start := time.Now()
	var reconciles atomic.Int64
	stop := startMirrors(t, c.Config, counting(on.layers(), &reconciles))
	defer func() {
		*r = result{combination: on, passed: !t.Failed(), reconciles: reconciles.Load(), took: time.Since(start)}
	}()
	defer func() {
		stop()
		var left v1alpha1.MirrorList
		require.NoError(t, c.List(context.Background(), &left))
		assert.Empty(t, left.Items, "the next one starts without Mirrors")
	}()
	liveMirror(t, c)
}

// markdown is the report on what ran: by choice, some one by one, and what can't be wired.
func markdown(what string, results, rows []result) string {
	var b strings.Builder
	var passed int
	var total time.Duration
	for _, r := range results {
		total += r.took
		if r.passed {
			passed++
		}
	}
	fmt.Fprintf(&b, "# The swap matrix\n\nThe Mirror operator through one Mirror's whole life, on %s. %d passed; the lives took %s in all, some of them side by side, on %d processors (%s/%s, %s).\n\n",
		what, passed, total.Round(time.Second), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	b.WriteString("Written by `make matrix` (every combination, half an hour on two cores) or by `go test ./full/runtime/assembly -race -run '^TestMatrix$' -args -matrix.write` (a covering array, a minute).\n\n")

	b.WriteString("## By choice\n\nReconciles and milliseconds are means over the combinations with this choice.\n\n| layer | choice | combinations | passed | reconciles | ms |\n|---|---|--:|--:|--:|--:|\n")
	for a, axis := range axes {
		for i, choice := range axis.choices {
			var n, ok, reconciles, ms int64
			for _, r := range results {
				if r.combination[a] != i {
					continue
				}
				n, reconciles, ms = n+1, reconciles+r.reconciles, ms+r.took.Milliseconds()
				if r.passed {
					ok++
				}
			}
			if n > 0 {
				fmt.Fprintf(&b, "| %s | %s | %d | %d | %.1f | %d |\n", axis.name, choice.name, n, ok, float64(reconciles)/float64(n), ms/n)
			}
		}
	}

	b.WriteString("\n## One by one\n\n")
	if len(rows) < len(results) {
		b.WriteString("Those of a covering array of all pairs; `make matrix` prints the others.\n\n")
	}
	b.WriteString("| # |")
	for _, axis := range axes {
		fmt.Fprintf(&b, " %s |", axis.name)
	}
	fmt.Fprintf(&b, " passed | reconciles | ms |\n|--:|%s---|--:|--:|\n", strings.Repeat("---|", len(axes)))
	for n, r := range rows {
		fmt.Fprintf(&b, "| %d |", n+1)
		for a := range axes {
			fmt.Fprintf(&b, " %s |", r.choice(a).name)
		}
		fmt.Fprintf(&b, " %s | %d | %d |\n", map[bool]string{true: "yes", false: "**no**"}[r.passed], r.reconciles, r.took.Milliseconds())
	}

	b.WriteString("\n## What can't be wired\n\n| what | why |\n|---|---|\n")
	for _, u := range unwireable {
		fmt.Fprintf(&b, "| %s | %s |\n", u[0], u[1])
	}
	return b.String()
}
