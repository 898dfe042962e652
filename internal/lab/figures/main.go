package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/figures/record"
)

func main() {
	check := flag.Bool("check", false, "write nothing, name the figures that are stale")
	rec := flag.Bool("record", false, "record the named traces anew, or all, on a real API server")
	flag.Parse()
	if err := run(*check, *rec, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(check, rec bool, names []string) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	if rec {
		log.SetLogger(logr.Discard()) // what the layers say is recorded
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		return record.Record(ctx, os.Stderr, func(name string, text []byte) error {
			file := filepath.Join("docs/traces", name+".txt")
			if err := os.WriteFile(filepath.Join(root, file), text, 0o644); err != nil {
				return err
			}
			fmt.Printf("recorded %s; `go run ./internal/lab/figures` draws it, `git checkout docs/traces docs/figures` takes it back\n", file)
			return nil
		}, names...)
	}
	files, err := drawAll(os.DirFS(root))
	if err != nil {
		return err
	}
	if !check {
		return write(root, files)
	}
	return errors.Join(stale(os.DirFS(root), files), strays(os.DirFS(root), files))
}
