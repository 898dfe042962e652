package main

import (
	"bytes"
	"context"
	"encoding/json"
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
}

// test runs the tests on the mutant, until one fails.
func (m *mutant) test(ctx context.Context) {
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
	for _, pkg := range m.target.tests {
		args := append([]string{"test", "-overlay", overlay, "-vet=off", "-ldflags=-w", "-failfast", "-short", "-timeout", "90s", pkg}, m.target.args...)
		out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
		switch {
		case ctx.Err() != nil:
			return
		case bytes.Contains(out, []byte("[build failed]")), bytes.Contains(out, []byte("[setup failed]")):
			m.fate = notGo
			return
		case err != nil:
			m.fate = killed
			return
		}
	}
	m.fate = survived
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
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	spec, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, spec, 0o600)
}
