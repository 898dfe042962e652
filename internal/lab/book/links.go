package main

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
)

var (
	linkTarget = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|\b(?:href|src|srcset)="([^"]+)"`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
	anyAnchor  = regexp.MustCompile(`\bid="([^"]+)"`)
	onGitHub   = regexp.MustCompile(`^https://github\.com/([^/]+/[^/]+)/(?:blob|tree)/([^/]+)/`)
	tagOrHash  = regexp.MustCompile(`^(?:.*v?\d+\.\d+.*|[0-9a-f]{40})$`)
	upRepos    = regexp.MustCompile(`^(?:kubernetes/client-go|kubernetes/apimachinery|kubernetes-sigs/controller-runtime)$`)
)

// checkLinks: links inside the repository lead somewhere, links into other
// people's source stay where they are.
func (b *book) checkLinks(p *page) (problems []problem) {
	for i, line := range p.lines {
		if p.kinds[i] == fenced {
			continue
		}
		if p.kinds[i] == prose {
			line = fullLink.ReplaceAllString(line, "]") // the tool made it
		}
		for _, m := range linkTarget.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "``"), -1) {
			if wrong := b.checkLink(p, m[1]+m[2]); wrong != "" && p.kinds[i] == prose {
				problems = append(problems, p.problem(i, "%s: %s", m[1]+m[2], wrong))
			}
		}
	}
	return problems
}

func (b *book) checkLink(from *page, target string) (wrong string) {
	if m := onGitHub.FindStringSubmatch(target); m != nil {
		switch {
		case !tagOrHash.MatchString(m[2]):
			return "a link to a branch moves: link to a tag"
		case upRepos.MatchString(m[1]):
			return "write it as [words](up:module/package#Symbol), so that the tool can keep it"
		}
	}
	u, err := url.Parse(target)
	if err != nil {
		return err.Error()
	}
	if u.Scheme != "" {
		return ""
	}
	file := from.path
	if u.Path != "" {
		file = path.Join(path.Dir(from.path), u.Path)
	}
	switch {
	case !fs.ValidPath(file):
		return "the link leaves the repository"
	case !b.exists(file):
		return "there is no such file: mind that links start from the page's folder"
	case u.Fragment == "":
		return ""
	case !strings.HasSuffix(file, ".md"):
		return "line numbers of a file move: link to the file"
	}
	text, err := fs.ReadFile(b.files, file)
	if err != nil {
		return err.Error()
	}
	for _, m := range anyAnchor.FindAllStringSubmatch(string(text), -1) {
		if m[1] == u.Fragment {
			return ""
		}
	}
	return `that page has no <a id="` + u.Fragment + `">`
}

// figure is a picture of a page: what it shows in words, and the file.
var figure = regexp.MustCompile(`!\[([^\]]*)\]\(([^)\s]+)`)

// checkFigures: each picture says in words what it shows, and a chapter has one
// that shows what happened in a recorded run.
func (p *page) checkFigures() (problems []problem) {
	if strings.HasPrefix(p.path, "chapters/") && !strings.Contains(p.text(), "-trace.") {
		problems = append(problems, p.problem(0, "no figure of a recorded run: show ../../docs/figures/NN-trace.svg"))
	}
	for i, line := range p.lines {
		for _, m := range figure.FindAllStringSubmatch(line, -1) {
			if p.kinds[i] == prose && strings.TrimSpace(m[1]) == "" {
				problems = append(problems, p.problem(i, "figure %s: say between the brackets what it shows, for those who can't see it", m[2]))
			}
		}
	}
	return problems
}
