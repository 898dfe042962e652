package gosource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream/gosource"
)

const example = `package example

// Limit has a doc.
const Limit = 3

const (
	A = iota
	B
)

type Queue[T any] struct {
	// items are waiting
	items []T // oldest first
	sync.Mutex
	*Base[T]
}

type Store interface {
	Add(obj any) error
	Reader
}

// Pop waits.
func (q *Queue[T]) Pop() T {
	for len(q.items) == 0 {
		q.wait()
	}
	switch {
	case Limit > 2:
		// comment
		return q.items[0]
	default:
		return q.items[1]
	}
}

func helper() {}
`

// open makes a folder of files, given by name and text.
func open(t *testing.T, files map[string]string) *gosource.Package {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p, err := gosource.Open(dir)
	require.NoError(t, err)
	return p
}

// Every kind of declaration is found, without its doc comment.
func TestFind(t *testing.T) {
	p := open(t, map[string]string{"example.go": example, "example_test.go": "package example\nfunc helper() {}"})
	for symbol, first := range map[string]string{
		"Limit":       "const Limit = 3",
		"B":           "\tB",
		"Queue":       "type Queue[T any] struct {",
		"Queue.items": "\titems []T // oldest first",
		"Queue.Mutex": "\tsync.Mutex",
		"Queue.Base":  "\t*Base[T]",
		"Store.Add":   "\tAdd(obj any) error",
		"Queue.Pop":   "func (q *Queue[T]) Pop() T {",
		"helper":      "func helper() {}",
	} {
		d, err := p.Find(symbol, "")
		if assert.NoError(t, err, symbol) {
			assert.Equal(t, first, strings.Split(example, "\n")[d.Line-1], symbol)
		}
	}
	queue, err := p.Find("Queue", "")
	require.NoError(t, err)
	assert.Equal(t, 5, queue.End-queue.Line)
}

// A clause or a statement inside a declaration can be pointed at.
func TestAt(t *testing.T) {
	p := open(t, map[string]string{"example.go": example})
	pop, err := p.Find("Queue.Pop", "")
	require.NoError(t, err)
	for pattern, lines := range map[string]int{`for len`: 3, `case Limit`: 3, `return q.items\[1\]`: 1, `switch`: 7} {
		d, err := pop.At(pattern)
		if assert.NoError(t, err, pattern) {
			assert.Equal(t, lines, d.End-d.Line+1, pattern)
			assert.Regexp(t, pattern, strings.Split(example, "\n")[d.Line-1])
		}
	}
	_, err = pop.At("comment")
	assert.EqualError(t, err, "no statement begins on a line that matches /comment/")
}

// What is wrong with a name is said, with what may have been meant.
func TestFindErrors(t *testing.T) {
	p := open(t, map[string]string{"a.go": "package a\nfunc twice() {}\nfunc once() {}", "b.go": "package a\nfunc twice() {}"})
	for name, c := range map[string]struct{ symbol, file, want string }{
		"unknown":    {"onse", "", "no symbol onse; nearest: once, twice"},
		"ambiguous":  {"twice", "", "twice is declared in a.go and b.go: name the file, as in folder/a.go#twice"},
		"wrong file": {"once", "b.go", "once is not in b.go but in a.go"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.Find(c.symbol, c.file)
			assert.EqualError(t, err, c.want)
		})
	}
	d, err := p.Find("twice", "b.go")
	require.NoError(t, err)
	assert.Equal(t, "b.go", d.File)
	_, err = gosource.Open(t.TempDir())
	assert.ErrorContains(t, err, "no Go declarations in")
}

// The hash tells code that changed from code that was only laid out or commented otherwise.
func TestHash(t *testing.T) {
	hash := func(text string) string {
		d, err := open(t, map[string]string{"a.go": "package a\n" + text}).Find("f", "")
		require.NoError(t, err)
		return d.Hash()
	}
	want := hash("func f() { g(1); h() }")
	assert.Len(t, want, 8)
	assert.Equal(t, want, hash("// doc\nfunc f() {\n\t// first\n\tg(1)\n\n\th() // then\n}"))
	assert.NotEqual(t, want, hash("func f() { g(2); h() }"))
	assert.NotEqual(t, want, hash("func f() { g(1) }"))
}
