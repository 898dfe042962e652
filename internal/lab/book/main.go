// Command book keeps the texts true: it fills in what can be taken from the
// sources, and says where a text and the sources disagree.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/seedmap"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("book", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	write := flags.Bool("write", false, "")
	record := flags.Bool("record", false, "")
	compare := flags.Bool("check", false, "")
	stamps := flags.Bool("stamp", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := toRoot(); err != nil {
		return err
	}
	b, err := openHere()
	if err != nil {
		return err
	}
	switch {
	case *stamps:
		return b.stampFiles(flags.Args())
	case *record:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		return b.record(ctx, flags.Args(), *compare)
	case *write:
		if err := b.writeFiles(flags.Args()); err != nil {
			return err
		}
		if b, err = openHere(); err != nil { // the lock may be another
			return err
		}
	}
	count := 0
	for _, p := range b.check() {
		if flags.NArg() == 0 || slices.Contains(flags.Args(), p.file) {
			fmt.Println(p)
			count++
		}
	}
	if count > 0 {
		return fmt.Errorf("%d errors", count)
	}
	return nil
}

// openHere opens the book of the repository whose root we are in.
func openHere() (*book, error) {
	files := os.DirFS(".")
	world, err := theWorld(files)
	if err != nil {
		return nil, err
	}
	return open(files, world)
}

// toRoot changes to the root of the repository.
func toRoot() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return os.Chdir(dir)
		}
	}
	return errors.New("no go.mod above the working directory: call book from within the repository")
}

// writeFiles fills in all pages, or those named.
func (b *book) writeFiles(only []string) error {
	for i, p := range b.pages {
		if len(only) > 0 && !slices.Contains(only, p.path) {
			continue
		}
		edits, _ := b.edits(p) // check tells the problems
		now := p.write(edits)
		if err := replaceFile(p, now); err != nil {
			return err
		}
		b.pages[i] = now
	}
	return b.writeLock()
}

// writeLock keeps the hash of each upstream symbol that is new to the texts. One
// that is there already stays until somebody has looked at the sentences.
func (b *book) writeLock() error {
	lock, err := upstream.LoadLock(lockFile)
	if err != nil {
		return err
	}
	var uses []upstream.Use
	for _, u := range b.uses() {
		uses = append(uses, u.Use)
	}
	_ = lock.Add(uses) // check tells what can't be found
	article, err := seedmap.Load()
	if err != nil {
		return err
	}
	lock.Prune(append(uses, article.Uses()...))
	return lock.Save(lockFile)
}

func (b *book) stampFiles(names []string) error {
	if len(names) == 0 {
		return errors.New("-stamp: name the pages whose English is now in line with the Chinese, as in chapters/01-informermap/README.md or …/README.md#map")
	}
	for _, name := range names {
		path, section, _ := strings.Cut(filepath.ToSlash(name), "#")
		path = englishOf(path)
		zh, en := b.page(chineseOf(path)), b.page(path)
		if zh == nil || en == nil {
			return fmt.Errorf("-stamp %s: %s and %s must both be there, each with a line <!-- book --> at its top", name, chineseOf(path), path)
		}
		if err := replaceFile(en, stamp(zh, en, section)); err != nil {
			return err
		}
	}
	return nil
}

func replaceFile(old, now *page) error {
	if old.text() == now.text() {
		return nil
	}
	if text, err := os.ReadFile(old.path); err != nil || string(text) != old.source {
		return fmt.Errorf("%s has been edited just now: call again", old.path)
	}
	return os.WriteFile(now.path, []byte(now.text()), 0o644)
}
