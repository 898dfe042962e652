package main

import (
	"encoding/xml"
	"io"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The figures that readers see are those that their texts make.
func TestFiguresAreFresh(t *testing.T) {
	root, err := findRoot()
	require.NoError(t, err)
	files, err := drawAll(os.DirFS(root))
	require.NoError(t, err)
	assert.NoError(t, stale(os.DirFS(root), files))
	assert.NoError(t, strays(os.DirFS(root), files))

	again, err := drawAll(os.DirFS(root))
	require.NoError(t, err)
	assert.Equal(t, files, again, "the same text should make the same bytes")

	for _, chapter := range chapters {
		for _, kind := range []string{"map", "trace", "idea"} {
			if chapter == "full" && kind == "idea" {
				continue
			}
			for _, l := range langs {
				assert.Contains(t, files, folder+"/"+chapter+"-"+kind+l.suffix())
			}
		}
	}
	for name, content := range files {
		assertReadableAnywhere(t, name, content)
	}
}

// assertReadableAnywhere: GitHub shows a figure as an image, so it can't load
// anything and runs no script.
func assertReadableAnywhere(t *testing.T, name, content string) {
	t.Helper()
	tokens := xml.NewDecoder(strings.NewReader(content))
	var elements []string
	for {
		token, err := tokens.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err, name)
		if start, ok := token.(xml.StartElement); ok {
			elements = append(elements, start.Name.Local)
		}
	}
	assert.Equal(t, []string{"svg", "title", "desc", "style"}, elements[:4], name)
	for _, foreign := range []string{"script", "image", "use", "foreignObject"} {
		assert.NotContains(t, elements, foreign, name)
	}
	assert.Contains(t, content, "@media (prefers-color-scheme:dark)", name)
	assert.NotContains(t, content, "url(", name)
}

func TestStaleFiguresAreNamed(t *testing.T) {
	files := map[string]string{folder + "/a.svg": "new", folder + "/b.svg": "new", folder + "/c.svg": "same"}
	root := fstest.MapFS{
		folder + "/a.svg":      {Data: []byte("old")},
		folder + "/c.svg":      {Data: []byte("same")},
		folder + "/04-old.svg": {Data: []byte("of no text")},
		folder + "/plot.svg":   {Data: []byte("of somebody else")},
	}
	assert.EqualError(t, stale(root, files), "docs/figures/a.svg is stale: run make docs and commit it\ndocs/figures/b.svg is stale: run make docs and commit it")
	assert.EqualError(t, strays(root, files), "docs/figures/04-old.svg is made of no text: remove it, or bring its text back")
}

func TestParseRefuses(t *testing.T) {
	const head = "size 100x50\ntitle : a\ndesc : a\nbox a 1,2 3x4 : A\n"
	for name, tc := range map[string]struct{ source, want string }{
		"NoTitle":       {"size 1x2\ndesc : a", "title or desc is missing"},
		"NoSize":        {"title : a\ndesc : a", "size is missing"},
		"Command":       {head + "circle a", `line 5: there is no command "circle"`},
		"NoNumbers":     {head + "text here : a", `line 5: "here" is not two numbers`},
		"Box":           {head + "box b 1,2 : B", "line 5: a box needs a name"},
		"ArrowToNobody": {head + "arrow a.e b.w", `line 5: there is no box "b"`},
		"ArrowNowhere":  {head + "arrow a.e a.x", `line 5: "a.x" is no end of an arrow`},
		"ArrowFrom":     {head + "arrow a.e", "line 5: an arrow needs two ends"},
		"Regexp":        {"trace a\nskip (\n", "line 2: error parsing regexp"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tc.source)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestTextThatDoesNotFitIsAnError(t *testing.T) {
	f, err := parse("size 200x60\ntitle : a\ndesc : a\nbox a 10,10 40x30 : far too long a label\ntext 150,30 : this leaves the picture\n")
	require.NoError(t, err)
	_, err = f.draw(en, 0)
	require.ErrorContains(t, err, "too wide for box a")
	assert.ErrorContains(t, err, "leaves the picture")
}

// Colours of the map: whose each layer is when a chapter is read.
func TestSeenFrom(t *testing.T) {
	for name, tc := range map[string]struct {
		reading, layer int
		want           whose
	}{
		"Own":     {4, 4, lit},
		"Earlier": {4, 2, ours},
		"Later":   {4, 6, upstreams},
		"Full":    {full, 6, ours},
		"Landing": {0, 6, ours},
		"NoLayer": {1, 0, ours},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, seenFrom(tc.reading, tc.layer)) })
	}
}

// A row is the way of one state; a second visit of a layer is a second row, and
// the end of a reconciliation goes with its start.
func TestRows(t *testing.T) {
	all, err := rows(`# at 1ms: 改 | change
# at 2ms
Reflector MODIFIED Secret demo/red 7 0.0µs
Kind Update Secret demo/red 7 100.0µs
Kind Update Secret demo/red 7 120.0µs
workqueue Add Secret demo/red 7 130.0µs -> fast
workqueue Add Secret demo/red 7 140.0µs -> slow
Reconcile Start Secret demo/red 7 150.0µs -> slow
Reconcile Done Secret demo/red 7 160.0µs -> slow
# at 3ms
Reflector List Secret demo/red 7 0.0µs
`, nil, nil)
	require.NoError(t, err)
	require.Len(t, all, 4)
	assert.Equal(t, label{{"改"}, {"change"}}, all[0].note)
	verbs := func(r *row) (verbs string) {
		for _, e := range r.steps {
			verbs += e.Verb + " "
		}
		return verbs
	}
	assert.Equal(t, "MODIFIED Update Add ", verbs(all[1]))
	assert.Equal(t, "Update Add Start Done ", verbs(all[2]))
	assert.Equal(t, "List ", verbs(all[3]))
	assert.Equal(t, 2120*time.Microsecond, all[2].at)

	_, err = rows("nonsense\n", nil, nil)
	assert.ErrorContains(t, err, "line 1: not a line of a trace")
}
