package assembly_test

import (
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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/informer-walkthrough/informer-walkthrough/full/api/v1alpha1"
	"github.com/informer-walkthrough/informer-walkthrough/full/controller"
	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

var (
	matrixAll   = flag.Bool("matrix.all", false, "run every combination, not only a covering array of all pairs")
	matrixWrite = flag.Bool("matrix.write", false, "write docs/matrix.md")
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
	cfg := controlplane.Config(t)
	_, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{"../../config/crd"}})
	require.NoError(t, err)
	scheme, err := controller.NewScheme()
	require.NoError(t, err)
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	require.NoError(t, err)

	all := combinations()
	covering, report := coveringArray(all), "a covering array of all pairs"
	chosen := covering
	if *matrixAll {
		chosen, report = all, "every combination"
	}
	var results []result
	for _, combination := range chosen {
		t.Run(combination.String(), func(t *testing.T) {
			r := result{combination: combination}
			start := time.Now()
			defer func() {
				r.took, r.passed = time.Since(start), !t.Failed()
				results = append(results, r)
			}()
			var reconciles atomic.Int64
			stop := startMirrors(t, cfg, counting(combination.layers(), &reconciles))
			defer func() {
				stop()
				r.reconciles = reconciles.Load()
				var left v1alpha1.MirrorList
				require.NoError(t, c.List(t.Context(), &left))
				assert.Empty(t, left.Items, "the next one starts without Mirrors")
			}()
			liveMirror(t, c)
		})
	}
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
	fmt.Fprintf(&b, "# The swap matrix\n\nThe Mirror operator through one Mirror's whole life, on %s. %d passed, in %s, on %d processors (%s/%s, %s).\n\n",
		what, passed, total.Round(time.Second), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	b.WriteString("Written by `make matrix` (every combination, hours) or by `go test ./full/runtime/assembly -race -run '^TestMatrix$' -args -matrix.write` (a covering array, a minute).\n\n")

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
