package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// mentions finds `<!-- name: id id -->` comments, by page.
func (b *book) mentions(name string) map[*page]map[string]int {
	found := map[*page]map[string]int{}
	for _, p := range b.pages {
		found[p] = map[string]int{}
		for _, c := range p.comments {
			if c.name == name {
				for _, id := range strings.FieldsFunc(c.argument, func(r rune) bool { return r == ' ' || r == ',' }) {
					found[p][id] = c.line
				}
			}
		}
	}
	return found
}

// checkTells: each mistake and omission of the article is told by some page, in
// both languages.
func (b *book) checkTells() (problems []problem) {
	known := b.world.mistakes
	told := map[bool]map[string]bool{true: {}, false: {}}
	for p, ids := range b.mentions("tells") {
		for id, line := range ids {
			if !slices.Contains(known, id) {
				problems = append(problems, p.problem(line, "tells: %s is not an id of docs/seed-map.yaml", id))
			}
			told[p.chinese][id] = true
		}
	}
	if !b.complete {
		return problems
	}
	for _, id := range known {
		for chinese, language := range map[bool]string{true: "Chinese", false: "English"} {
			if !told[chinese][id] {
				problems = append(problems, problem{"docs/seed-map.yaml", 0, fmt.Sprintf("%s is told by no %s page: tell it, with <!-- tells: %s --> above the paragraph", id, language, id)})
			}
		}
	}
	return problems
}

const huntsFolder = "internal/lab/hunts"

// checkHunts: a chapter presents each of its bug hunts.
func (b *book) checkHunts() (problems []problem) {
	folders, _ := fs.Glob(b.files, huntsFolder+"/[0-9][0-9]-[0-9]*")
	presented := b.mentions("hunt")
	for p, ids := range presented {
		for id, line := range ids {
			if !slices.Contains(folders, huntsFolder+"/"+id) {
				problems = append(problems, p.problem(line, "there is no hunt %s in %s", id, huntsFolder))
			}
		}
	}
	for _, folder := range folders {
		id := path.Base(folder)
		for p, ids := range presented {
			if _, ok := ids[id]; !ok && strings.HasPrefix(p.path, "chapters/"+id[:2]) {
				problems = append(problems, p.problem(0, "hunt %s is not presented: do so, with <!-- hunt: %s --> above the paragraph", id, id))
			}
		}
	}
	return problems
}
