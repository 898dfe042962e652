package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// line is one row of the table for one of our implementations.
type line struct {
	Layer    string  `json:"layer"`
	What     string  `json:"what"`
	Bench    string  `json:"benchmark"`
	Impl     string  `json:"impl"`
	Unit     string  `json:"unit"`
	Upstream summary `json:"upstream"`
	Ours     summary `json:"ours"`
	Ratio    summary `json:"ratio"`
	Goal     float64 `json:"goal,omitempty"`
	Most     float64 `json:"most,omitempty"` // the gate's
	Why      string  `json:"why,omitempty"`  // of a missed goal

	UpstreamAllocs float64 `json:"upstreamAllocs,omitempty"`
	OurAllocs      float64 `json:"ourAllocs,omitempty"`

	noQueue bool // no queue of deltas is part of it, so DeltaFIFO and in-order are one
	ofOurs  bool // it compares ours with ours; Upstream is the smaller case, and there is no gate
}

// summary is a median with its 95 % confidence interval.
type summary struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// gate says what is wrong with a line; "" if it may pass. A line is slower than
// upstream only if its whole interval is.
func (l line) gate() string {
	switch {
	case l.ofOurs:
	case l.Ratio.Low > 1:
		return fmt.Sprintf("%.2f times upstream's (%.2f to %.2f)", l.Ratio.Median, l.Ratio.Low, l.Ratio.High)
	case l.Most > 0 && l.Ratio.Median > l.Most:
		return fmt.Sprintf("%.3g times upstream's, more than %g", l.Ratio.Median, l.Most)
	}
	return ""
}

func (l line) reachesGoal() bool { return l.Goal == 0 || l.Ratio.Median <= l.Goal }

// compare makes the lines of the table out of what was measured.
func compare(ctx context.Context, rows []row, all results) ([]line, error) {
	var text samples
	for _, r := range rows {
		rounds := all[r.bench]
		for _, impl := range r.impls {
			for round, m := range rounds[impl] {
				v, ok := m[r.unit]
				if !ok {
					return nil, fmt.Errorf("Benchmark%s reports no %s, but rows.go says so", r.bench, r.unit)
				}
				text.add(key(r.bench, impl, r.unit), v)
				text.add(key(r.bench, impl, r.unit, "ratio"), v/rounds[upstream][round][r.unit])
			}
		}
	}
	of, err := text.summarize(ctx)
	if err != nil {
		return nil, err
	}
	var lines []line
	for _, r := range rows {
		for _, impl := range r.impls[1:] {
			lines = append(lines, line{
				Layer: r.layer, What: r.what, Bench: "Benchmark" + r.bench, Impl: impl, Unit: r.unit,
				Goal: r.goal.of(impl), Most: r.most, Why: r.why,
				Upstream:       of[key(r.bench, upstream, r.unit)],
				Ours:           of[key(r.bench, impl, r.unit)],
				Ratio:          of[key(r.bench, impl, r.unit, "ratio")],
				UpstreamAllocs: all[r.bench][upstream][0]["allocs/op"],
				OurAllocs:      all[r.bench][impl][0]["allocs/op"],
				noQueue:        len(r.impls) == len(two),
			})
		}
	}
	return append(lines, perObject(all, of)...), nil
}

// perObject compares a list of 100,000 objects with one of 10,000, both ours.
func perObject(all results, of map[string]summary) (lines []line) {
	const small, large, unit = "List/objects=10000", "List/objects=100000", "ns/object"
	if all[small] == nil || all[large] == nil {
		return nil
	}
	for _, impl := range three[1:] {
		a, b := of[key(small, impl, unit)], of[key(large, impl, unit)]
		lines = append(lines, line{
			Layer: "03", What: "our list of 100,000 against our list of 10,000, per object", Bench: "Benchmark" + large, Impl: impl, Unit: unit,
			Upstream: a, Ours: b, Ratio: summary{b.Median / a.Median, b.Low / a.High, b.High / a.Low}, Goal: perObjectAt100k, Why: caches, ofOurs: true,
		})
	}
	return lines
}

func key(bench, impl string, unit ...string) string {
	return bench + "/impl=" + impl + "/" + strings.Join(unit, "/")
}

// samples is text in the format of Go's benchmarks, for benchstat. All of it has one
// unit, or benchstat would make its own of some.
type samples struct{ strings.Builder }

func (s *samples) add(key string, v float64) { fmt.Fprintf(s, "Benchmark%s 1 %g value\n", key, v) }

// summarize asks benchstat for medians and intervals.
func (s *samples) summarize(ctx context.Context) (map[string]summary, error) {
	file, err := os.CreateTemp("", "informer-walkthrough-bench-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(s.String())
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, goCommand(), "tool", "-modfile=tools/go.mod", "benchstat", "-format", "csv", file.Name())
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("benchstat: %w\n%s", err, problems.String())
	}
	return parseBenchstat(string(out))
}

// parseBenchstat reads benchstat's table: below the head with "CI", each line has a
// name, a median, and half the width of the interval in percent.
func parseBenchstat(out string) (map[string]summary, error) {
	r := csv.NewReader(strings.NewReader(out))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("benchstat's output: %w", err)
	}
	of := map[string]summary{}
	head := false
	for _, fields := range records {
		switch {
		case len(fields) < 3 || fields[0] == "geomean":
		case !head:
			head = fields[2] == "CI"
		default:
			median, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return nil, fmt.Errorf("benchstat's output: %w", err)
			}
			of[fields[0]] = interval(median, fields[2])
		}
	}
	return of, nil
}

// interval of too few rounds ("∞") is anything. Half a percent more, because
// benchstat rounds.
func interval(median float64, percent string) summary {
	p, err := strconv.ParseFloat(strings.TrimSuffix(percent, "%"), 64)
	if err != nil {
		return summary{median, 0, 1e300}
	}
	p = (p + 0.5) / 100
	return summary{median, median * max(0, 1-p), median * (1 + p)}
}
