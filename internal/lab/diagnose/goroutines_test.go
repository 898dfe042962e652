package diagnose

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// goroutine is one of a stack dump, without arguments and lines.
type goroutine struct {
	state     string   // "chan receive", "select", ...
	functions []string // innermost first, in the short form package.Function
}

// goroutines are all that there are now.
func goroutines() (all []goroutine) {
	dump := make([]byte, 4<<20)
	dump = dump[:runtime.Stack(dump, true)]
	for block := range strings.SplitSeq(string(dump), "\n\n") {
		all = append(all, parse(block))
	}
	return all
}

func parse(block string) (g goroutine) {
	header, rest, _ := strings.Cut(block, "\n")
	_, state, _ := strings.Cut(header, "[")
	g.state, _, _ = strings.Cut(state, "]")
	for line := range strings.SplitSeq(rest, "\n") {
		arguments := strings.LastIndex(line, "(")
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "created by ") || strings.HasPrefix(line, "sync.runtime_") || arguments < 0 {
			continue
		}
		g.functions = append(g.functions, line[strings.LastIndex(line[:arguments], "/")+1:arguments])
	}
	return g
}

// find returns the goroutine that waits in the first of those functions and was
// called by way of the others.
func find(functions []string) (goroutine, bool) {
	for _, g := range goroutines() {
		if g.waitsIn(functions) {
			return g, true
		}
	}
	return goroutine{}, false
}

func (g goroutine) waitsIn(functions []string) bool {
	if g.state == "runnable" || g.state == "running" || len(g.functions) == 0 || g.functions[0] != functions[0] {
		return false
	}
	callers := g.functions
	return !slices.ContainsFunc(functions, func(f string) bool {
		at := slices.Index(callers, f)
		callers = callers[at+1:]
		return at < 0
	})
}

func (g goroutine) String() string {
	return fmt.Sprintf("goroutine [%s]:\n  %s", g.state, strings.Join(g.functions, "\n  "))
}
