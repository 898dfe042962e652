// Package upstream finds symbols of client-go, controller-runtime and
// apimachinery in the pinned versions and in the old ones that the article
// describes, links to them on GitHub, and notices when an upgrade changes one.
package upstream

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream/gosource"
)

// Symbol is where a declaration of upstream's is.
type Symbol struct {
	URL       string // on GitHub, at the tag, with its lines
	File      string // on this disk
	Line, End int    // without the doc comment
	Hash      string // of the source without comments and white space
}

// client-go@v0.23.5/tools/cache#Reflector.watchHandler /case watch.Added/
var refSyntax = regexp.MustCompile(`^([a-z-]+)(?:@(v[^/]+))?/([^#\s]+)#([\w.]+)(?: /(.+)/)?$`)

// Resolve finds what a ref names: module, version if it is not go.mod's, package
// and symbol, as in
//
//	client-go/tools/cache#Reflector.watch
//	client-go@v0.23.5/tools/cache#DeltaFIFO.Pop
//
// A symbol is a Func, Type, Type.Method, Type.field, method of an interface,
// constant or variable, exported or not. In place of the package a file of it
// may stand (tools/cache/reflector.go). A regular expression after the symbol
// (` /case watch.Added/`) narrows it to the statement that begins on the first
// line that matches.
func Resolve(ref string) (Symbol, error) {
	m := refSyntax.FindStringSubmatch(ref)
	if m == nil {
		return Symbol{}, fmt.Errorf("%q is not written like client-go/tools/cache#Reflector.watch or client-go@v0.23.5/tools/cache#DeltaFIFO.Pop", ref)
	}
	name, version, folder, symbol, pattern := m[1], m[2], m[3], m[4], m[5]
	mod, err := moduleOf(name, version)
	if err != nil {
		return Symbol{}, err
	}
	file := ""
	if strings.HasSuffix(folder, ".go") {
		folder, file = path.Split(folder)
		folder = path.Clean(folder)
	}
	where := fmt.Sprintf("%s@%s/%s", mod.name, mod.version, folder)
	pkg, err := gosource.Open(filepath.Join(mod.dir, filepath.FromSlash(folder)))
	if err != nil {
		return Symbol{}, fmt.Errorf("%s is no package: %w", where, err)
	}
	decl, err := pkg.Find(symbol, file)
	if err != nil {
		return Symbol{}, fmt.Errorf("%s: %w", where, err)
	}
	if pattern != "" {
		if decl, err = decl.At(pattern); err != nil {
			return Symbol{}, fmt.Errorf("%s#%s: %w", where, symbol, err)
		}
	}
	return Symbol{
		URL: fmt.Sprintf("https://github.com/%s/blob/%s/%s%s",
			mod.repo, mod.version, path.Join(folder, decl.File), decl.Lines()),
		File: filepath.Join(mod.dir, filepath.FromSlash(folder), decl.File),
		Line: decl.Line, End: decl.End, Hash: decl.Hash(),
	}, nil
}
