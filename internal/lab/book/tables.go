package main

import "strings"

// tables fills in what lies between <!-- seed-map: … --> and <!-- /seed-map -->,
// and likewise for bench.
func (b *book) tables(p *page) (edits []edit, problems []problem) {
	lang := "en"
	if p.chinese {
		lang = "zh"
	}
	for name, table := range map[string]func(argument, lang string) (string, error){
		"seed-map": b.world.seedTable,
		"bench":    b.world.benchTable,
	} {
		for _, r := range p.regions(name) {
			if r.to == 0 {
				problems = append(problems, p.problem(r.line, "<!-- %s --> without an end: put <!-- /%s --> where the table ends", name, name))
				continue
			}
			text, err := table(r.argument, lang)
			if err != nil {
				problems = append(problems, p.problem(r.line, "%s: %v", name, err))
				continue
			}
			// GitHub wants a blank line between a comment and a table.
			lines := append(append([]string{""}, strings.Split(strings.Trim(text, "\n"), "\n")...), "")
			edits = append(edits, edit{r.line + 1, r.to, lines, "the table " + name + " is stale"})
		}
	}
	return edits, problems
}
