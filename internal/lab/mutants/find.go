package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
)

// find lists the mutants of one file. It leaves logging alone: whether a line is
// logged is not what makes a layer right.
func find(t *target, file string) ([]*mutant, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, source, 0)
	if err != nil {
		return nil, err
	}
	f := &finder{target: t, file: file, source: source, fset: fset, pkg: tree.Name.Name}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			f.function = fn.Name.Name
			ast.PreorderStack(fn.Body, nil, f.visit)
		}
	}
	return f.found, nil
}

type finder struct {
	target   *target
	file     string
	source   []byte
	fset     *token.FileSet
	function string
	pkg      string
	found    []*mutant
}

// visit looks at one node below its parents, the nearest last.
func (f *finder) visit(n ast.Node, parents []ast.Node) bool {
	switch n := n.(type) {
	case *ast.ExprStmt:
		if f.isLogging(n) {
			return false
		}
		f.add("leave out", n, f.useArguments(n), leftOut(n, parents))
	case *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		f.add("leave out", n, "", leftOut(n.(ast.Stmt), parents))
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			f.add("leave out", n, f.use(n), leftOut(n, parents))
		}
	case *ast.IfStmt:
		f.add("turn round", n.Cond, "!("+f.text(n.Cond)+")", func(is string, inside inside) string {
			return "((" + inside(f.span(n.Cond)) + ") != " + is + ")"
		})
	case *ast.BinaryExpr:
		to, ok := swaps[n.Op]
		if !ok {
			break
		}
		from := f.text(n)
		op := f.offset(n.OpPos) - f.offset(n.Pos())
		other := func(is string, inside inside) string {
			x, y := inside(f.span(n.X)), inside(f.span(n.Y))
			return fmt.Sprintf("(%s && (%s %s %s) || !%s && (%s %s %s))", is, x, to, y, is, x, n.Op, y)
		}
		if n.Op == token.ADD || n.Op == token.SUB {
			other = nil // of any type, so there is no such short way to choose
		}
		f.add("make it "+to.String(), n, from[:op]+to.String()+from[op+len(n.Op.String()):], other)
	}
	return true
}

// leftOut makes a statement that can be left out, or nil where only a statement
// of its own kind can stand (the post statement of a loop, a label, a case of a
// select) or where the compiler wants to see that the function ends.
func leftOut(n ast.Stmt, parents []ast.Node) func(string, inside) string {
	if len(parents) == 0 {
		return nil
	}
	switch parent := parents[len(parents)-1].(type) {
	case *ast.BlockStmt, *ast.CaseClause:
	case *ast.CommClause:
		if parent.Comm == n {
			return nil
		}
	default:
		return nil
	}
	if e, ok := n.(*ast.ExprStmt); ok {
		if call, ok := e.X.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
				return nil
			}
		}
	}
	from, to := n.Pos(), n.End()
	return func(is string, inside inside) string {
		return "if !" + is + " {" + inside(from, to) + "}"
	}
}

var swaps = map[token.Token]token.Token{
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// use keeps the right side of an assignment that is left out, so that what it
// names still counts as used.
func (f *finder) use(n *ast.AssignStmt) string {
	if n.Tok != token.ASSIGN {
		return ""
	}
	blanks := strings.TrimSuffix(strings.Repeat("_, ", len(n.Lhs)), ", ")
	right := make([]string, len(n.Rhs))
	for i, e := range n.Rhs {
		if id, ok := e.(*ast.Ident); ok && id.Name == "nil" {
			return ""
		}
		right[i] = f.text(e)
	}
	return blanks + " = " + strings.Join(right, ", ")
}

// useArguments does the same for a call.
func (f *finder) useArguments(n *ast.ExprStmt) string {
	call, ok := n.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return ""
	}
	var used []string
	for _, e := range call.Args {
		if id, ok := e.(*ast.Ident); ok && id.Name == "nil" {
			continue
		}
		used = append(used, "_ = "+f.text(e))
	}
	return strings.Join(used, "; ")
}

func (f *finder) add(what string, n ast.Node, with string, switched func(string, inside) string) {
	f.found = append(f.found, &mutant{
		switched: switched, base: token.Pos(f.fset.File(n.Pos()).Base()), pkg: f.pkg,
		target: f.target, file: f.file, source: f.source,
		line: f.fset.Position(n.Pos()).Line, function: f.function,
		what: what, old: f.text(n),
		from: f.offset(n.Pos()), to: f.offset(n.End()), with: with,
	})
}

func (f *finder) span(n ast.Node) (from, to token.Pos) { return n.Pos(), n.End() }

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

var logging = []string{"klog", "logger", "log", "Log", "utilruntime"}

// isLogging tells a call of a logger, whatever it hangs on.
func (f *finder) isLogging(n *ast.ExprStmt) bool {
	call, ok := n.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Info", "InfoS", "Error", "ErrorS", "Warning", "HandleError", "HandleErrorWithContext", "HandleErrorWithLogger"}, sel.Sel.Name) {
		return false
	}
	on := f.text(sel.X)
	return slices.ContainsFunc(logging, func(l string) bool { return strings.Contains(on, l) })
}

func (m *mutant) String() string {
	old := strings.Join(strings.Fields(m.old), " ")
	if len(old) > 70 {
		old = old[:70] + "…"
	}
	return fmt.Sprintf("%s:%d %s: %s `%s`", m.file, m.line, m.function, m.what, old)
}

// key names a mutant without its line, which other changes move.
func (m *mutant) key() string {
	return fmt.Sprintf("%s %s: %s `%s`", m.file, m.function, m.what, strings.Join(strings.Fields(m.old), " "))
}
