package main

// mustBeBooks says that all pages below have been written: each must then be in
// the format, and every mistake of the article be told.
const mustBeBooks = true

var thePages = []string{
	"README",
	"chapters/01-informermap/README",
	"chapters/02-source-kind/README",
	"chapters/03-informer-run/README",
	"chapters/04-reflector-deltafifo/README",
	"chapters/05-handledeltas/README",
	"chapters/06-reconcile-loop/README",
	"full/README",
	"docs/diagnose",
	"docs/next",
}

// checkComplete: no page is left out, and each is there in both languages.
func (b *book) checkComplete() (problems []problem) {
	if b.complete {
		for _, stem := range thePages {
			for _, path := range []string{stem + ".zh.md", stem + ".md"} {
				if b.page(path) == nil {
					problems = append(problems, problem{path, 0, "not a page of the book: write it in the format, with a line <!-- book --> at its top"})
				}
			}
		}
	}
	for _, p := range b.pages {
		if other := otherLanguage(p); b.page(other) == nil {
			problems = append(problems, p.problem(0, "its other language, %s, is not there or has no line <!-- book --> at its top", other))
		}
	}
	return problems
}

func otherLanguage(p *page) string {
	if p.chinese {
		return englishOf(p.path)
	}
	return chineseOf(p.path)
}
