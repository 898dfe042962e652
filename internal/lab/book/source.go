package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// testFuncs finds the functions that go test runs, by the folder they are in.
func testFuncs(files fs.FS) (map[string][]string, error) {
	found := map[string][]string{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin"):
			return fs.SkipDir
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && runnable.MatchString(f.Name.Name) {
				found[path.Dir(name)] = append(found[path.Dir(name)], f.Name.Name)
			}
		}
		return nil
	})
	return found, err
}

var (
	runnable = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz)(?:[A-Z0-9_]|$)|^Example`)
	// `TestXxx`, `BenchmarkXxx/with=case`: the first group is the function.
	testName = regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z0-9_]\\w*)(?:/[^`]*)?`")
	// the same as words of a link that leads to another project
	foreignTest = regexp.MustCompile("\\[[^\\]]*\\]\\((?:https?:|up:)[^)]*\\)")
)

// checkTests: every test that a page names exists.
func (b *book) checkTests(p *page) (problems []problem) {
	for i, line := range p.lines {
		if p.kinds[i] == fenced {
			continue
		}
		for _, m := range testName.FindAllStringSubmatch(foreignTest.ReplaceAllString(line, ""), -1) {
			if !b.hasTest(m[1]) {
				problems = append(problems, p.problem(i, "there is no %s: name a test that exists", m[1]))
			}
		}
	}
	return problems
}

func (b *book) hasTest(name string) bool {
	for _, names := range b.tests {
		for _, n := range names {
			if n == name {
				return true
			}
		}
	}
	return false
}
