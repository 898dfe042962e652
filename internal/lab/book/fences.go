package main

import (
	"slices"
	"strings"
)

const longestSketch = 12

var labels = []string{"go", "sh", "console", "text", "yaml", "diff"}

// checkFences: every block says what it is and where it comes from.
func (b *book) checkFences(p *page) (problems []problem) {
	say := func(line int, format string, args ...any) {
		problems = append(problems, p.problem(line, format, args...))
	}
	for _, f := range p.fences {
		length := f.close - f.open - 1
		if f.open == f.close || strings.Trim(p.lines[f.close], " \t`") != "" {
			say(f.open, "a block without an end")
		}
		switch {
		case f.label == "":
			say(f.open, "a block without a label: say which of %s it is", strings.Join(labels, ", "))
		case !slices.Contains(labels, f.label):
			say(f.open, "a block with label %q: use one of %s", f.label, strings.Join(labels, ", "))
		case f.label == "go" && f.from.name == "sketch" && length > longestSketch:
			say(f.open, "a sketch of %d lines: at most %d, or take code that exists", length, longestSketch)
		case f.label == "go" && f.from.name != "code" && f.from.name != "sketch":
			say(f.open, "go that comes from nowhere: put <!-- code: path#Symbol --> on the line above, or <!-- sketch --> if the tree has no such code")
		case f.label == "console" && f.from.name != "run":
			say(f.open, "output that comes from nowhere: put <!-- run: name --> on the line above and the command into docs/runs.yaml")
		case f.label == "sh":
			for i := f.open + 1; i < f.close; i++ {
				for _, wrong := range b.checkCommand(p.lines[i]) {
					say(i, "%s", wrong)
				}
			}
		}
	}
	return problems
}

// checkSameBlocks: both languages show the same excerpts, output and sketches.
func checkSameBlocks(zh, en *page) []problem {
	shown := func(p *page) (all []string) {
		for _, f := range p.fences {
			what := f.label
			switch {
			case f.from.name == "code" || f.from.name == "run":
				what = f.from.name + ": " + f.from.argument
			case f.label == "sh":
				what = "sh: " + strings.Join(commandsOf(p.lines[f.open+1:f.close]), "; ")
			}
			all = append(all, p.sectionOf(f.open)+" has a block "+what)
		}
		return all
	}
	lines := func(p *page) (all []int) {
		for _, f := range p.fences {
			all = append(all, f.open)
		}
		return all
	}
	return sameInOrder(zh, en, shown, lines)
}

// commandsOf leaves out what is told in words behind a #.
func commandsOf(lines []string) (commands []string) {
	for _, line := range lines {
		command, _, _ := strings.Cut(line, " #")
		if command = strings.TrimSpace(command); command != "" && !strings.HasPrefix(command, "#") {
			commands = append(commands, command)
		}
	}
	return commands
}
