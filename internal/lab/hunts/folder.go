package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// sources lists the files of a package without its tests.
func sources(pkg string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if !strings.HasSuffix(name, "_test.go") {
			names = append(names, filepath.Base(name))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there are no Go files in %s", pkg)
	}
	return names, nil
}

// unpack writes the package with the fault to the hunt's folder, and says false
// if the folder is there already: what the reader wrote is not overwritten.
func (h *hunt) unpack() (bool, error) {
	dir := filepath.FromSlash(h.folder())
	if _, err := os.Stat(dir); err == nil {
		return false, nil
	}
	faulty, err := h.faulty()
	if err != nil {
		return false, err
	}
	names, err := sources(h.Package)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	// Git shall not see the folder.
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return false, err
	}
	for _, name := range names {
		content, err := faulty.read(path.Join(h.Package, name))
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return false, err
		}
	}
	return true, nil
}

// fromFolder returns how a folder's files differ from the package in the tree.
func (h *hunt) fromFolder(dir string) (files, error) {
	mine, err := sources(dir)
	if err != nil {
		return nil, err
	}
	theirs, err := sources(h.Package)
	if err != nil {
		return nil, err
	}
	if tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go")); len(tests) > 0 {
		return nil, allowed(filepath.ToSlash(tests[0]))
	}
	changed := files{}
	for _, name := range theirs {
		changed[path.Join(h.Package, name)] = nil
	}
	for _, name := range mine {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		in := path.Join(h.Package, name)
		if original, err := (files)(nil).read(in); err == nil && bytes.Equal(original, content) {
			delete(changed, in)
			continue
		}
		changed[in] = content
	}
	return changed, nil
}
