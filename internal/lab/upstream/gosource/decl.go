package gosource

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

func newDecl(f *file, node ast.Node) Decl {
	from, to := f.set.Position(node.Pos()), f.set.Position(node.End())
	return Decl{File: f.name, Line: from.Line, End: to.Line, file: f, node: node}
}

// Hash is of the declaration's tokens: the same while only comments, white space and line breaks change.
func (d Decl) Hash() string {
	set := d.file.set
	src := d.file.src[set.Position(d.node.Pos()).Offset:set.Position(d.node.End()).Offset]
	tokens := token.NewFileSet()
	var s scanner.Scanner
	s.Init(tokens.AddFile("", -1, len(src)), src, nil, 0)
	h := sha256.New()
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return fmt.Sprintf("%x", h.Sum(nil)[:4])
		}
		if tok != token.SEMICOLON {
			fmt.Fprintln(h, tok, lit)
		}
	}
}

// At narrows the declaration to the statement, clause or field that begins on its first line that matches.
func (d Decl) At(pattern string) (Decl, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Decl{}, err
	}
	lines := strings.Split(string(d.file.src), "\n")
	for line := d.Line; line <= d.End; line++ {
		if !re.MatchString(lines[line-1]) {
			continue
		}
		if node := d.nodeOn(line); node != nil {
			return newDecl(d.file, node), nil
		}
	}
	return Decl{}, fmt.Errorf("no statement begins on a line that matches /%s/", pattern)
}

// nodeOn is the outermost node inside the declaration that begins on the line.
func (d Decl) nodeOn(line int) (found ast.Node) {
	ast.Inspect(d.node, func(n ast.Node) bool {
		if n == nil || found != nil {
			return false
		}
		switch n.(type) {
		case ast.Stmt, ast.Expr, *ast.Field, ast.Spec:
			if n != d.node && d.file.set.Position(n.Pos()).Line == line {
				found = n
			}
		}
		return found == nil
	})
	return found
}

// Lines is the anchor of the declaration on GitHub: #L12-L34.
func (d Decl) Lines() string {
	if d.Line == d.End {
		return fmt.Sprintf("#L%d", d.Line)
	}
	return fmt.Sprintf("#L%d-L%d", d.Line, d.End)
}
