package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
)

var (
	// `](up:client-go/tools/cache#Reflector.watch)`, as a writer types it.
	shortLink = regexp.MustCompile(`\]\(up:([^)"]+)\)`)
	// The same once the tool has filled in where that is; the title still says what.
	fullLink = regexp.MustCompile(`\]\((https://[^\s)]+) "up:([^"]+)"\)`)
)

// shortLinks takes a line back to how its writer typed it.
func shortLinks(line string) string { return fullLink.ReplaceAllString(line, "](up:$2)") }

// upstreamLinks leads each `up:` to the lines where that symbol is, at the tag.
func (b *book) upstreamLinks(p *page) (edits []edit, problems []problem) {
	for i, line := range p.lines {
		if p.kinds[i] != prose || !shortLink.MatchString(shortLinks(line)) {
			continue
		}
		now := shortLink.ReplaceAllStringFunc(shortLinks(line), func(link string) string {
			ref := shortLink.FindStringSubmatch(link)[1]
			symbol, err := b.world.resolve(ref)
			if err != nil {
				problems = append(problems, p.problem(i, "%v", err))
				return link
			}
			return fmt.Sprintf(`](%s "up:%s")`, symbol.URL, ref)
		})
		edits = append(edits, edit{i, i + 1, []string{now}, "upstream links are not filled in"})
	}
	return edits, problems
}

// checkLock names each sentence that leans on source that has changed since.
func (b *book) checkLock() (problems []problem) {
	for _, u := range b.uses() {
		if _, err := b.world.resolve(u.Ref); err != nil {
			continue // upstreamLinks tells
		}
		for _, err := range b.world.changed(u.Use) {
			problems = append(problems, u.page.problem(u.line, "%s", strings.TrimPrefix(err.Error(), u.Where+": ")))
		}
	}
	return problems
}

// use is a place of a text that leans on upstream's source.
type use struct {
	upstream.Use
	page *page
	line int
}

// uses are all places of the texts that lean on upstream's source.
func (b *book) uses() (uses []use) {
	for _, p := range b.pages {
		for i, line := range p.lines {
			if p.kinds[i] == fenced {
				continue
			}
			for _, m := range shortLink.FindAllStringSubmatch(shortLinks(line), -1) {
				u := upstream.Use{Ref: m[1], Where: fmt.Sprintf("%s:%d", p.path, i+1)}
				uses = append(uses, use{u, p, i})
			}
		}
	}
	return uses
}
