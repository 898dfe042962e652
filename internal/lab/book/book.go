package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// book is all pages that are in the format, with the repository they talk about.
type book struct {
	files    fs.FS // the repository
	pages    []*page
	world    world
	runs     map[string]aRun
	tests    map[string][]string // by folder
	versions map[string][]string // which a text may name
	complete bool                // nothing may be left out
}

// problem is what a rule says to the writer.
type problem struct {
	file string
	line int // from 0
	text string
}

func (p problem) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line+1, p.text) }

func (p *page) problem(line int, format string, args ...any) problem {
	return problem{p.path, line, fmt.Sprintf(format, args...)}
}

// candidates are where pages may be.
var candidates = []string{"*.md", "chapters/*/*.md", "full/*.md", "docs/*.md"}

func open(files fs.FS, world world) (*book, error) {
	b := &book{files: files, world: world, complete: mustBeBooks}
	var err error
	if b.runs, err = readRuns(files); err != nil {
		return nil, err
	}
	if b.tests, err = testFuncs(files); err != nil {
		return nil, err
	}
	if b.versions, err = versions(files); err != nil {
		return nil, err
	}
	for _, pattern := range candidates {
		paths, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := fs.ReadFile(files, path)
			if err != nil {
				return nil, err
			}
			if p := newPage(path, string(text)); p.isBook() {
				b.pages = append(b.pages, p)
			}
		}
	}
	return b, nil
}

// page finds a page by its path; nil if it isn't in the format.
func (b *book) page(path string) *page {
	for _, p := range b.pages {
		if p.path == path {
			return p
		}
	}
	return nil
}

// pairs calls f for each page that there is in both languages.
func (b *book) pairs(f func(zh, en *page)) {
	for _, zh := range b.pages {
		if !zh.chinese {
			continue
		}
		if en := b.page(englishOf(zh.path)); en != nil {
			f(zh, en)
		}
	}
}

func (b *book) exists(name string) bool {
	_, err := fs.Stat(b.files, path.Clean(name))
	return err == nil
}

func sorted(problems []problem) []problem {
	slices.SortStableFunc(problems, func(a, b problem) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return problems
}
