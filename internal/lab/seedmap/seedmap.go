// Package seedmap reads docs/seed-map.yaml: what the article names, row by row,
// as it was then, as it is upstream today and as it is here, and what the
// article leaves out or has wrong. Every symbol in it is looked up.
package seedmap

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
)

// File is where the map is, from the root of the repository.
const File = "docs/seed-map.yaml"

// Upstream in a row's Ours says that upstream's own part is used here.
const Upstream = "upstream"

// Map is the article against then and now.
type Map struct {
	// Rows are in reading order within a chapter.
	Rows []Row `json:"rows"`
	// Mistakes are the article's omissions (O…) and mistakes (M…).
	Mistakes []Mistake `json:"mistakes"`

	root string
}

// Row is one thing that the article names.
type Row struct {
	ID      string   `json:"id"`
	Chapter string   `json:"chapter"` // 01 to 06 or full
	Name    string   `json:"name"`    // in the article
	NameZH  string   `json:"nameZH"`  // where Name is more than code
	Line    int      `json:"line"`    // of the article
	Then    []string `json:"then"`    // refs with the old version
	Now     []string `json:"now"`     // refs
	Gone    string   `json:"gone"`    // the first version without Then; Now is then what took its place
	Ours    []string `json:"ours"`    // path/file.go#Symbol, or Upstream
	ZH      string   `json:"zh"`      // what changed
	EN      string   `json:"en"`
}

// Mistake is something that the article leaves out or has wrong, and what is true.
type Mistake struct {
	ID      string `json:"id"`
	Chapter string `json:"chapter"` // where it fits best
	Lines   []int  `json:"lines"`   // of the article
	ZH      string `json:"zh"`
	EN      string `json:"en"`
}

// Load reads the map, once per process, and looks up all it says. Its error names
// each row that is wrong.
var Load = sync.OnceValues(func() (*Map, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		return nil, err
	}
	return parse(root, text)
})

func parse(root string, text []byte) (*Map, error) {
	m := &Map{root: root}
	if err := yaml.UnmarshalStrict(text, m); err != nil {
		return nil, err
	}
	return m, m.validate()
}

func findRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, notHere := os.Stat(filepath.Join(dir, "go.mod")); notHere == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no go.mod above the working directory: call from within the repository")
		}
	}
	return "", err
}

// ChapterMistakes are those that fit best into a chapter.
func (m *Map) ChapterMistakes(chapter string) (fit []Mistake) {
	for _, mistake := range m.Mistakes {
		if mistake.Chapter == chapter {
			fit = append(fit, mistake)
		}
	}
	return fit
}

// MistakeIDs is what the texts have to tell.
func (m *Map) MistakeIDs() (ids []string) {
	for _, mistake := range m.Mistakes {
		ids = append(ids, mistake.ID)
	}
	return ids
}

// Uses are the rows that lean on upstream's source, for docs/upstream.lock.
func (m *Map) Uses() (uses []upstream.Use) {
	for _, row := range m.Rows {
		for _, ref := range slices.Concat(row.Then, row.Now) {
			uses = append(uses, upstream.Use{Ref: ref, Where: row.where()})
		}
	}
	return uses
}

func (r Row) where() string { return File + " row " + r.ID + " (" + r.Name + ")" }
