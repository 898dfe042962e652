package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	folder = "docs/figures"
	traces = "docs/traces"
)

// chapters have a map each.
var chapters = []string{"01", "02", "03", "04", "05", "06", "full"}

// drawAll makes every figure of the repository: content by path.
func drawAll(root fs.FS) (map[string]string, error) {
	sources, err := fs.Glob(root, folder+"/*.txt")
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	var errs []error
	for _, source := range sources {
		if err := drawOne(root, source, files); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", source, err))
		}
	}
	return files, errors.Join(errs...)
}

func drawOne(root fs.FS, source string, files map[string]string) error {
	text, err := fs.ReadFile(root, source)
	if err != nil {
		return err
	}
	f, err := parse(string(text))
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(path.Base(source), ".txt")
	for _, l := range langs {
		if f.trace != nil {
			recording, err := fs.ReadFile(root, path.Join(traces, f.trace.name+".txt"))
			if err != nil {
				return err
			}
			recorded, err := rows(string(recording), f.trace.skip, f.trace.until)
			if err != nil {
				return fmt.Errorf("%s: %w", f.trace.name, err)
			}
			if files[path.Join(folder, name+l.suffix())], err = f.trace.draw(f.title, f.desc, recorded, l); err != nil {
				return err
			}
			continue
		}
		if files[path.Join(folder, name+l.suffix())], err = f.draw(l, 0); err != nil {
			return err
		}
		if name != "map" {
			continue
		}
		for i, chapter := range chapters {
			if files[path.Join(folder, chapter+"-map"+l.suffix())], err = f.draw(l, i+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(root string, files map[string]string) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// chaptersFigure is the name of one that is made here. Others in the folder are
// made elsewhere, such as the plots of the benchmarks.
var chaptersFigure = regexp.MustCompile(`/(map|(0[1-6]|full)-[a-z]+)(\.zh)?\.svg$`)

// strays names the figures that no text makes.
func strays(root fs.FS, files map[string]string) error {
	old, err := fs.Glob(root, folder+"/*.svg")
	errs := []error{err}
	for _, name := range old {
		if _, made := files[name]; !made && chaptersFigure.MatchString(name) {
			errs = append(errs, fmt.Errorf("%s is made of no text: remove it, or bring its text back", name))
		}
	}
	return errors.Join(errs...)
}

// stale names the figures that are not what their text makes.
func stale(root fs.FS, files map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if content, err := fs.ReadFile(root, name); err != nil || !bytes.Equal(content, []byte(files[name])) {
			errs = append(errs, fmt.Errorf("%s is stale: run make docs and commit it", name))
		}
	}
	return errors.Join(errs...)
}

// findRoot is the folder of go.mod, here or above.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod here or above: run it inside the repository")
		}
		dir = parent
	}
}
