package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// Lock remembers, by ref, the hash of the source that a row or a sentence was
// written from. Compare complains when the source has changed since; somebody
// then has to look at what was written, and to take the line out so that Add records it anew.
type Lock map[string]string

// Use is one place that leans on a symbol.
type Use struct {
	Ref   string
	Where string // for people: docs/seed-map.yaml row S146, chapters/04-…/README.md:210
}

// LoadLock reads a lock file; one that is not there is empty.
func LoadLock(file string) (Lock, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{}, nil
	} else if err != nil {
		return nil, err
	}
	lock := Lock{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			hash, ref, ok := strings.Cut(line, " ")
			if !ok {
				return nil, fmt.Errorf("%s:%d: %q is not a hash and a ref", file, n, line)
			}
			lock[ref] = hash
		}
	}
	return lock, lines.Err()
}

// Save writes the lock, one ref a line, sorted.
func (l Lock) Save(file string) error {
	var b strings.Builder
	b.WriteString("# What the texts were written from: the hash of each upstream declaration that they lean on.\n")
	for _, ref := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintln(&b, l[ref], ref)
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// Compare has one error for each use whose symbol is gone, unknown to the lock or changed.
func (l Lock) Compare(uses []Use) (faults []error) {
	for _, u := range uses {
		symbol, err := Resolve(u.Ref)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("%s: %w", u.Where, err))
		case l[u.Ref] == "":
			faults = append(faults, fmt.Errorf("%s: %s is not in docs/upstream.lock: run make docs", u.Where, u.Ref))
		case l[u.Ref] != symbol.Hash:
			faults = append(faults, fmt.Errorf("%s: %s has changed since this was written: read %s, mend what is no longer true, then take its line (%s) out of docs/upstream.lock and run make docs", u.Where, u.Ref, symbol.URL, l[u.Ref]))
		}
	}
	return faults
}

// Add records the refs that the lock does not know yet. Those that have changed stay as they are.
func (l Lock) Add(uses []Use) error {
	var faults []error
	for _, u := range uses {
		if l[u.Ref] != "" {
			continue
		}
		symbol, err := Resolve(u.Ref)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", u.Where, err))
			continue
		}
		l[u.Ref] = symbol.Hash
	}
	return errors.Join(faults...)
}

// Prune forgets the refs that nothing uses.
func (l Lock) Prune(uses []Use) {
	used := map[string]bool{}
	for _, u := range uses {
		used[u.Ref] = true
	}
	maps.DeleteFunc(l, func(ref, _ string) bool { return !used[ref] })
}
