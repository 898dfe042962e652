package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// record runs the commands of docs/runs.yaml, all or those named, and keeps what
// they print. With compare it keeps nothing and says where a page shows other
// lines than this run has.
func (b *book) record(ctx context.Context, names []string, compare bool) error {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(b.runs))
	}
	var wrong []error
	for _, name := range names {
		run, ok := b.runs[name]
		if !ok {
			return fmt.Errorf("%s has no run %s; it has %s", runsFile, name, strings.Join(slices.Sorted(maps.Keys(b.runs)), ", "))
		}
		fmt.Printf("%s: %s\n", name, run.Command)
		output, err := execute(ctx, run)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("%s: %w; the output ends with\n%s", name, err, tail(output, 20)))
		case compare:
			wrong = append(wrong, b.compare(name, output)...)
		default:
			if err := os.MkdirAll(runsFolder, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(recordingOf(name), []byte(output), 0o644); err != nil {
				return err
			}
		}
	}
	return errors.Join(wrong...)
}

// execute runs the command in the root of the repository, which is where we are.
func execute(ctx context.Context, run aRun) (string, error) {
	limit, err := run.timeout()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", run.Command)
	// A result out of go test's cache would show no run at all.
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -count=1"))
	// The shell's children have to end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		return "", err
	}
	text := tidy(output.String())
	if ctx.Err() == context.DeadlineExceeded {
		return text, fmt.Errorf("not done after %v (timeout in %s)", limit, runsFile)
	}
	if code := cmd.ProcessState.ExitCode(); code != run.Exit {
		return text, fmt.Errorf("exit %d, %s wants %d", code, runsFile, run.Exit)
	}
	return text, nil
}

// tidy takes out what belongs to this machine and not to the run.
func tidy(output string) string {
	root, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	var lines []string
	for _, line := range strings.Split(strings.TrimRight(output, "\n"), "\n") {
		if strings.HasPrefix(line, "go: downloading ") {
			continue
		}
		line = strings.ReplaceAll(strings.ReplaceAll(line, root+"/", ""), root, ".")
		if len(home) > 1 {
			line = strings.ReplaceAll(line, home+"/", "~/")
		}
		lines = append(lines, strings.TrimRight(line, " \t\r"))
	}
	return strings.Join(lines, "\n") + "\n"
}

// compare says which lines that pages show are not in this output.
func (b *book) compare(name, output string) (wrong []error) {
	for _, p := range b.pages {
		for _, f := range p.fences {
			if f.from.name != "run" || f.from.argument != name {
				continue
			}
			if _, line, err := show(p.lines[f.open+1:f.close], b.runs[name].Command, linesOf(output)); err != nil {
				wrong = append(wrong, errors.New(p.problem(f.open+1+line, "%s ran anew: %v: %q; the output now:\n%s", name, err, p.lines[f.open+1+line], output).String()))
			}
		}
	}
	return wrong
}

func tail(text string, n int) string {
	lines := linesOf(text)
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
