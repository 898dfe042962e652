package gosource

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Find looks a symbol up: Func, Type, Type.Method, Type.field, constant or variable.
// Where several files declare it, file has to say which one is meant.
func (p *Package) Find(symbol, file string) (Decl, error) {
	decls, ok := p.decls[symbol]
	if !ok {
		return Decl{}, fmt.Errorf("no symbol %s; nearest: %s", symbol, strings.Join(p.nearest(symbol), ", "))
	}
	if file != "" {
		decls = slices.Clone(decls)
		decls = slices.DeleteFunc(decls, func(d Decl) bool { return d.File != file })
		if len(decls) == 0 {
			return Decl{}, fmt.Errorf("%s is not in %s but in %s", symbol, file, p.decls[symbol][0].File)
		}
	}
	if len(decls) > 1 {
		return Decl{}, fmt.Errorf("%s is declared in %s and %s: name the file, as in folder/%s#%s",
			symbol, decls[0].File, decls[1].File, decls[0].File, symbol)
	}
	return decls[0], nil
}

// nearest is the three symbols that take the fewest edits to get to; the same name elsewhere takes half.
func (p *Package) nearest(symbol string) []string {
	distance := map[string]int{}
	for s := range p.decls {
		distance[s] = 2 * edits(strings.ToLower(s), strings.ToLower(symbol))
		if afterDot(s) == afterDot(symbol) {
			distance[s] /= 2
		}
	}
	all := slices.SortedFunc(maps.Keys(p.decls), func(a, b string) int {
		if d := distance[a] - distance[b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return all[:min(3, len(all))]
}

func afterDot(symbol string) string { return symbol[strings.LastIndexByte(symbol, '.')+1:] }

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
