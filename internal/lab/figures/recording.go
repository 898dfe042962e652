package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/informer-walkthrough/informer-walkthrough/full/trace"
)

// row of a trace's picture: the way of one state of one object through the
// layers, or what was done from outside.
type row struct {
	note  label
	at    time.Duration // since the start of the story
	steps []trace.Event
}

// rows reads a recording.
func rows(recording string, skip, until *regexp.Regexp) ([]*row, error) {
	var all []*row
	// began is when each state entered; open is the rows that a next step may go on.
	began, open := map[string]time.Duration{}, map[string][]*row{}
	var at time.Duration
	enters := false
	n := 0
	for line := range strings.Lines(recording) {
		n++
		line = strings.TrimRight(line, "\n")
		if comment, found := strings.CutPrefix(line, "# at "); found {
			when, said, isNote := strings.Cut(comment, ": ")
			var err error
			if at, err = time.ParseDuration(when); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			if enters = !isNote; isNote {
				all = append(all, &row{note: parseLabel(said), at: at})
			}
			continue
		}
		e, err := trace.Parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		state := e.Kind + " " + e.Key + " " + e.ResourceVersion
		if enters { // perhaps again, in another list
			began[state], open[state], enters = at, nil, false
		}
		if skip == nil || !skip.MatchString(line) {
			r := continued(open[state], e)
			if r == nil {
				r = &row{at: began[state] + e.Since}
				open[state] = append(open[state], r)
				all = append(all, r)
			}
			r.steps = append(r.steps, e)
		}
		if until != nil && until.MatchString(line) {
			break
		}
	}
	return all, nil
}

// continued is the first row that has not come so far yet, if any. The end of a
// reconciliation belongs to the row with its start.
func continued(open []*row, e trace.Event) *row {
	for _, r := range open {
		last := r.steps[len(r.steps)-1]
		if place(last.Layer) >= place(trace.Workqueue) && request(last) != request(e) {
			continue
		}
		if place(last.Layer) < place(e.Layer) || e.Layer == trace.Reconcile && last.Verb == "Start" && e.Verb != "Start" {
			return r
		}
	}
	return nil
}

func place(l trace.Layer) int {
	for i, known := range trace.Layers {
		if l == known {
			return i
		}
	}
	return -1
}

func request(e trace.Event) string {
	if e.Request != "" {
		return e.Request
	}
	return e.Key
}
