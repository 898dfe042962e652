package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	count := flag.Int("count", 6, "How many rounds; fewer than 6 have no interval.")
	only := flag.String("only", "", "Measure only rows that match this regular expression, and write no document.")
	flag.Parse()
	log.SetLogger(logr.Discard()) // or controller-runtime complains, in the middle of the progress
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench(ctx, *count, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, count int, only string) error {
	chosen, err := choose(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no row matches %q; the rows are in internal/lab/bench/rows.go", only)
	}
	start := time.Now()
	m := describeMachine(ctx)
	fmt.Fprintln(os.Stderr, m)
	b, err := build(ctx)
	if err != nil {
		return err
	}
	defer b.remove()

	results, err := b.measureAll(ctx, chosen, count)
	if err != nil {
		return err
	}
	lines, err := compare(ctx, chosen, results)
	if err != nil {
		return err
	}
	fmt.Println(consoleTable(lines))
	if only == "" {
		points, err := b.scale(ctx)
		if err != nil {
			return err
		}
		m.Minutes = time.Since(start).Minutes()
		if err := writeDocuments(m, lines, points); err != nil {
			return err
		}
	}
	return judge(lines)
}

// judge names the lines that did not pass the gate.
func judge(lines []line) error {
	var missed []string
	for _, l := range lines {
		if why := l.gate(); why != "" {
			missed = append(missed, fmt.Sprintf("%s (%s): %s", l.What, l.Impl, why))
		}
	}
	if len(missed) == 0 {
		return nil
	}
	return errors.New("the gate was missed by\n  " + strings.Join(missed, "\n  "))
}
