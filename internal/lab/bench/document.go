package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"text/tabwriter"
)

const (
	document     = "docs/BENCHMARKS.md"
	data         = "docs/BENCHMARKS.json"
	plotFile     = "docs/bench-scale.svg"
	tableBegin   = "<!-- make bench writes from here -->"
	tableEnd     = "<!-- make bench writes to here -->"
	missedGoal   = "goal missed"
	reachedGoal  = "ok"
	violatesGate = "GATE MISSED"
)

// writeDocuments writes what make bench owns: the marked part of the document, the
// data and the plot. The rest of the document is written by hand.
func writeDocuments(m machine, lines []line, points []point) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	next, err := replaceTable(string(text), markdown(m, lines))
	if err != nil {
		return err
	}
	js, err := json.MarshalIndent(struct {
		Machine machine `json:"machine"`
		Rows    []line  `json:"rows"`
		Scale   []point `json:"scale"`
	}{m, lines, points}, "", "  ")
	if err != nil {
		return err
	}
	for file, content := range map[string][]byte{document: []byte(next), data: append(js, '\n'), plotFile: plot(points)} {
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func replaceTable(text, table string) (string, error) {
	before, rest, ok := strings.Cut(text, tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("%s has lost its marks %q and %q; write them around the place for the table", document, tableBegin, tableEnd)
	}
	return before + tableBegin + "\n\n" + table + "\n" + tableEnd + after, nil
}

// markdown is the table, then the missed goals.
func markdown(m machine, lines []line) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s; it took %.0f minutes.\n\n", m, m.Minutes)
	b.WriteString("| what | upstream | ours | queue | ours/upstream (95 % interval) | goal | gate |\n|---|---|---|---|---|---|---|\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(l.cells(), " | "))
	}
	b.WriteString("\nGoals that are missed, and why:\n\n")
	missed := 0
	for _, l := range lines {
		if !l.reachesGoal() {
			missed++
			what := l.What
			if !l.noQueue {
				what += ", " + l.queue()
			}
			fmt.Fprintf(&b, "- %s: %.2f, goal %g. %s\n", what, l.Ratio.Median, l.Goal, cmp.Or(l.Why, "Not profiled yet: it was met when this was written."))
		}
	}
	if missed == 0 {
		b.WriteString("None.\n")
	}
	return b.String()
}

// consoleTable is the same for a terminal.
func consoleTable(lines []line) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tupstream\tours\tqueue\tratio\tgoal\tgate")
	for _, l := range lines {
		fmt.Fprintln(w, strings.Join(l.cells(), "\t"))
	}
	w.Flush()
	return b.String()
}

func (l line) cells() []string {
	goal := "none"
	if l.Goal > 0 {
		goal = fmt.Sprintf("%g", l.Goal)
	}
	verdict := reachedGoal
	if !l.reachesGoal() {
		verdict = missedGoal
	}
	if l.gate() != "" {
		verdict = violatesGate
	}
	ratio := fmt.Sprintf("%s (%s–%s)", ratioText(l.Ratio.Median), ratioText(l.Ratio.Low), ratioText(l.Ratio.High))
	return []string{l.What, quantity(l.Upstream.Median, l.Unit, l.UpstreamAllocs), quantity(l.Ours.Median, l.Unit, l.OurAllocs), l.queue(), ratio, goal, verdict}
}

// queue says which of ours it is.
func (l line) queue() string {
	switch {
	case l.noQueue:
		return "–"
	case l.Impl == inOrder:
		return "in-order"
	}
	return "DeltaFIFO"
}

func ratioText(r float64) string {
	switch {
	case r >= 1e6:
		return "∞"
	case r < 0.1:
		return fmt.Sprintf("%.3f", r)
	}
	return fmt.Sprintf("%.2f", r)
}

// quantity writes a value with its unit, and the allocations where they are few
// enough to be counted.
func quantity(v float64, unit string, allocs float64) string {
	text := ""
	switch unit {
	case "s-to-first", "cpu-s":
		text = significant(v) + " s"
	case "peak-MB":
		text = significant(v) + " MB"
	case "B/object":
		text = fmt.Sprintf("%.0f B", v)
	default: // nanoseconds
		if v < 1000 {
			text = significant(v) + " ns"
		} else {
			text = significant(v/1000) + " µs"
		}
	}
	if unit == "ns/op" && allocs > 0 && allocs < 100 {
		text += fmt.Sprintf(", %g allocs", allocs)
	}
	return text
}

// significant writes three digits.
func significant(v float64) string {
	digits := 2 - int(math.Floor(math.Log10(v)))
	return fmt.Sprintf("%.*f", max(0, digits), v)
}
