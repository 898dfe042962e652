package main

import (
	"bytes"
	"context"
	"encoding/json"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
)

// fate is what became of a mutant.
type fate string

const (
	killed     fate = "killed"
	survived   fate = "SURVIVED"
	notGo      fate = "not Go" // it does not compile, so it says nothing
	outOfOrder fate = "unknown"
)

// mutant is one change of one statement.
type mutant struct {
	target   *target
	file     string
	source   []byte
	line     int
	function string
	what     string // what is done to it
	old      string // the source that is replaced
	from, to int    // its offsets
	with     string
	fate     fate

	// switched is the same change as an expression or statement that chooses at
	// run time, so that one test binary holds many mutants; nil if there is none.
	switched func(is string, inside inside) string
	base     token.Pos // of the file: what positions count from
	pkg      string    // the file's package clause
	number   int       // what $MUTANT names it by; 0: it needs a binary of its own
}

// test runs the tests on the mutant, until one fails.
func (m *mutant) test(ctx context.Context) {
	if m.number > 0 {
		m.fate = m.target.together.test(ctx, m.number)
		return
	}
	m.testAlone(ctx)
}

// testAlone builds a test binary for this mutant.
func (m *mutant) testAlone(ctx context.Context) {
	m.fate = outOfOrder
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return
	}
	args := append([]string{"test", "-overlay", overlay, "-vet=off", "-ldflags=-w", "-failfast", "-short", "-timeout", "90s", m.target.tests}, m.target.args...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	switch {
	case ctx.Err() != nil:
	case bytes.Contains(out, []byte("[build failed]")), bytes.Contains(out, []byte("[setup failed]")):
		m.fate = notGo
	case err != nil:
		m.fate = killed
	default:
		m.fate = survived
	}
}

// overlay writes the mutant and the file that tells the compiler to take it.
func (m *mutant) overlay(dir string) (string, error) {
	changed := filepath.Join(dir, filepath.Base(m.file))
	text := append([]byte{}, m.source[:m.from]...)
	text = append(text, m.with...)
	text = append(text, m.source[m.to:]...)
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return "", err
	}
	return writeOverlay(dir, map[string]string{m.file: changed})
}

// writeOverlay writes the file that tells the compiler what to read instead.
func writeOverlay(dir string, replace map[string]string) (string, error) {
	absolute := map[string]string{}
	for file, by := range replace {
		original, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		absolute[original] = by
	}
	spec, err := json.Marshal(map[string]map[string]string{"Replace": absolute})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, spec, 0o600)
}
