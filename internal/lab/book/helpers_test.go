package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
)

// small is a repository with just enough for the rules to look at. `”'` stands
// for a fence, so that pages can be raw strings.
func small(files map[string]string) fstest.MapFS {
	repository := fstest.MapFS{}
	for name, text := range map[string]string{
		"go.mod":      "module m\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/client-go v0.37.2\n\tsigs.k8s.io/controller-runtime v0.25.2\n)\n",
		"Makefile":    "help: ## list\ntest: ## run\n",
		"q/q.go":      queueGo,
		"q/q_test.go": "package q\n\nfunc TestPop(t *testing.T) {}\n\nfunc BenchmarkPop(b *testing.B) {}\n",
		"docs/runs.yaml": `pop: {command: "go test ./q -run TestPop", timeout: 1m}
`,
		"docs/runs/pop.txt": "first\nok  \tq\t0.012s\nlast\n",
	} {
		repository[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range files {
		repository[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "'''", "```"))}
	}
	return repository
}

const queueGo = `package q

// Queue hands out items.
type Queue[T any] struct {
	items []T
}

// Pop waits.
func (q *Queue[T]) Pop() T {
	for len(q.items) == 0 {
		// wait
		wait()
	}
	return q.items[0]
}

const (
	// few is not many.
	few = 1
	many = 2
)

var none = 0
`

func smallWorld() world {
	return world{
		resolve: func(ref string) (upstream.Symbol, error) {
			if strings.Contains(ref, "Gone") {
				return upstream.Symbol{}, fmt.Errorf("no symbol %s", ref)
			}
			return upstream.Symbol{URL: "https://github.com/x/y/blob/v1/z.go#L1-L2", Hash: "1"}, nil
		},
		changed: func(u upstream.Use) []error {
			if strings.Contains(u.Ref, "Changed") {
				return []error{fmt.Errorf("%s: %s has changed", u.Where, u.Ref)}
			}
			return nil
		},
		seedTable: func(chapter, lang string) (string, error) { return "| " + chapter + " | " + lang + " |\n", nil },
		benchTable: func(filter, lang string) (string, error) {
			if filter != "layer=04" {
				return "", fmt.Errorf("no rows for %s", filter)
			}
			return "| bench |\n", nil
		},
		mistakes: []string{"M01", "L01"},
	}
}

// openSmall makes a book of the pages and writes nothing.
func openSmall(t *testing.T, files map[string]string) *book {
	t.Helper()
	b, err := open(small(files), smallWorld())
	require.NoError(t, err)
	b.complete = false
	return b
}

// written is the page as -write leaves it.
func written(t *testing.T, files map[string]string, path string) string {
	t.Helper()
	b := openSmall(t, files)
	p := b.page(path)
	require.NotNil(t, p)
	edits, problems := b.edits(p)
	require.Empty(t, problems)
	return strings.ReplaceAll(p.write(edits).text(), "```", "'''")
}
