package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// binary is the compiled benchmarks, with the control plane for those that need one.
type binary struct {
	path         string
	controlPlane *controlplane.ControlPlane
}

// measured are the values of one run of one benchmark by unit.
type measured map[string]float64

// results hold what the rounds brought, by benchmark and implementation.
type results map[string]map[string][]measured

func build(ctx context.Context) (*binary, error) {
	dir, err := os.MkdirTemp("", "informer-walkthrough-bench-")
	if err != nil {
		return nil, err
	}
	b := &binary{path: filepath.Join(dir, "bench.test")}
	progress("building the benchmarks")
	cmd := exec.CommandContext(ctx, goCommand(), "test", "-c", "-o", b.path, "./internal/lab/bench")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		b.remove()
		return nil, fmt.Errorf("build the benchmarks, from the root of the repository: %w", err)
	}
	return b, nil
}

func (b *binary) remove() {
	if b.controlPlane != nil {
		_ = b.controlPlane.Stop()
	}
	os.RemoveAll(filepath.Dir(b.path))
}

// measureAll runs what the rows need, each benchmark once per round and implementation.
func (b *binary) measureAll(ctx context.Context, chosen []row, count int) (results, error) {
	all := results{}
	for i, r := range chosen {
		if all[r.bench] != nil {
			continue // a row before it has another unit of the same benchmark
		}
		start := time.Now()
		all[r.bench] = map[string][]measured{}
		for round := range count {
			for j := range r.impls {
				impl := r.impls[(round+j)%len(r.impls)] // nobody is always first
				m, err := b.measure(ctx, r.bench, impl, r.times)
				if err != nil {
					return nil, err
				}
				all[r.bench][impl] = append(all[r.bench][impl], m)
			}
		}
		progress("%2d/%d %s: %s (%.0f s)", i+1, len(chosen), r.what, all.glance(r), time.Since(start).Seconds())
	}
	return all, nil
}

// glance is what can be said without benchstat.
func (all results) glance(r row) string {
	var ratios []string
	for _, impl := range r.impls[1:] {
		sum := 0.0
		for round, m := range all[r.bench][impl] {
			sum += m[r.unit] / all[r.bench][upstream][round][r.unit]
		}
		ratios = append(ratios, fmt.Sprintf("%s %.2f", impl, sum/float64(len(all[r.bench][impl]))))
	}
	return strings.Join(ratios, ", ")
}

// measure runs one benchmark on one implementation in a process of its own.
func (b *binary) measure(ctx context.Context, bench, impl, times string) (measured, error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	name := bench + "/impl=" + impl
	cmd := exec.CommandContext(ctx, b.path, "-test.run", "^$", "-test.count", "1", "-test.benchtime", times,
		"-test.bench", "^Benchmark"+strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^")+"$")
	cmd.Dir = "internal/lab/bench"
	if strings.HasPrefix(bench, "Envtest") {
		if err := b.startControlPlane(ctx); err != nil {
			return nil, err
		}
		cmd.Env = append(os.Environ(), kubeconfigVariable+"="+b.controlPlane.Kubeconfig())
	}
	var logged strings.Builder // apart from the results, or a line of it falls into theirs
	cmd.Stderr = &logged
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", name, err, out, logged.String())
	}
	m := parse(string(out))
	if m == nil {
		return nil, fmt.Errorf("%s: no result in the output; does the benchmark exist?\n%s", name, out)
	}
	return m, nil
}

func (b *binary) startControlPlane(ctx context.Context) (err error) {
	if b.controlPlane == nil {
		progress("starting the control plane")
		b.controlPlane, err = controlplane.Start(ctx, controlplane.Options{Progress: os.Stderr})
	}
	return err
}

// resultLine is the line of a benchmark: name, iterations, and values with their units.
var resultLine = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s+(.+)$`)

// parse returns nil if there is no result.
func parse(out string) measured {
	found := resultLine.FindStringSubmatch(out)
	if found == nil {
		return nil
	}
	m := measured{}
	fields := strings.Fields(found[1])
	for i := 0; i+1 < len(fields); i += 2 {
		if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
			m[fields[i+1]] = v
		}
	}
	return m
}

// goCommand is the go that make was told to use.
func goCommand() string {
	if command := os.Getenv("GO"); command != "" {
		return command
	}
	return "go"
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
