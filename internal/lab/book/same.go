package main

import (
	"regexp"
	"slices"
	"strings"
)

// sameInOrder compares what two pages show, one thing after the other, and tells
// the first difference.
func sameInOrder(zh, en *page, shown func(*page) []string, lines func(*page) []int) []problem {
	a, b := shown(zh), shown(en)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(b):
			return []problem{zh.problem(lines(zh)[i], "%s, and %s doesn't", a[i], en.path)}
		case i >= len(a):
			return []problem{en.problem(lines(en)[i], "%s, and %s doesn't", b[i], zh.path)}
		case a[i] != b[i]:
			return []problem{en.problem(lines(en)[i], "%s; in this place of %s (line %d) %s", b[i], zh.path, lines(zh)[i]+1, a[i])}
		}
	}
	return nil
}

// thing is something of which both languages have to have the same.
type thing struct {
	name    string
	pattern *regexp.Regexp // the first group is compared
}

var things = []thing{
	{"figure", regexp.MustCompile(`!\[[^\]]*\]\(([^)\s]+?)(?:\.zh)?\.svg[^)]*\)`)},
	{"test", testName},
	{"question", regexp.MustCompile(`(<details>)`)},
	{"link into upstream", shortLink},
	{"telling", regexp.MustCompile(`<!-- tells: (.*?) -->`)},
	{"hunt", regexp.MustCompile(`<!-- hunt: (.*?) -->`)},
	{"table of the seed map", regexp.MustCompile(`<!-- seed-map: (.*?) -->`)},
	{"table of benchmarks", regexp.MustCompile(`<!-- bench: (.*?) -->`)},
}

// checkSameThings compares section by section, since sentences may change places.
func checkSameThings(zh, en *page) (problems []problem) {
	for _, s := range zh.sections {
		for _, t := range en.sections {
			if s.id != t.id {
				continue
			}
			for _, what := range things {
				a, b := zh.all(s, what), en.all(t, what)
				for _, d := range missing(a, b) {
					problems = append(problems, en.problem(t.from, "section %q has %s %s fewer times than %s:%d", t.id, what.name, d, zh.path, s.from+1))
				}
				for _, d := range missing(b, a) {
					problems = append(problems, zh.problem(s.from, "section %q has %s %s fewer times than %s:%d", s.id, what.name, d, en.path, t.from+1))
				}
			}
		}
	}
	return problems
}

// all finds the things of a section. Tests and links count once however often
// they are named.
func (p *page) all(s section, what thing) (found []string) {
	for i := s.from; i < s.to; i++ {
		if p.kinds[i] == fenced {
			continue
		}
		for _, m := range what.pattern.FindAllStringSubmatch(shortLinks(p.lines[i]), -1) {
			if what.name == "question" || !slices.Contains(found, m[1]) {
				found = append(found, m[1])
			}
		}
	}
	slices.Sort(found)
	return found
}

// missing is what b lacks of a.
func missing(a, b []string) []string {
	b = slices.Clone(b)
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool {
		i := slices.Index(b, x)
		if i >= 0 {
			b = slices.Delete(b, i, i+1)
		}
		return i >= 0
	})
}

// checkQuestions: each folded answer has its question and an end.
func (p *page) checkQuestions() (problems []problem) {
	opened := -1
	for i, line := range p.lines {
		if p.kinds[i] == fenced {
			continue
		}
		if strings.Contains(line, "<details") {
			if opened >= 0 {
				problems = append(problems, p.problem(opened, "<details> without </details>"))
			}
			opened = i
			if !strings.Contains(strings.Join(p.lines[i:min(i+2, len(p.lines))], "\n"), "<summary>") {
				problems = append(problems, p.problem(i, "<details> without its question: write <details><summary>question</summary>"))
			}
		}
		if strings.Contains(line, "</details>") {
			opened = -1
		}
	}
	if opened >= 0 {
		problems = append(problems, p.problem(opened, "<details> without </details>"))
	}
	return problems
}
