// Command hunts puts a known fault into a chapter and lets the reader find it.
//
// The tree stays as it is: the fault and the reader's fix reach the compiler by
// -overlay. A fix is written in a copy of the package, or given as a patch.
//
// Each folder NN-k beside this file is the k-th hunt of chapter NN.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

const usage = `Bug hunts: a fault is put into a chapter, a test turns red, you find the cause.

  make hunt                            list the hunts
  make hunt H=05-2                     see what is wrong; writes the package with the fault to _hunt/05-2
  make hunt H=05-2 HINT=1              a hint, then HINT=2, …
  make hunt H=05-2 CHECK=1             is it mended in _hunt/05-2?
  make hunt H=05-2 CHECK=my.patch      the same for a unified diff against the package with the fault
  make hunt H=05-2 SOLUTION=1          the fault, explained

HUNT_LANG=zh or HUNT_LANG=en chooses the language; otherwise it is your locale's.
Without make: go run ./internal/lab/hunts and the flags below.

`

func main() {
	var o options
	flag.StringVar(&o.hunt, "hunt", "", "Go on this hunt, such as 05-2.")
	flag.IntVar(&o.hint, "hint", 0, "Give the hint of this number.")
	flag.StringVar(&o.check, "check", "", "Check a fix: a patch, a folder, or 1 for the hunt's own folder.")
	flag.BoolVar(&o.solution, "solution", false, "Tell the fault and its fix.")
	flag.BoolVar(&o.verify, "verify", false, "Hold that every fault is caught and every solution passes; with -hunt only one.")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx, os.Stdout, languageOf(os.Getenv)); err != nil {
		fmt.Fprintln(os.Stderr, "hunt:", err)
		os.Exit(1)
	}
}
