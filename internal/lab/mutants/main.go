// Command mutants asks whether the tests of the layers bite. It changes one
// statement at a time, a call left out, a condition turned round, and runs the
// tests that guard it; a mutant that no test notices has survived.
//
// The tree stays as it is: a mutant reaches the compiler by -overlay.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

func main() {
	only := flag.String("only", "", "Mutate only files that match this regular expression.")
	write := flag.String("write", "", "Write the table to this file.")
	reasons := flag.String("reasons", "internal/lab/mutants/reasons.txt", "Why survivors may live: lines of `mutant<TAB>reason`.")
	workers := flag.Int("workers", 6, "How many mutants are tested at once; those that hang only wait.")
	least := flag.Float64("least", 85, "Exit 1 if less than this many percent are caught.")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only, *write, *reasons, *workers, *least); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only, write, reasonsFile string, workers int, least float64) error {
	filter, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	why, err := readReasons(reasonsFile)
	if err != nil {
		return err
	}
	all, err := findAll(filter)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("no file matches %q; the targets are in internal/lab/mutants/targets.go", only)
	}

	start := time.Now()
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for i := range targets {
		t := &targets[i]
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		if t.together, err = buildTogether(ctx, t, all, folder); err != nil {
			return err
		}
	}
	jobs := make(chan *mutant)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range workers {
		wg.Go(func() {
			for m := range jobs {
				m.test(ctx)
				mu.Lock()
				done++
				fmt.Printf("%4d/%d  %-10s %s\n", done, len(all), m.fate, m)
				mu.Unlock()
			}
		})
	}
	for _, m := range all {
		if ctx.Err() != nil {
			break
		}
		jobs <- m
	}
	close(jobs)
	wg.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %d of %d mutants", done, len(all))
	}
	return report(all, why, write, least, time.Since(start))
}
