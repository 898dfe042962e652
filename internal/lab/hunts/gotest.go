package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// outcome is what go test had to say.
type outcome struct {
	output string
	failed []string // tests
	err    error    // the tests could not be run to their end
}

func (o outcome) passed() bool { return o.err == nil && len(o.failed) == 0 }

// goTest tests the package with the files in the place of the tree's. What go
// test writes goes to w, too, but for logged stacks.
func goTest(ctx context.Context, w io.Writer, changed files, pkg string, args ...string) outcome {
	dir, err := os.MkdirTemp("", "hunt-")
	if err != nil {
		return outcome{err: err}
	}
	defer os.RemoveAll(dir)
	overlay, err := changed.overlay(dir)
	if err != nil {
		return outcome{err: err}
	}
	// Short, because a hunt is about one fault; no vet, because a fault may look
	// odd to it; no debug information, because then the linker is faster.
	all := append([]string{"test", "-overlay", overlay, "-short", "-vet=off", "-ldflags=-w", "-count=1", "-timeout=90s", "./" + pkg}, args...)
	cmd := exec.CommandContext(ctx, "go", all...)
	var out bytes.Buffer
	shown := &withoutStacks{to: w}
	cmd.Stdout = io.MultiWriter(&out, shown)
	cmd.Stderr = cmd.Stdout
	err = cmd.Run()
	shown.end()
	if ctx.Err() != nil {
		return outcome{err: ctx.Err()}
	}
	return outcomeOf(out.String(), err)
}

var (
	failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	notRun     = regexp.MustCompile(`(?m)^(panic: test timed out after .*|testing: warning: no tests to run|.*\[(?:build|setup) failed\])$`)
)

// outcomeOf understands what go test wrote, and how it ended.
func outcomeOf(output string, err error) outcome {
	o := outcome{output: output}
	for _, m := range failedTest.FindAllStringSubmatch(output, -1) {
		o.failed = append(o.failed, m[1])
	}
	switch line := notRun.FindString(output); {
	case strings.HasSuffix(line, "[build failed]"):
		o.err = errors.New("it does not compile: what the compiler says is above")
	case line != "":
		o.err = fmt.Errorf("the tests did not come to their end: %s", strings.TrimSpace(line))
	case err != nil && len(o.failed) == 0:
		o.err = fmt.Errorf("go test failed, but no test did: %w", err)
	}
	return o
}

// overlay writes the files to dir, and the file that tells the compiler to take them.
func (f files) overlay(dir string) (string, error) {
	replace := map[string]string{}
	n := 0
	for name, content := range f {
		original, err := filepath.Abs(filepath.FromSlash(name))
		if err != nil {
			return "", err
		}
		if content == nil {
			replace[original] = ""
			continue
		}
		n++
		// A folder of its own, so that the compiler names it as it is named.
		mine := filepath.Join(dir, strconv.Itoa(n), path.Base(name))
		if err := os.Mkdir(filepath.Dir(mine), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(mine, content, 0o600); err != nil {
			return "", err
		}
		replace[original] = mine
	}
	spec, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, spec, 0o600)
}
