package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// files are files in a state of our own, by their path from the project's root;
// nil is a file that is not there.
type files map[string][]byte

// read returns a file of the state, or else of the tree.
func (f files) read(name string) ([]byte, error) {
	content, ok := f[name]
	switch {
	case !ok:
		return os.ReadFile(filepath.FromSlash(name))
	case content == nil:
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}
	return content, nil
}

var errEmptyPatch = errors.New("the patch changes nothing: give a unified diff, as `diff -u` or `git diff` write it")

// apply returns base with the changes of a unified diff to files of one package.
func apply(patch []byte, pkg string, base files) (files, error) {
	changes, _, err := gitdiff.Parse(bytes.NewReader(patch))
	if err != nil {
		return nil, fmt.Errorf("not a unified diff that can be read: %w", err)
	}
	changed := files{}
	maps.Copy(changed, base)
	some := false
	for _, c := range changes {
		if c.IsBinary {
			return nil, errors.New("a binary patch can't be used: give a unified diff of Go files")
		}
		if len(c.TextFragments) == 0 {
			continue
		}
		some = true
		name, err := nameIn(pkg, c)
		if err != nil {
			return nil, err
		}
		if err := allowed(name); err != nil {
			return nil, err
		}
		if changed[name], err = change(name, c, base); err != nil {
			return nil, err
		}
	}
	if !some {
		return nil, errEmptyPatch
	}
	return changed, nil
}

func change(name string, c *gitdiff.File, base files) ([]byte, error) {
	if c.IsDelete {
		return nil, nil
	}
	var old []byte
	if !c.IsNew {
		var err error
		if old, err = base.read(name); err != nil {
			return nil, fmt.Errorf("the patch changes %s, which is not there", name)
		}
	}
	if err := relocate(c.TextFragments, old); err != nil {
		return nil, fmt.Errorf("the patch does not apply to %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(old), c); err != nil {
		return nil, fmt.Errorf("the patch does not apply to %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// nameIn finds the file of the package that is meant. A diff between two folders
// has the names of the folders, so only the last part of a name counts, unless
// the whole of it is another file of the tree.
func nameIn(pkg string, c *gitdiff.File) (string, error) {
	given := c.NewName
	if given == "" || !c.IsNew && c.OldName != "" {
		given = c.OldName
	}
	given = path.Clean(filepath.ToSlash(given))
	given = strings.TrimPrefix(strings.TrimPrefix(given, "a/"), "b/")
	name := path.Join(pkg, path.Base(given))
	if _, err := os.Stat(filepath.FromSlash(given)); err == nil && strings.HasPrefix(given, "chapters/") && given != name {
		return "", fmt.Errorf("the patch changes %s, but the fault is in %s", given, pkg)
	}
	return name, nil
}

// allowed refuses what can't be part of a fix.
func allowed(name string) error {
	switch {
	case strings.HasSuffix(name, "_test.go"):
		return fmt.Errorf("%s is a test: mend the package and leave the tests as they are", path.Base(name))
	case path.Ext(name) != ".go":
		return fmt.Errorf("%s is not a Go file", path.Base(name))
	}
	return nil
}

// relocate moves each fragment to where its old lines are now, so that a change
// elsewhere in the file does not make the patch unusable.
func relocate(fragments []*gitdiff.TextFragment, content []byte) error {
	lines := strings.SplitAfter(string(content), "\n")
	next, added := 0, int64(0)
	for _, f := range fragments {
		var old []string
		for _, l := range f.Lines {
			if l.Op != gitdiff.OpAdd {
				old = append(old, l.Line)
			}
		}
		if len(old) == 0 { // a new file
			continue
		}
		at := find(lines, old, next, int(f.OldPosition)-1)
		if at < 0 {
			return fmt.Errorf("the lines of %q are nowhere in it; was the patch made against another state?", f.Header())
		}
		next = at + len(old)
		f.OldPosition = int64(at) + 1
		f.NewPosition = f.OldPosition + added
		added += f.NewLines - f.OldLines
	}
	return nil
}

// find returns where want is in lines, from first on and nearest to guess, or -1.
func find(lines, want []string, first, guess int) int {
	best := -1
	for at := first; at+len(want) <= len(lines); at++ {
		if slices.Equal(lines[at:at+len(want)], want) && (best < 0 || abs(at-guess) < abs(best-guess)) {
			best = at
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

func equal(a, b files) bool { return maps.EqualFunc(a, b, bytes.Equal) }
