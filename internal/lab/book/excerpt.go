package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strings"
)

const longestExcerpt = 25

// excerptOf is the argument of `<!-- code: file.go#Symbol /from/,/to/ doc -->`.
var excerptOf = regexp.MustCompile(`^(\S+?)#(\S+?)(?:\s+/(.+)/,\s*/(.+)/)?(\s+doc)?$`)

// excerpts fills in the ```go block below each `code:`, and makes it where there
// is none yet.
func (b *book) excerpts(p *page) (edits []edit, problems []problem) {
	for _, c := range p.comments {
		if c.name != "code" {
			continue
		}
		code, err := excerpt(b.files, c.argument)
		if err != nil {
			problems = append(problems, p.problem(c.line, "%v", err))
			continue
		}
		e := edit{from: c.line + 1, to: c.line + 1, what: "not what " + c.argument + " is"}
		for _, f := range p.fences {
			if f.open == c.line+1 && f.label == "go" {
				e.to = f.close + 1
			}
		}
		e.text = append(append([]string{"```go"}, code...), "```")
		if e.to == e.from && e.to < len(p.lines) && p.lines[e.to] != "" {
			e.text = append(e.text, "")
		}
		edits = append(edits, e)
	}
	return edits, problems
}

// excerpt cuts a declaration, or lines within it, out of a file.
func excerpt(files fs.FS, argument string) ([]string, error) {
	m := excerptOf.FindStringSubmatch(argument)
	if m == nil {
		return nil, fmt.Errorf("code: %s: write it as path/file.go#Symbol, then /from/,/to/ to cut within it, then doc to have its comment", argument)
	}
	path, symbol, from, to, doc := m[1], m[2], m[3], m[4], m[5] != ""
	source, err := fs.ReadFile(files, path)
	if err != nil {
		return nil, fmt.Errorf("code: there is no file %s: name it from the root of the repository", path)
	}
	first, last, err := declaration(path, source, symbol, doc)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(source), "\n")[first-1 : last]
	if from != "" {
		if lines, err = cut(lines, from, to); err != nil {
			return nil, fmt.Errorf("code: %s#%s: %w", path, symbol, err)
		}
	}
	if len(lines) > longestExcerpt {
		return nil, fmt.Errorf("code: %s#%s has %d lines, a reader takes %d: cut it with /from/,/to/", path, symbol, len(lines), longestExcerpt)
	}
	return dedent(lines), nil
}

// declaration finds the lines, from 1, of a Func, Type, Type.Method, const or var.
func declaration(path string, source []byte, symbol string, doc bool) (first, last int, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return 0, 0, err
	}
	span := func(node ast.Node, comment *ast.CommentGroup) (int, int, error) {
		start := node.Pos()
		if doc && comment != nil {
			start = comment.Pos()
		}
		return set.Position(start).Line, set.Position(node.End()).Line, nil
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if funcName(d) == symbol {
				return span(d, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if !declares(spec, symbol) {
					continue
				}
				if !d.Lparen.IsValid() {
					return span(d, d.Doc)
				}
				return span(spec, docOf(spec))
			}
		}
	}
	return 0, 0, fmt.Errorf("code: %s has no %s: name a Func, Type, Type.Method, const or var", path, symbol)
}

// funcName is Func, or Type.Method.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.IndexExpr:
			receiver = t.X
		case *ast.IndexListExpr:
			receiver = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

func declares(spec ast.Spec, symbol string) bool {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name == symbol
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.Name == symbol {
				return true
			}
		}
	}
	return false
}

func docOf(spec ast.Spec) *ast.CommentGroup {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Doc
	case *ast.ValueSpec:
		return s.Doc
	}
	return nil
}

// cut keeps the first line that matches from, up to the first one from there on
// that matches to.
func cut(lines []string, from, to string) ([]string, error) {
	find := func(pattern string, lines []string) (int, error) {
		re, err := regexp.Compile(strings.ReplaceAll(pattern, `\/`, `/`))
		if err != nil {
			return 0, err
		}
		for i, line := range lines {
			if re.MatchString(line) {
				return i, nil
			}
		}
		return 0, fmt.Errorf("no line matches /%s/", pattern)
	}
	first, err := find(from, lines)
	if err != nil {
		return nil, err
	}
	length, err := find(to, lines[first:])
	if err != nil {
		return nil, err
	}
	return lines[first : first+length+1], nil
}

// dedent takes away the tabs that all lines begin with.
func dedent(lines []string) []string {
	common := -1
	for _, line := range lines {
		if tabs := len(line) - len(strings.TrimLeft(line, "\t")); line != "" && (common < 0 || tabs < common) {
			common = tabs
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line[min(len(line), max(common, 0)):]
	}
	return out
}
