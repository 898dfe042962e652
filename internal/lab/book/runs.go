package main

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	runsFile   = "docs/runs.yaml"
	runsFolder = "docs/runs"
	leftOut    = "…"
)

// aRun is a command whose output the texts show.
type aRun struct {
	Command string `json:"command"`
	Timeout string `json:"timeout"`
	Exit    int    `json:"exit"` // what the command has to end with
}

func (r aRun) timeout() (time.Duration, error) {
	if r.Timeout == "" {
		return 2 * time.Minute, nil
	}
	return time.ParseDuration(r.Timeout)
}

// readRuns reads docs/runs.yaml; no file is no runs.
func readRuns(files fs.FS) (map[string]aRun, error) {
	text, err := fs.ReadFile(files, runsFile)
	if err != nil {
		return nil, nil
	}
	var runs map[string]aRun
	if err := yaml.UnmarshalStrict(text, &runs); err != nil {
		return nil, fmt.Errorf("%s: %w", runsFile, err)
	}
	return runs, nil
}

func recordingOf(name string) string { return runsFolder + "/" + name + ".txt" }

// consoles refreshes the lines that a page shows of recordings: what changes from
// run to run is taken from the recording at hand.
func (b *book) consoles(p *page) (edits []edit, problems []problem) {
	for _, f := range p.fences {
		if f.label != "console" || f.from.name != "run" {
			continue
		}
		name := f.from.argument
		run, ok := b.runs[name]
		if !ok {
			problems = append(problems, p.problem(f.from.line, "%s has no run %s: add `%s: {command: \"…\", timeout: 2m, exit: 0}`", runsFile, name, name))
			continue
		}
		recorded, err := fs.ReadFile(b.files, recordingOf(name))
		if err != nil {
			problems = append(problems, p.problem(f.from.line, "%s isn't recorded: make record RUN=%s", name, name))
			continue
		}
		shown := p.lines[f.open+1 : f.close]
		now, line, err := show(shown, run.Command, linesOf(string(recorded)))
		if err != nil {
			problems = append(problems, p.problem(f.open+1+line, "%s: %v", name, err))
			continue
		}
		edits = append(edits, edit{f.open + 1, f.close, now, "not the lines of " + recordingOf(name)})
	}
	return edits, problems
}

// show finds the shown lines in a recording and gives them as they are there. The
// error comes with the shown line that is wrong.
func show(shown []string, command string, recorded []string) (now []string, line int, err error) {
	prompt := "$ " + command
	if len(shown) == 0 || shown[0] != prompt {
		return nil, 0, fmt.Errorf("the first line has to be %q", prompt)
	}
	now = []string{prompt}
	at, anywhere := 0, false // the next line of the recording; or any from there on
	for i := 1; i < len(shown); {
		if shown[i] == leftOut {
			now, anywhere, i = append(now, leftOut), true, i+1
			continue
		}
		end := i
		for end < len(shown) && shown[end] != leftOut {
			end++
		}
		piece := shown[i:end]
		from := at
		last := end == len(shown) // has to be the end of the recording
		if last && anywhere {
			from = max(at, len(recorded)-len(piece))
		}
		for {
			if n := agree(piece, recorded[min(from, len(recorded)):]); n == len(piece) {
				break
			} else if !anywhere || last || from >= len(recorded) {
				return nil, i + bestStart(piece, recorded[at:], n), fmt.Errorf("not a line of the recording in this place; where lines are left out, write a line %s", leftOut)
			}
			from++
		}
		now = append(now, recorded[from:from+len(piece)]...)
		at, anywhere, i = from+len(piece), false, end
	}
	if at < len(recorded) && !anywhere {
		return nil, len(shown) - 1, fmt.Errorf("the recording goes on: show it all, or end with a line %s", leftOut)
	}
	return now, 0, nil
}

// agree counts the lines at the beginning that are the same but for numbers that
// change from run to run.
func agree(shown, recorded []string) int {
	for i, line := range shown {
		if i >= len(recorded) || normalise(line) != normalise(recorded[i]) {
			return i
		}
	}
	return len(shown)
}

// bestStart is how far the shown lines get in the place that suits them best, so
// that the error names the line that is wrong and not the first of its piece.
func bestStart(shown, recorded []string, least int) int {
	best := least
	for i := range recorded {
		best = max(best, agree(shown, recorded[i:]))
	}
	return min(best, len(shown)-1)
}

func linesOf(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// checkRuns: each run is shown somewhere, and its command can be typed.
func (b *book) checkRuns() (problems []problem) {
	shown := map[string]bool{}
	for _, p := range b.pages {
		for _, f := range p.fences {
			if f.from.name == "run" {
				shown[f.from.argument] = true
			}
		}
	}
	text, _ := fs.ReadFile(b.files, runsFile)
	for i, line := range linesOf(string(text)) {
		name, _, found := strings.Cut(line, ":")
		run, ok := b.runs[name]
		if !found || !ok {
			continue
		}
		say := func(format string, args ...any) {
			problems = append(problems, problem{runsFile, i, fmt.Sprintf("%s: ", name) + fmt.Sprintf(format, args...)})
		}
		if _, err := run.timeout(); err != nil {
			say("%v", err)
		}
		if strings.Contains(run.Command, "\n") {
			say("the command has to be one line")
		}
		for _, wrong := range b.checkCommand(run.Command) {
			say("%s", wrong)
		}
		if !shown[name] && b.complete {
			say("no page shows it: show it or take it out")
		}
	}
	return problems
}
