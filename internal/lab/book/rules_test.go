package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each rule: a page that breaks it and what the writer is told. The page is both
// languages if only text is given.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		text   string            // of docs/p.zh.md and docs/p.md, below <!-- book -->
		zh, en string            // if they differ
		files  map[string]string // besides
		want   []string          // parts of the problems, in this order; none if empty
	}{
		"a page that keeps all rules": {text: strings.Join([]string{
			"# Title", "Go 1.26, client-go v0.37, controller-runtime v0.11.2; since v0.15.0",
			`<a id="one"></a>`, "## One", "[q](../q/q.go), [down](#two), [out](https://example.com), `TestPop`, `TestPop/case`",
			`<a id="two"></a>`, "### Two", "<!-- code: q/q.go#none -->", "```go", "var none = 0", "```",
			"<!-- run: pop -->", "```console", "$ go test ./q -run TestPop", "first", "…", "```",
			"```sh", "make test A=1 # words", "GO=go make help && go test -race ./q/... -run 'Pop|Push'", "```",
			"<details><summary>Why?</summary>", "", "Because.", "", "</details>",
		}, "\n")},

		"heading without id":            {text: "## One", want: []string{"p.md:3: heading without an id", "p.zh.md:2: heading without an id"}},
		"id that is not short":          {text: "<a id=\"One_1\"></a>\n## One", want: []string{`id "One_1": use small letters`, "One_1"}},
		"id used twice":                 {text: "<a id=\"a\"></a>\n## A\n<a id=\"a\"></a>\n### B", want: []string{`p.md:6: id "a" is used twice`, "twice"}},
		"heading in a block is none":    {text: "'''text\n## A\n'''"},
		"heading that English lacks":    {zh: "<a id=\"a\"></a>\n## A", en: "words", want: []string{`p.zh.md:3: heading "## a" is not in docs/p.md`}},
		"heading that Chinese lacks":    {en: "<a id=\"a\"></a>\n## A", zh: "words", want: []string{`p.md:4: heading "## a" is not in docs/p.zh.md`}},
		"headings in another order":     {zh: "<a id=\"a\"></a>\n## A\n<a id=\"b\"></a>\n## B", en: "<a id=\"b\"></a>\n## B\n<a id=\"a\"></a>\n## A", want: []string{`p.md:4: heading "## b", where docs/p.zh.md:3 has "## a"`}},
		"heading of another level":      {zh: "<a id=\"a\"></a>\n### A", en: "<a id=\"a\"></a>\n## A", want: []string{`heading "## a", where`}},
		"code that is not the source's": {text: "<!-- code: q/q.go#none -->\n'''go\nvar none = 1\n'''", want: []string{"p.md:4: not what q/q.go#none is: run make docs", "p.zh.md"}},
		"code of no file":               {text: "<!-- code: q/gone.go#none -->", want: []string{"p.md:3: code: there is no file q/gone.go", "p.zh.md"}},
		"code of no symbol":             {text: "<!-- code: q/q.go#Queue.Push -->", want: []string{"code: q/q.go has no Queue.Push", "p.zh.md"}},
		"code cut at no line":           {text: "<!-- code: q/q.go#Queue.Pop /for/,/gone/ -->", want: []string{"no line matches /gone/", "p.zh.md"}},
		"code cut at one end":           {text: "<!-- code: q/q.go#Queue.Pop /for/ -->", want: []string{"write it as path/file.go#Symbol", "p.zh.md"}},
		"code that is too long": {text: "<!-- code: q/long.go#Long -->",
			files: map[string]string{"q/long.go": "package q\n\nfunc Long() {" + strings.Repeat("\n", 30) + "}\n"},
			want:  []string{"q/long.go#Long has 31 lines, a reader takes 25: cut it", "p.zh.md"}},
		"code that English lacks": {zh: "<!-- code: q/q.go#none -->\n'''go\nvar none = 0\n'''", en: "words", want: []string{"p.zh.md:3: intro has a block code: q/q.go#none, and docs/p.md doesn't"}},

		"block without label":         {text: "'''\nx\n'''", want: []string{"p.md:3: a block without a label", "p.zh.md"}},
		"block with another label":    {text: "'''bash\nx\n'''", want: []string{`a block with label "bash": use one of`, "p.zh.md"}},
		"go from nowhere":             {text: "'''go\nx\n'''", want: []string{"p.md:3: go that comes from nowhere", "p.zh.md"}},
		"block without end":           {text: "'''text\nx", want: []string{"p.md:3: a block without an end", "p.zh.md"}},
		"sketch":                      {text: "<!-- sketch -->\n'''go\nx\n'''"},
		"sketch that is too long":     {text: "<!-- sketch -->\n'''go" + strings.Repeat("\nx", 13) + "\n'''", want: []string{"a sketch of 13 lines: at most 12", "p.zh.md"}},
		"make target that is not":     {text: "'''sh\nmake\nmake tset V=1\n'''", want: []string{"p.md:5: the Makefile has no target tset", "p.zh.md"}},
		"package that is not":         {text: "'''sh\nGO=1 go test -race ./gone/...\n'''", want: []string{"there is no package ./gone/...", "p.zh.md"}},
		"pipe that is none":           {text: "'''sh\ngo test ./q -run Pop|Push\n'''", want: []string{"quotes around Pop|Push", "p.zh.md"}},
		"test to run that is not":     {text: "'''sh\ngo test ./q -run '^TestPush$/x'\n'''", want: []string{"no test of ./q matches ^TestPush$", "p.zh.md"}},
		"make of words":               {text: "'''sh\ncd q && ls # make up your mind\n'''"},
		"output from nowhere":         {text: "'''console\n$ ls\n'''", want: []string{"p.md:3: output that comes from nowhere", "p.zh.md"}},
		"output of no run":            {text: "<!-- run: push -->\n'''console\n$ ls\n'''", want: []string{"docs/runs.yaml has no run push: add", "p.zh.md"}},
		"output of another command":   {text: "<!-- run: pop -->\n'''console\n$ ls\n…\n'''", want: []string{`pop: the first line has to be "$ go test ./q -run TestPop"`, "p.zh.md"}},
		"output invented":             {text: "<!-- run: pop -->\n'''console\n$ go test ./q -run TestPop\nfirst\nok\n…\n'''", want: []string{"p.md:7: pop: not a line of the recording", "p.zh.md"}},
		"output of another time":      {text: "<!-- run: pop -->\n'''console\n$ go test ./q -run TestPop\n…\nok  \tq\t3.2s\nlast\n'''", want: []string{"p.md:5: not the lines of docs/runs/pop.txt: run make docs", "p.zh.md"}},
		"output that breaks off":      {text: "<!-- run: pop -->\n'''console\n$ go test ./q -run TestPop\nfirst\n'''", want: []string{"the recording goes on", "p.zh.md"}},
		"run that was never recorded": {text: "<!-- run: push -->\n'''console\n$ ls\n…\n'''", files: map[string]string{"docs/runs.yaml": "push: {command: ls}\n"}, want: []string{"push isn't recorded: make record RUN=push", "p.zh.md"}},
		"run of a package that is not": {text: "words", files: map[string]string{"docs/runs.yaml": "push: {command: go test ./gone, timeout: 2x}\n"},
			want: []string{"docs/runs.yaml:1: push: time: unknown unit", "docs/runs.yaml:1: push: there is no package ./gone"}},

		"upstream link not filled in":         {text: "[x](up:client-go/a#B)", want: []string{"p.md:3: upstream links are not filled in: run make docs", "p.zh.md"}},
		"upstream link of another time":       {text: `[x](https://github.com/x/y/blob/v1/z.go#L9 "up:client-go/a#B")`, want: []string{"upstream links", "p.zh.md"}},
		"upstream link to nothing":            {text: "[x](up:client-go/a#Gone)", want: []string{"no symbol client-go/a#Gone", "p.zh.md"}},
		"upstream that has changed":           {text: `[x](https://github.com/x/y/blob/v1/z.go#L1-L2 "up:client-go/a#Changed")`, want: []string{"p.md:3: client-go/a#Changed has changed", "p.zh.md"}},
		"upstream link by hand":               {text: "[x](https://github.com/kubernetes/client-go/blob/v0.37.2/a.go)", want: []string{"write it as [words](up:module/package#Symbol)", "p.zh.md"}},
		"link to a branch":                    {text: "[x](https://github.com/kubernetes/kubernetes/blob/master/a.go)", want: []string{"a link to a branch moves", "p.zh.md"}},
		"link to a tag":                       {text: "[x](https://github.com/kubernetes/kubernetes/blob/v1.37.2/a.go)"},
		"upstream link that English lacks":    {zh: `[x](https://github.com/x/y/blob/v1/z.go#L1-L2 "up:client-go/a#B")`, en: "words", want: []string{`p.md:1: section "intro" has link into upstream client-go/a#B fewer times than docs/p.zh.md:1`}},
		"table of the seed map that is stale": {text: "<!-- seed-map: 04 -->\n<!-- /seed-map -->", want: []string{"p.md:4: the table seed-map is stale: run make docs", "p.zh.md"}},
		"table without end":                   {text: "<!-- bench: layer=04 -->", want: []string{"<!-- bench --> without an end", "p.zh.md"}},
		"table of no rows":                    {text: "<!-- bench: layer=07 -->\n<!-- /bench -->", want: []string{"bench: no rows for layer=07", "p.zh.md"}},
		"telling of nothing":                  {text: "<!-- tells: M01 M99 -->", want: []string{"tells: M99 is not an id", "p.zh.md"}},
		"telling that English lacks":          {zh: "<!-- tells: M01 -->", en: "words", want: []string{"has telling M01 fewer times"}},
		"figure without words":                {text: "![](../q/q.go)", want: []string{"figure ../q/q.go: say between the brackets", "p.zh.md"}},
		"figure that is not":                  {text: "![x](figures/gone.svg)", want: []string{"figures/gone.svg: there is no such file", "p.zh.md"}},
		"figures in two languages": {zh: "![x](figures/a.zh.svg)", en: "![x](figures/a.svg)",
			files: map[string]string{"docs/figures/a.svg": "", "docs/figures/a.zh.svg": ""}},
		"figure that Chinese lacks": {zh: "words", en: "![x](figures/a.svg)",
			files: map[string]string{"docs/figures/a.svg": ""}, want: []string{`p.zh.md:1: section "intro" has figure figures/a fewer times than`}},

		"test that is not":             {text: "see `TestPush`, `BenchmarkPop/x=1`", want: []string{"there is no TestPush", "p.zh.md"}},
		"test of somebody else":        {text: "[`TestPush`](https://example.com)"},
		"test that English lacks":      {zh: "`TestPop`", en: "words", want: []string{"has test TestPop fewer times"}},
		"link to no file":              {text: "[x](q/q.go)", want: []string{"q/q.go: there is no such file", "p.zh.md"}},
		"link out of the repository":   {text: "[x](../../q)", want: []string{"the link leaves the repository", "p.zh.md"}},
		"link to no heading":           {text: "[x](#gone) [y](p.md#gone)", want: []string{`#gone: that page has no <a id="gone">`, "p.md#gone", "p.zh.md", "p.zh.md"}},
		"link to a line":               {text: "[x](../q/q.go#L3)", want: []string{"line numbers of a file move", "p.zh.md"}},
		"link in code is none":         {text: "`[x](gone)`\n'''text\n[x](gone)\n'''"},
		"link in html":                 {text: `<img src="gone.svg">`, want: []string{"gone.svg: there is no such file", "p.zh.md"}},
		"version that is not ours":     {text: "client-go v0.36.1 and Go 1.25", want: []string{"client-go v0.36.1: it is 0.37.2 or 0.23.0 or 0.23.5", "Go v1.25: it is 1.26.0", "p.zh.md", "p.zh.md"}},
		"version of history":           {text: "client-go v0.36.1 had it <!-- history -->"},
		"question that English lacks":  {zh: "<details><summary>Q</summary>\n</details>", en: "words", want: []string{"has question <details> fewer times"}},
		"answer without question":      {text: "<details>\n\nwords\n</details>", want: []string{"<details> without its question", "p.zh.md"}},
		"answer without end":           {text: "<details><summary>Q</summary>", want: []string{"<details> without </details>", "p.zh.md"}},
		"hunt that is not":             {text: "<!-- hunt: 04-9 -->", want: []string{"there is no hunt 04-9", "p.zh.md"}},
		"comment that is misspelt":     {text: "<!-- tell: M01 -->", want: []string{`comment "tell" means nothing`, "p.zh.md"}},
		"comment that is far from its": {text: "<!-- run: pop -->\n\n'''text\n'''", want: []string{"run: there is no block on the next line", "p.zh.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			zh, en := c.zh, c.en
			if c.text != "" {
				zh, en = c.text, c.text
			}
			files := map[string]string{"docs/p.zh.md": "<!-- book -->\n" + zh + "\n", "docs/p.md": "<!-- book -->\n" + en + "\n"}
			for name, text := range c.files {
				files[name] = text
			}
			b := openSmall(t, files)
			// The English is in line, so that only the rule in question is broken.
			files["docs/p.md"] = stamp(b.page("docs/p.zh.md"), b.page("docs/p.md"), "").text()
			var got []string
			for _, p := range openSmall(t, files).check() {
				got = append(got, p.String())
			}
			require.Len(t, got, len(c.want), "%s", strings.Join(got, "\n"))
			for i, want := range c.want {
				require.Contains(t, got[i], want)
			}
		})
	}
}

func TestChapterHasItsSectionsAndHunts(t *testing.T) {
	page := "<!-- book -->\n<a id=\"map\"></a>\n## Map\n<!-- hunt: 04-1 -->\n"
	files := map[string]string{
		"chapters/04-x/README.zh.md": page, "chapters/04-x/README.md": page,
		"internal/lab/hunts/04-1/hunt.yaml": "", "internal/lab/hunts/04-2/hunt.yaml": "", "internal/lab/hunts/05-1/hunt.yaml": "",
	}
	var got []string
	for _, p := range openSmall(t, files).check() {
		if p.file == "chapters/04-x/README.zh.md" {
			got = append(got, p.String())
		}
	}
	require.Equal(t, []string{
		"chapters/04-x/README.zh.md:1: the sections are intro, map; a chapter has intro, map, run, invariants, predict, reading, upstream, faults, cost, questions, next",
		"chapters/04-x/README.zh.md:1: no figure of a recorded run: show ../../docs/figures/NN-trace.svg",
		"chapters/04-x/README.zh.md:1: hunt 04-2 is not presented: do so, with <!-- hunt: 04-2 --> above the paragraph",
	}, got)
}

func TestNothingIsLeftOutOnceAllIsWritten(t *testing.T) {
	page := "<!-- book -->\n<!-- tells: M01 -->\n"
	b := openSmall(t, map[string]string{"README.zh.md": page, "README.md": page, "docs/only.zh.md": "<!-- book -->\n"})
	b.complete = true
	var got []string
	for _, p := range b.check() {
		got = append(got, p.String())
	}
	all := strings.Join(got, "\n")
	require.Contains(t, all, "chapters/01-informermap/README.zh.md:1: not a page of the book")
	require.NotContains(t, all, "\nREADME.md:1: not a page")
	require.Contains(t, all, "docs/only.zh.md:1: its other language, docs/only.md, is not there")
	require.Contains(t, all, "L01 is told by no Chinese page")
	require.Contains(t, all, "L01 is told by no English page")
	require.NotContains(t, all, "M01 is told by no")
	require.Contains(t, all, "docs/runs.yaml:1: pop: no page shows it")
}
