package main

import (
	"regexp"
	"slices"
	"strings"
)

// page is one Markdown file, cut up once, so that the rules only look at parts.
// All line numbers in it count from 0.
type page struct {
	path     string
	source   string // the file as it was read
	chinese  bool
	lines    []string
	kinds    []kind
	comments []comment
	fences   []fence
	sections []section
}

// kind says what a line is part of.
type kind int

const (
	prose     kind = iota
	fenced         // between ``` and ```, both included
	generated      // between <!-- seed-map: … --> and <!-- /seed-map -->, likewise bench
)

// comment is a line of its own, `<!-- name: argument -->`: a word to the tool.
type comment struct {
	line           int
	name, argument string
}

// fence is a block between ``` and ```. The comment right above it, if any, says
// where its content comes from.
type fence struct {
	open, close int // the lines of both fences
	label       string
	from        comment
}

// section is a `##` heading with all that follows. The first section of a page,
// which is before the first heading, is called intro.
type section struct {
	id       string
	from, to int // lines [from, to)
}

var (
	commentLine = regexp.MustCompile(`^\s*<!--\s*(/?[a-z-]+)(?::?\s+|:)?(.*?)\s*-->\s*$`)
	fenceLine   = regexp.MustCompile("^\\s*(`{3,})(.*)$")
	anchorLine  = regexp.MustCompile(`^<a id="([^"]*)"></a>$`)
	headingLine = regexp.MustCompile(`^(#{1,6}) +(.*)$`)
)

// englishOf and chineseOf name the same page in the other language.
func englishOf(path string) string { return stem(path) + ".md" }
func chineseOf(path string) string { return stem(path) + ".zh.md" }
func stem(path string) string      { return strings.TrimSuffix(strings.TrimSuffix(path, ".md"), ".zh") }

func newPage(path, text string) *page {
	p := &page{path: path, source: text, chinese: strings.HasSuffix(path, ".zh.md")}
	p.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	p.kinds = make([]kind, len(p.lines))
	p.findBlocks()
	p.findSections()
	return p
}

func (p *page) text() string { return strings.Join(p.lines, "\n") + "\n" }

func (p *page) findBlocks() {
	var last comment // the comment on the line above
	above := -2
	region := "" // the generated region that we are in
	for i := 0; i < len(p.lines); i++ {
		if mark := fenceLine.FindStringSubmatch(p.lines[i]); mark != nil {
			f := fence{open: i, close: len(p.lines) - 1, label: strings.TrimSpace(mark[2])}
			if above == i-1 {
				f.from = last
			}
			for j := i + 1; j < len(p.lines); j++ {
				if strings.TrimSpace(p.lines[j]) == mark[1] {
					f.close = j
					break
				}
			}
			for ; i < f.close; i++ {
				p.kinds[i] = fenced
			}
			p.kinds[i] = fenced
			p.fences = append(p.fences, f)
			continue
		}
		if region != "" {
			p.kinds[i] = generated
		}
		if m := commentLine.FindStringSubmatch(p.lines[i]); m != nil {
			last, above = comment{line: i, name: m[1], argument: m[2]}, i
			p.comments = append(p.comments, last)
			switch {
			case m[1] == "seed-map" || m[1] == "bench":
				region = m[1]
				p.kinds[i] = generated
			case m[1] == "/"+region:
				region = ""
			}
		}
	}
}

func (p *page) findSections() {
	p.sections = []section{{id: "intro", to: len(p.lines)}}
	for i, line := range p.lines {
		heading := headingLine.FindStringSubmatch(line)
		if p.kinds[i] != prose || heading == nil || heading[1] != "##" {
			continue
		}
		s := section{from: i, to: len(p.lines)}
		end := i
		if i > 0 {
			if m := anchorLine.FindStringSubmatch(p.lines[i-1]); m != nil {
				s.id, end = m[1], i-1
			}
		}
		p.sections[len(p.sections)-1].to = end
		p.sections = append(p.sections, s)
	}
}

// isBook says whether the page is in the format at all.
func (p *page) isBook() bool {
	for _, c := range p.comments {
		if c.name == "book" && c.line < 10 {
			return true
		}
	}
	return false
}

// region is what lies between `<!-- name: argument -->` and `<!-- /name -->`.
type region struct {
	comment
	to int // the line of the end; 0 if there is none
}

func (p *page) regions(name string) []region {
	var found []region
	for _, c := range p.comments {
		switch {
		case c.name == name:
			found = append(found, region{comment: c})
		case c.name == "/"+name && len(found) > 0 && found[len(found)-1].to == 0:
			found[len(found)-1].to = c.line
		}
	}
	return found
}

// sectionOf says which section a line is in.
func (p *page) sectionOf(line int) string {
	id := "intro"
	for _, s := range p.sections {
		if s.from <= line {
			id = s.id
		}
	}
	return id
}

// commentNames are the comments that mean something to the tool.
var commentNames = []string{"book", "zh", "code", "run", "sketch", "seed-map", "/seed-map", "tells", "bench", "/bench", "hunt", "history"}

// checkWords: no comment is misspelt, and each that announces a block has one.
func (p *page) checkWords() (problems []problem) {
	for _, c := range p.comments {
		if !slices.Contains(commentNames, c.name) {
			problems = append(problems, p.problem(c.line, "comment %q means nothing: use one of %s", c.name, strings.Join(commentNames, ", ")))
		}
		if (c.name == "run" || c.name == "sketch") && !slices.ContainsFunc(p.fences, func(f fence) bool { return f.from == c }) {
			problems = append(problems, p.problem(c.line, "%s: there is no block on the next line", c.name))
		}
	}
	return problems
}
