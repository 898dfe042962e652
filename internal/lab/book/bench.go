package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
)

const benchFile = "docs/BENCHMARKS.json"

// benchRow is one line of docs/BENCHMARKS.json, as make bench writes it.
type benchRow struct {
	Layer    string `json:"layer"`
	What     string `json:"what"`
	Impl     string `json:"impl"`
	Unit     string `json:"unit"`
	Upstream median `json:"upstream"`
	Ours     median `json:"ours"`
	Ratio    median `json:"ratio"`
}

type median struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

var benchWords = map[string]struct{ head, merging, inOrder string }{
	"zh": {"| 测什么 | 上游 | 这里 | 队列 | 这里/上游（95% 区间） |", "DeltaFIFO", "按顺序的"},
	"en": {"| what | upstream | ours | queue | ours/upstream (95 % interval) |", "DeltaFIFO", "in-order"},
}

// benchTable makes a table of the rows that `layer=04` asks for.
func benchTable(files fs.FS) func(filter, lang string) (string, error) {
	return func(filter, lang string) (string, error) {
		layer, ok := strings.CutPrefix(filter, "layer=")
		if !ok {
			return "", fmt.Errorf("%q: write layer=04", filter)
		}
		text, err := fs.ReadFile(files, benchFile)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("there is no %s: make bench writes it", benchFile)
		} else if err != nil {
			return "", err
		}
		var measured struct {
			Rows []benchRow `json:"rows"`
		}
		if err := json.Unmarshal(text, &measured); err != nil {
			return "", fmt.Errorf("%s: %w", benchFile, err)
		}
		word := benchWords[lang]
		onBoth := map[string]bool{} // the rows that have a queue
		for _, r := range measured.Rows {
			onBoth[r.What] = onBoth[r.What] || strings.HasSuffix(r.Impl, "inorder")
		}
		table := word.head + "\n|---|---|---|---|---|\n"
		found := false
		for _, r := range measured.Rows {
			if r.Layer != layer {
				continue
			}
			found = true
			queue := word.merging
			switch {
			case !onBoth[r.What]:
				queue = "–"
			case strings.HasSuffix(r.Impl, "inorder"):
				queue = word.inOrder
			}
			what := r.What
			if lang == "zh" {
				if what = benchZh[r.What]; what == "" {
					return "", fmt.Errorf("row %q has no Chinese name: give it one in internal/lab/book/bench_zh.go", r.What)
				}
			}
			table += fmt.Sprintf("| %s | %s | %s | %s | %s (%s–%s) |\n", what, quantity(r.Upstream.Median, r.Unit), quantity(r.Ours.Median, r.Unit),
				queue, digits(r.Ratio.Median), digits(r.Ratio.Low), digits(r.Ratio.High))
		}
		if !found {
			return "", fmt.Errorf("%s has no rows of layer %s", benchFile, layer)
		}
		return table, nil
	}
}

// quantity writes a value for people: 1234 ns/op is 1.23 µs.
func quantity(v float64, unit string) string {
	base, _, _ := strings.Cut(unit, "/")
	switch base {
	case "ns":
		for _, step := range []string{"ns", "µs", "ms"} {
			if v < 1000 {
				return digits(v) + " " + step
			}
			v /= 1000
		}
		return digits(v) + " s"
	case "s-to-first", "cpu-s":
		return digits(v) + " s"
	case "peak-MB":
		return digits(v) + " MB"
	}
	return digits(v) + " " + base
}

// digits writes three that count.
func digits(v float64) string {
	if v <= 0 || math.IsInf(v, 0) {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Floor(math.Log10(v)))), v)
}
