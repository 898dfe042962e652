package main

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

var shortID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// heading is a `##` or `###` with the id that the line above gives it.
type heading struct {
	line  int
	level string
	id    string
}

func (p *page) headings() []heading {
	var found []heading
	for i, line := range p.lines {
		m := headingLine.FindStringSubmatch(line)
		if p.kinds[i] != prose || m == nil || m[1] != "##" && m[1] != "###" {
			continue
		}
		h := heading{line: i, level: m[1]}
		if i > 0 {
			if a := anchorLine.FindStringSubmatch(p.lines[i-1]); a != nil {
				h.id = a[1]
			}
		}
		found = append(found, h)
	}
	return found
}

// checkIDs: each heading has a short id of its own.
func (p *page) checkIDs() []problem {
	var problems []problem
	seen := map[string]bool{}
	for _, h := range p.headings() {
		switch {
		case h.id == "":
			problems = append(problems, p.problem(h.line, `heading without an id: put a line <a id="short-id"></a> right above it`))
		case !shortID.MatchString(h.id):
			problems = append(problems, p.problem(h.line-1, "id %q: use small letters, digits and hyphens", h.id))
		case seen[h.id]:
			problems = append(problems, p.problem(h.line-1, "id %q is used twice on this page: choose another", h.id))
		}
		seen[h.id] = true
	}
	return problems
}

// checkSameHeadings: both languages have the same headings in the same order.
func checkSameHeadings(zh, en *page) []problem {
	ids := func(p *page) (lines []string) {
		for _, h := range p.headings() {
			lines = append(lines, h.level+" "+h.id)
		}
		return lines
	}
	a, b := ids(zh), ids(en)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(b):
			return []problem{zh.problem(zh.headings()[i].line, "heading %q is not in %s", a[i], en.path)}
		case i >= len(a):
			return []problem{en.problem(en.headings()[i].line, "heading %q is not in %s", b[i], zh.path)}
		case a[i] != b[i]:
			return []problem{en.problem(en.headings()[i].line, "heading %q, where %s:%d has %q: the ids and their order have to be the same", b[i], zh.path, zh.headings()[i].line+1, a[i])}
		}
	}
	return nil
}

// chapterSections is the order that every chapter keeps.
var chapterSections = []string{"intro", "map", "run", "invariants", "predict", "reading", "upstream", "faults", "cost", "questions", "next"}

func (p *page) checkChapter() []problem {
	if !strings.HasPrefix(p.path, "chapters/") {
		return nil
	}
	var ids []string
	for _, s := range p.sections {
		ids = append(ids, s.id)
	}
	if slices.Equal(ids, chapterSections) {
		return nil
	}
	return []problem{p.problem(0, "the sections are %s; a chapter has %s", strings.Join(ids, ", "), strings.Join(chapterSections, ", "))}
}

// hash stands for what a translator has to look at in a section: its words, not
// what the tool fills in.
func (p *page) hash(s section) string {
	skip := map[int]bool{}
	for _, f := range p.fences {
		if f.from.name == "code" || f.from.name == "run" {
			for i := f.from.line; i <= f.close; i++ {
				skip[i] = true
			}
		}
	}
	for _, c := range p.comments {
		switch c.name {
		case "book", "code", "run", "seed-map", "/seed-map", "bench", "/bench":
			skip[c.line] = true
		}
	}
	var text strings.Builder
	for i := s.from; i < s.to; i++ {
		if line := strings.TrimSpace(p.lines[i]); line != "" && !skip[i] && p.kinds[i] != generated {
			text.WriteString(shortLinks(line) + "\n")
		}
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:4])
}

// stampOf finds the line of an English section that holds the hash, or where it
// has to go, and the hash that is there.
func (p *page) stampOf(s section) (line int, hash string) {
	line = s.from + 1
	if s.id == "intro" {
		for _, c := range p.comments {
			if c.name == "book" {
				line = c.line + 1
				break
			}
		}
	}
	for i := line; i < s.to; i++ {
		if m := commentLine.FindStringSubmatch(p.lines[i]); m != nil && m[1] == "zh" {
			return i, m[2]
		}
		if strings.TrimSpace(p.lines[i]) != "" {
			break
		}
	}
	return line, ""
}

// checkStamps: each English section was written from the Chinese one as it is now.
func checkStamps(zh, en *page) []problem {
	var problems []problem
	for _, source := range zh.sections {
		for _, s := range en.sections {
			if s.id != source.id || s.id == "" {
				continue
			}
			line, hash := en.stampOf(s)
			if hash != zh.hash(source) {
				problems = append(problems, en.problem(line, "section %q is older than %s:%d: bring the English in line, then go run ./internal/lab/book -stamp %s#%s", s.id, zh.path, source.from+1, en.path, s.id))
			}
		}
	}
	return problems
}

// stamp writes that the English is now in line with the Chinese: in the section
// named, or in all.
func stamp(zh, en *page, only string) *page {
	var edits []edit
	for _, source := range zh.sections {
		for _, s := range en.sections {
			if s.id != source.id || s.id == "" || only != "" && s.id != only {
				continue
			}
			line, hash := en.stampOf(s)
			e := edit{from: line, to: line, text: []string{"<!-- zh:" + zh.hash(source) + " -->"}}
			if hash != "" {
				e.to++
			}
			edits = append(edits, e)
		}
	}
	return en.write(edits)
}
