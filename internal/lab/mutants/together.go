package main

import (
	"context"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/slowtests"
)

// together is one test binary that holds all mutants of a target that can be
// chosen at run time. Building it once is what makes a thousand mutants cheap.
type together struct {
	binary  string
	folder  string // the tests run where go test would run them
	args    []string
	timeout time.Duration
	slow    string // the tests that need an API server; they are asked last
}

// inside returns the source of a part of a mutant, with the mutants within it.
type inside func(from, to token.Pos) string

const switchFile = `package %s

import "os"

var mutant = os.Getenv("MUTANT")

func mutantIs(number string) bool { return mutant == number }
`

// buildTogether gives all mutants that can be chosen at run time a number and
// builds the target's test binary with them. Its tests must pass while none is
// chosen.
func buildTogether(ctx context.Context, t *target, all []*mutant, dir string) (*together, error) {
	byFile := map[string][]*mutant{}
	var number int
	for _, m := range all {
		if m.target == t && m.switched != nil {
			number++
			m.number = number
			byFile[m.file] = append(byFile[m.file], m)
		}
	}
	if number == 0 {
		return nil, nil
	}
	replace := map[string]string{}
	for file, mutants := range byFile {
		slices.SortStableFunc(mutants, func(a, b *mutant) int {
			if a.from != b.from {
				return a.from - b.from
			}
			return b.to - a.to
		})
		changed := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(changed, []byte(render(mutants[0], 0, len(mutants[0].source), mutants)), 0o600); err != nil {
			return nil, err
		}
		replace[file] = changed
		folder := filepath.Dir(file)
		choose := filepath.Join(dir, "mutant_is.go")
		if err := os.WriteFile(choose, fmt.Appendf(nil, switchFile, mutants[0].pkg), 0o600); err != nil {
			return nil, err
		}
		replace[filepath.Join(folder, "mutant_is.go")] = choose
	}
	overlay, err := writeOverlay(dir, replace)
	if err != nil {
		return nil, err
	}
	b := &together{binary: filepath.Join(dir, "tests"), folder: t.tests, args: t.args, timeout: 5 * time.Minute}
	if b.slow, err = slowtests.Pattern(t.tests); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", b.binary, "-overlay", overlay, "-vet=off", "-ldflags=-w", t.tests)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s with all its mutants does not compile: %w\n%s", t.layer, err, out)
	}
	start := time.Now()
	if out, err := b.run(ctx, "none"); err != nil {
		return nil, fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", t.layer, err, out)
	}
	took := time.Since(start)
	b.timeout = 20*time.Second + 5*took // a mutant that hangs is caught, too
	fmt.Printf("%s: %d mutants in one binary, its tests take %s\n", t.layer, number, took.Round(time.Millisecond))
	return b, nil
}

// render returns source[from:to] of the mutants' file with all of them in it. They
// are ordered by their beginning, outer before inner; file is any of them.
func render(file *mutant, from, to int, mutants []*mutant) string {
	var b strings.Builder
	at := from
	for len(mutants) > 0 {
		m := mutants[0]
		n := 1
		for n < len(mutants) && mutants[n].from < m.to {
			n++
		}
		within := mutants[1:n]
		mutants = mutants[n:]
		b.Write(file.source[at:m.from])
		b.WriteString(m.switched(fmt.Sprintf("mutantIs(%q)", fmt.Sprint(m.number)), func(from, to token.Pos) string {
			f, t := int(from-m.base), int(to-m.base)
			var part []*mutant
			for _, w := range within {
				if w.from >= f && w.to <= t {
					part = append(part, w)
				}
			}
			return render(m, f, t, part)
		}))
		at = m.to
	}
	b.Write(file.source[at:to])
	return b.String()
}

// test runs the tests on one of the mutants.
func (b *together) test(ctx context.Context, number int) fate {
	var err error
	if b.slow != "" {
		_, err = b.run(ctx, fmt.Sprint(number), "-test.skip", b.slow)
	}
	if err == nil {
		_, err = b.run(ctx, fmt.Sprint(number))
	}
	switch {
	case ctx.Err() != nil:
		return outOfOrder
	case err != nil:
		return killed
	}
	return survived
}

func (b *together) run(ctx context.Context, mutant string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.binary, append([]string{"-test.failfast", "-test.short", "-test.timeout", b.timeout.String()}, slices.Concat(b.args, args)...)...)
	cmd.Dir = b.folder
	cmd.Env = append(os.Environ(), "MUTANT="+mutant)
	return cmd.CombinedOutput()
}
