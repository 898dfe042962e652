package main

import (
	"io/fs"
	"regexp"
	"strings"

	"github.com/informer-walkthrough/informer-walkthrough/internal/controlplane"
)

// oldVersions are what the article was written about.
var oldVersions = map[string][]string{
	"controller-runtime": {"0.11.0", "0.11.1", "0.11.2"},
	"client-go":          {"0.23.0", "0.23.5"},
	"apimachinery":       {"0.23.0", "0.23.5"},
	"Kubernetes":         {"1.23"},
}

// pin finds in go.mod: go 1.26.0, k8s.io/client-go v0.37.2.
var pin = regexp.MustCompile(`(?m)^go (\S+)|k8s\.io/(client-go|apimachinery|controller-runtime) v(\S+)`)

// versions says which ones a text may name.
func versions(files fs.FS) (map[string][]string, error) {
	text, err := fs.ReadFile(files, "go.mod")
	if err != nil {
		return nil, err
	}
	may := map[string][]string{"Kubernetes": {strings.TrimPrefix(controlplane.Version, "v")}}
	for _, m := range pin.FindAllStringSubmatch(string(text), -1) {
		if m[1] != "" {
			may["Go"] = []string{m[1]}
		} else {
			may[m[2]] = []string{m[3]}
		}
	}
	for name, old := range oldVersions {
		may[name] = append(may[name], old...)
	}
	return may, nil
}

var versionNamed = regexp.MustCompile("\\b(client-go|controller-runtime|apimachinery|Kubernetes|Go)`?(?: |@|：|: )?`?\\**v?(\\d+\\.\\d+(?:\\.\\d+)?)")

// checkVersions: a version that a text names is one that we have, or the article
// had. A line that tells history says so: <!-- history -->.
func (b *book) checkVersions(p *page) (problems []problem) {
	for i, line := range p.lines {
		if p.kinds[i] != prose || strings.Contains(line, "<!-- history -->") {
			continue
		}
		for _, m := range versionNamed.FindAllStringSubmatch(line, -1) {
			if !isOneOf(m[2], b.versions[m[1]]) {
				problems = append(problems, p.problem(i, "%s v%s: it is %s; a line that tells history ends with <!-- history -->", m[1], m[2], strings.Join(b.versions[m[1]], " or ")))
			}
		}
	}
	return problems
}

// isOneOf takes 0.37 for 0.37.2.
func isOneOf(version string, may []string) bool {
	for _, v := range may {
		if v == version || strings.HasPrefix(v, version+".") {
			return true
		}
	}
	return false
}
