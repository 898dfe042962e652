package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"
)

// readReasons reads why a survivor may live. A file that is not there holds none.
func readReasons(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	why := map[string]string{}
	for n, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("%s:%d: want a mutant, a tab and a reason", file, n+1)
		}
		why[key] = reason
	}
	return why, nil
}

// report prints the figures by layer and the survivors.
func report(all []*mutant, why map[string]string, file string, least float64, took time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Mutants\n\nMade by `make mutants`. One statement at a time is left out or turned round, and the tests of its layer are run. Logging is left alone; what does not compile does not count. It took %s on %d processors (%s/%s, %s).\n\n",
		took.Round(time.Minute), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Fprintf(&b, "| layer | mutants | caught | survived | caught, %% |\n|---|---|---|---|---|\n")
	var killedAll, survivedAll int
	var survivors []*mutant
	for i := range targets {
		var k, s int
		for _, m := range all {
			if m.target != &targets[i] {
				continue
			}
			switch m.fate {
			case killed:
				k++
			case survived:
				s++
				survivors = append(survivors, m)
			}
		}
		if k+s > 0 {
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %.0f |\n", targets[i].layer, k+s, k, s, percent(k, s))
		}
		killedAll, survivedAll = killedAll+k, survivedAll+s
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %.1f |\n\n", killedAll+survivedAll, killedAll, survivedAll, percent(killedAll, survivedAll))
	fmt.Fprintf(&b, "## Survivors\n\n| mutant | why it may live |\n|---|---|\n")
	for _, m := range survivors {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(m.key(), "|", `\|`), why[m.key()])
	}
	fmt.Print("\n", b.String(), "\ntook ", took.Round(time.Second), "\n")
	if file != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	if got := percent(killedAll, survivedAll); got < least {
		return fmt.Errorf("%.1f %% of the mutants were caught, fewer than %.0f %%", got, least)
	}
	return nil
}

func percent(killed, survived int) float64 {
	if killed+survived == 0 {
		return 0
	}
	return 100 * float64(killed) / float64(killed+survived)
}
