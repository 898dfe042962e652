package seedmap

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream/gosource"
)

var (
	chapters = regexp.MustCompile(`^(?:0[1-6]|full)$`)
	ids      = regexp.MustCompile(`^[SMO]\d+$`)
	version  = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)
	han      = regexp.MustCompile(`\p{Han}`)
)

// validate has one error for each thing that is wrong, with the row's id and name.
func (m *Map) validate() error {
	var faults []error
	seen := map[string]bool{}
	entry := func(id, chapter, where, zh, en string, lines ...int) (fault func(string, ...any)) {
		fault = func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("%s: "+format, append([]any{where}, args...)...))
		}
		if seen[id] || !ids.MatchString(id) {
			fault("the id %q is there twice or not like S001, M01, O01", id)
		}
		seen[id] = true
		if !chapters.MatchString(chapter) {
			fault("chapter %q is none of 01 to 06 and full", chapter)
		}
		if !han.MatchString(zh) || en == "" || han.MatchString(en) {
			fault("wants a note in Chinese (zh) and one in English (en)")
		}
		if len(lines) == 0 || lines[0] < 1 {
			fault("says no line of the article")
		}
		return fault
	}
	for _, r := range m.Rows {
		fault := entry(r.ID, r.Chapter, r.where(), r.ZH, r.EN, r.Line)
		m.validateRow(r, fault)
	}
	for _, mistake := range m.Mistakes {
		entry(mistake.ID, mistake.Chapter, File+" "+mistake.ID, mistake.ZH, mistake.EN, mistake.Lines...)
	}
	return errors.Join(faults...)
}

func (m *Map) validateRow(r Row, fault func(string, ...any)) {
	if len(r.Then) == 0 || len(r.Ours) == 0 || len(r.Now) == 0 && r.Gone == "" {
		fault("wants then, ours, and now or gone")
	}
	if r.Gone != "" && !version.MatchString(r.Gone) {
		fault("gone is %q: write the first version without it, like v0.15.0", r.Gone)
	}
	for _, ref := range r.Then {
		if !strings.Contains(ref, "@") {
			fault("then %s: say the old version, like client-go@v0.23.5/…", ref)
		}
		if _, err := upstream.Resolve(ref); err != nil {
			fault("then %w", err)
		}
	}
	for _, ref := range r.Now {
		if strings.Contains(ref, "@") {
			fault("now %s: leave the version out, it is go.mod's", ref)
		}
		if _, err := upstream.Resolve(ref); err != nil {
			fault("now %w", err)
		}
	}
	for _, ours := range r.Ours {
		if ours == Upstream {
			continue
		}
		if err := m.find(ours); err != nil {
			fault("ours %s: %w", ours, err)
		}
	}
}

// find looks up path/file.go#Symbol in this repository.
func (m *Map) find(ours string) error {
	file, symbol, ok := strings.Cut(ours, "#")
	if !ok {
		return errors.New("not written like folder/file.go#Symbol")
	}
	pkg, err := gosource.Open(filepath.Join(m.root, filepath.FromSlash(path.Dir(file))))
	if err != nil {
		return err
	}
	_, err = pkg.Find(symbol, path.Base(file))
	return err
}
