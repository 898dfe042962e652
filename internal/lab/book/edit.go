package main

import (
	"cmp"
	"slices"
)

// edit replaces lines [from, to) of a page. The same edits are what -write does
// and what the checker complains about, so the two can't disagree.
type edit struct {
	from, to int
	text     []string
	what     string // what is stale if the edit changes anything
}

func (e edit) changes(p *page) bool { return !slices.Equal(p.lines[e.from:e.to], e.text) }

// edits says what the generated parts of a page should be.
func (b *book) edits(p *page) (edits []edit, problems []problem) {
	for _, generate := range []func(*page) ([]edit, []problem){b.excerpts, b.upstreamLinks, b.consoles, b.tables} {
		more, wrong := generate(p)
		edits, problems = append(edits, more...), append(problems, wrong...)
	}
	return edits, problems
}

// write brings the generated parts of a page up to date.
func (p *page) write(edits []edit) *page {
	// From the bottom, so that the lines above stay where they are.
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(b.from-a.from, b.to-a.to) })
	lines := slices.Clone(p.lines)
	for _, e := range edits {
		lines = slices.Replace(lines, e.from, e.to, e.text...)
	}
	return newPage(p.path, (&page{lines: lines}).text())
}

// stale names the generated parts that are not what they should be.
func (b *book) stale(p *page) []problem {
	edits, problems := b.edits(p)
	for _, e := range edits {
		if e.changes(p) {
			problems = append(problems, p.problem(e.from, "%s: run make docs", e.what))
		}
	}
	return problems
}
