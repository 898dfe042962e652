// Package gosource finds the declarations of a folder of Go files by name, in
// the text alone: nothing is type-checked, so that it costs little and works
// on unexported names and on modules that nothing imports.
package gosource

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Package is the declarations in one folder, without its tests. It is immutable.
type Package struct {
	dir   string
	decls map[string][]Decl // by symbol; several where build constraints choose between files
}

// Decl is one declaration without its doc comment.
type Decl struct {
	File      string // name of the file in the folder
	Line, End int    // first and last line

	file *file
	node ast.Node
}

// file is one parsed source file.
type file struct {
	name string
	set  *token.FileSet
	src  []byte
}

var packages sync.Map // folder → func() (*Package, error)

// Open reads a folder, once per process.
func Open(dir string) (*Package, error) {
	once, _ := packages.LoadOrStore(dir, sync.OnceValues(func() (*Package, error) { return open(dir) }))
	return once.(func() (*Package, error))()
}

func open(dir string) (*Package, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	p := &Package{dir: dir, decls: map[string][]Decl{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := &file{name: filepath.Base(name), set: token.NewFileSet()}
		if f.src, err = os.ReadFile(name); err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(f.set, name, f.src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.addFile(f, parsed)
	}
	if len(p.decls) == 0 {
		return nil, fmt.Errorf("no Go declarations in %s", dir)
	}
	return p, nil
}

func (p *Package) addFile(f *file, parsed *ast.File) {
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = typeName(d.Recv.List[0].Type) + "." + name
			}
			p.add(name, f, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				node := ast.Node(spec)
				if !d.Lparen.IsValid() {
					node = d
				}
				p.addSpec(f, spec, node)
			}
		}
	}
}

func (p *Package) addSpec(f *file, spec ast.Spec, node ast.Node) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			p.add(name.Name, f, node)
		}
	case *ast.TypeSpec:
		p.add(spec.Name.Name, f, node)
		switch t := spec.Type.(type) {
		case *ast.StructType:
			p.addFields(spec.Name.Name, f, t.Fields)
		case *ast.InterfaceType:
			p.addFields(spec.Name.Name, f, t.Methods)
		}
	}
}

// addFields adds struct fields and interface methods; an embedded one goes by the name of its type.
func (p *Package) addFields(of string, f *file, fields *ast.FieldList) {
	for _, field := range fields.List {
		for _, name := range field.Names {
			p.add(of+"."+name.Name, f, field)
		}
		if name := typeName(field.Type); len(field.Names) == 0 && name != "" {
			p.add(of+"."+name, f, field)
		}
	}
}

func (p *Package) add(symbol string, f *file, node ast.Node) {
	p.decls[symbol] = append(p.decls[symbol], newDecl(f, node))
}

// typeName is the bare name of a receiver's or an embedded field's type: no pointer, type arguments or package.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}
