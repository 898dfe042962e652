// Package bugreports holds docs/bug-reports.md to the tests that it names.
package bugreports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../../.."

var (
	idsInName = regexp.MustCompile(`^Test(B\d+(?:_B\d+)*)_`)
	row       = regexp.MustCompile(`^\| (B\d+) \| (.+) \| (.+) \| (.+) \| (.*) \|$`)
	report    = regexp.MustCompile(`^\[([\w.-]+/[\w.-]+)#(\d+)\]\(https://github\.com/([\w.-]+/[\w.-]+)/issues/(\d+)\)$`)
	test      = regexp.MustCompile("^\\[`(\\w+)`\\]\\(\\.\\./(\\S+)\\)$")
)

// claim is that a test for a bug report is in a file.
type claim struct{ id, name, file string }

// table reads the claims of the document and complains about rows that are not well formed.
func table(document string) (claims map[claim]bool, faults []string) {
	claims = map[claim]bool{}
	seen := map[string]bool{}
	for _, line := range strings.Split(document, "\n") {
		if !strings.HasPrefix(line, "| B") {
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			faults = append(faults, "not a row of five cells: "+line)
			continue
		}
		id := m[1]
		if seen[id] {
			faults = append(faults, id+" is there twice")
		}
		seen[id] = true
		for _, r := range strings.Split(m[2], ", ") {
			if l := report.FindStringSubmatch(r); l == nil || l[1] != l[3] || l[2] != l[4] {
				faults = append(faults, fmt.Sprintf("%s: %s does not link to the report that it names", id, r))
			}
		}
		for _, cell := range strings.Split(m[5], "<br>") {
			l := test.FindStringSubmatch(cell)
			if l == nil {
				faults = append(faults, fmt.Sprintf("%s: %q is no test with its file", id, cell))
				continue
			}
			claims[claim{id, l[1], l[2]}] = true
		}
	}
	return claims, faults
}

// tests finds the tests of bug reports below dir.
func tests(dir string) (claims map[claim]bool, err error) {
	claims = map[claim]bool{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != dir && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		file, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			if m := idsInName.FindStringSubmatch(fn.Name.Name); m != nil {
				for _, id := range strings.Split(m[1], "_") {
					claims[claim{id, fn.Name.Name, filepath.ToSlash(file)}] = true
				}
			}
		}
		return nil
	})
	return claims, err
}

func TestBugReports(t *testing.T) {
	document, err := os.ReadFile(root + "/docs/bug-reports.md")
	require.NoError(t, err)
	claimed, faults := table(string(document))
	assert.Empty(t, faults)
	there, err := tests(root)
	require.NoError(t, err)
	require.Greater(t, len(there), 50, "the tests of the tree were found")
	for c := range claimed {
		assert.True(t, there[c], "docs/bug-reports.md says that %s has %s in %s: write it, or mend the table", c.id, c.name, c.file)
	}
	for c := range there {
		assert.True(t, claimed[c], "%s in %s is not in the row of %s in docs/bug-reports.md: add it", c.name, c.file, c.id)
	}
}

// A check that finds nothing may just be blind.
func TestFaultsOfTheTableAreSeen(t *testing.T) {
	const good = "| B01 | [a/b#1](https://github.com/a/b/issues/1) | it broke | fixed | [`TestB01_X`](../x_test.go) |"
	for name, tc := range map[string]struct{ table, want, reason string }{
		"good":        {good, "", "nothing is wrong"},
		"twice":       {good + "\n" + good, "B01 is there twice", "one row for each report"},
		"other link":  {strings.Replace(good, "issues/1", "issues/2", 1), "does not link to the report", "the number is what readers go by"},
		"no test":     {strings.Replace(good, "[`TestB01_X`](../x_test.go)", "none", 1), "is no test with its file", "a report without a test"},
		"cell missed": {strings.Replace(good, " fixed |", "", 1), "not a row of five cells", "what upstream does today is said"},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := table(tc.table)
			if tc.want == "" {
				assert.Empty(t, faults, tc.reason)
			} else {
				assert.Contains(t, strings.Join(faults, "\n"), tc.want, tc.reason)
			}
		})
	}
}
