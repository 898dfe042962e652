package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"time"
)

// verdict is how a hunt fared.
type verdict struct {
	caught, mended time.Duration // how long the tests took
	err            error
}

// verifyAll holds that each fault turns its test red and that the solution turns
// it green, two hunts at a time.
func verifyAll(ctx context.Context, w io.Writer, hunts []*hunt) error {
	start := time.Now()
	verdicts := make([]verdict, len(hunts))
	var mu sync.Mutex // guards w
	var workers sync.WaitGroup
	next := make(chan int)
	for range 2 {
		workers.Go(func() {
			for i := range next {
				verdicts[i] = hunts[i].verify(ctx)
				mu.Lock()
				fmt.Fprintln(w, verdicts[i].line(hunts[i]))
				mu.Unlock()
			}
		})
	}
	for i := range hunts {
		next <- i
	}
	close(next)
	workers.Wait()

	fmt.Fprint(w, "\n| hunt | test | caught in | mended in |\n|---|---|---:|---:|\n")
	var errs []error
	for i, h := range hunts {
		v := verdicts[i]
		if v.err != nil {
			errs = append(errs, fmt.Errorf("hunt %s: %w", h.id, v.err))
			continue
		}
		fmt.Fprintf(w, "| %s | `%s` | %.1f s | %.1f s |\n", h.id, h.Test, v.caught.Seconds(), v.mended.Seconds())
	}
	fmt.Fprintf(w, "\n%d of %d hunts are as they should be, in %s\n", len(hunts)-len(errs), len(hunts), time.Since(start).Round(time.Second))
	return errors.Join(errs...)
}

func (v verdict) line(h *hunt) string {
	if v.err != nil {
		return fmt.Sprintf("%s  FAILED  %v", h.id, v.err)
	}
	return fmt.Sprintf("%s  ok      %s", h.id, h.Title.EN)
}

func (h *hunt) verify(ctx context.Context) (v verdict) {
	faulty, err := h.faulty()
	if err != nil {
		return verdict{err: err}
	}
	fixed, err := apply(h.solution, h.Package, faulty)
	if err != nil {
		return verdict{err: fmt.Errorf("solution.patch: %w", err)}
	}
	start := time.Now()
	o := goTest(ctx, io.Discard, faulty, h.Package, "-run", h.Test)
	v.caught = time.Since(start)
	if v.err = h.caughtBy(o); v.err != nil {
		return v
	}
	start = time.Now()
	o = goTest(ctx, io.Discard, fixed, h.Package, "-run", h.Test)
	v.mended = time.Since(start)
	if !o.passed() {
		v.err = fmt.Errorf("the solution does not mend it: %w\n%s", errors.Join(o.err, fmt.Errorf("failed: %q", o.failed)), o.output)
	}
	return v
}

// caughtBy says what is wrong if the fault is not found by a failure of its test.
func (h *hunt) caughtBy(o outcome) error {
	test, err := regexp.Compile(h.Test)
	if err != nil {
		return err
	}
	switch {
	case o.err != nil:
		return fmt.Errorf("with the fault: %w\n%s", o.err, o.output)
	case o.passed():
		return fmt.Errorf("no test matching %q notices the fault", h.Test)
	case !slices.ContainsFunc(o.failed, test.MatchString):
		return fmt.Errorf("with the fault %q failed, and nothing that matches %q", o.failed, h.Test)
	}
	return nil
}
