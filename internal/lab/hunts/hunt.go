package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// home is where the hunts are, from the project's root.
const home = "internal/lab/hunts"

// hunt is one fault that a reader can look for.
type hunt struct {
	id string
	// Package has the fault, and its tests find it.
	Package string `json:"package"`
	// Test matches the tests that the fault turns red.
	Test  string `json:"test"`
	Title text   `json:"title"`
	// Reports are the public reports of faults of this kind, owner/repository#number.
	Reports []string `json:"reports"`
	// Symptom is what the reader is told at first.
	Symptom text `json:"symptom"`
	// Hints say more each time.
	Hints       []text `json:"hints"`
	Explanation text   `json:"explanation"`

	bug, solution []byte // unified diffs; the second one against the tree with the first
}

// load reads all hunts, in their order.
func load() ([]*hunt, error) {
	found, err := filepath.Glob(filepath.FromSlash(home + "/[0-9][0-9]-[0-9]*/hunt.yaml"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no hunts in %s: run this from the project's root", home)
	}
	hunts := make([]*hunt, len(found))
	for i, name := range found {
		if hunts[i], err = read(filepath.Dir(name)); err != nil {
			return nil, err
		}
	}
	return hunts, nil
}

func read(dir string) (*hunt, error) {
	h := &hunt{id: filepath.Base(dir)}
	name := filepath.Join(dir, "hunt.yaml")
	spec, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(spec, h); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := h.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if h.bug, err = os.ReadFile(filepath.Join(dir, "bug.patch")); err != nil {
		return nil, err
	}
	h.solution, err = os.ReadFile(filepath.Join(dir, "solution.patch"))
	return h, err
}

var report = regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+$`)

func (h *hunt) validate() error {
	for name, t := range map[string]text{"title": h.Title, "symptom": h.Symptom, "explanation": h.Explanation} {
		if err := t.validate(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(h.Hints) == 0 {
		return fmt.Errorf("hints: there are none, give at least one")
	}
	for i, t := range h.Hints {
		if err := t.validate(); err != nil {
			return fmt.Errorf("hint %d: %w", i+1, err)
		}
	}
	if !strings.HasPrefix(h.Package, "chapters/"+h.id[:2]+"-") {
		return fmt.Errorf("package: %q is not in chapter %s", h.Package, h.id[:2])
	}
	if _, err := regexp.Compile(h.Test); err != nil || h.Test == "" {
		return fmt.Errorf("test: %q is no regular expression for go test -run", h.Test)
	}
	for _, r := range h.Reports {
		if !report.MatchString(r) {
			return fmt.Errorf("reports: %q is not of the form owner/repository#number", r)
		}
	}
	return nil
}

// links are the addresses of the reports.
func (h *hunt) links() []string {
	var links []string
	for _, r := range h.Reports {
		repo, number, _ := strings.Cut(r, "#")
		links = append(links, "https://github.com/"+repo+"/issues/"+number)
	}
	return links
}

// folder is where the reader works on the package, below the project's root. Go
// leaves out what begins with an underscore, so a fault there is in no build.
func (h *hunt) folder() string { return path.Join("_hunt", h.id) }

// faulty returns the files that the fault changes.
func (h *hunt) faulty() (files, error) {
	f, err := apply(h.bug, h.Package, nil)
	if err != nil {
		return nil, fmt.Errorf("%s/%s/bug.patch: %w", home, h.id, err)
	}
	return f, nil
}
