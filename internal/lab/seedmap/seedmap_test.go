package seedmap

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var add = flag.Bool("add", false, "add the refs that docs/upstream.lock does not know")

// Every symbol of every row is there: in the old modules, in the pinned ones and here.
func TestEveryRowResolves(t *testing.T) {
	m, err := Load()
	require.NoError(t, err)
	assert.Len(t, m.Rows, 210)
	assert.Len(t, m.Mistakes, 14+29)
	for _, chapter := range []string{"01", "02", "03", "04", "05", "06", "full"} {
		assert.NotEmpty(t, m.ChapterMistakes(chapter), chapter)
	}
}

// An upgrade that changes a symbol names the rows to look at.
func TestRowsAreWrittenFromThisUpstream(t *testing.T) {
	m, err := Load()
	require.NoError(t, err)
	file := filepath.Join(m.root, "docs", "upstream.lock")
	lock, err := upstream.LoadLock(file)
	require.NoError(t, err)
	if *add {
		require.NoError(t, lock.Add(m.Uses()))
		require.NoError(t, lock.Save(file))
	}
	for _, fault := range lock.Compare(m.Uses()) {
		t.Error(fault)
	}
}

const row = `rows:
- id: S001
  chapter: "04"
  name: Pop
  nameZH: 取出
  line: 7
  then: [client-go@v0.23.5/tools/cache#DeltaFIFO.Pop]
  now: [client-go/tools/cache#RealFIFO.Pop]
  gone: v0.33.0
  ours: [chapters/04-reflector-deltafifo/deltafifo/delta_fifo_pop.go#DeltaFIFO.Pop, upstream]
  zh: 取
  en: take
`

func load(t *testing.T, text string) (*Map, error) {
	t.Helper()
	root, err := findRoot()
	require.NoError(t, err)
	return parse(root, []byte(text))
}

// What is wrong in a row is said with the row.
func TestFaultsAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown key":        {"en: take", "e: take", `unknown field "e"`},
		"old symbol gone":    {"#DeltaFIFO.Pop]", "#DeltaFIFO.Pup]", "row S001 (Pop): then client-go@v0.23.5/tools/cache: no symbol DeltaFIFO.Pup; nearest: DeltaFIFO.Pop"},
		"new symbol gone":    {"#RealFIFO.Pop", "#RealFIFO.Pup", "row S001 (Pop): now client-go@v0.37.2/tools/cache: no symbol RealFIFO.Pup"},
		"ours gone":          {"go#DeltaFIFO.Pop", "go#DeltaFIFO.Pup", "row S001 (Pop): ours chapters/04-reflector-deltafifo/deltafifo/delta_fifo_pop.go#DeltaFIFO.Pup: no symbol DeltaFIFO.Pup"},
		"ours moved":         {"delta_fifo_pop.go", "delta_fifo.go", "DeltaFIFO.Pop is not in delta_fifo.go but in delta_fifo_pop.go"},
		"no old version":     {"client-go@v0.23.5", "client-go", "say the old version"},
		"version of now":     {"[client-go/", "[client-go@v0.37.2/", "leave the version out"},
		"no such chapter":    {`"04"`, `"07"`, `chapter "07" is none of`},
		"no Chinese":         {"zh: 取", "zh: take", "wants a note in Chinese"},
		"no version in gone": {"gone: v0.33.0", "gone: soon", "write the first version without it"},
		"twice":              {"rows:", "mistakes: [{id: S001, chapter: '01', lines: [1], zh: 真, en: truth}]\nrows:", `the id "S001" is there twice`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(row, c.old, c.new, 1)
			require.NotEqual(t, row, text)
			_, err := load(t, text)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// A row of the table leads to the tags and, from the chapter's folder, to our files.
func TestTable(t *testing.T) {
	m, err := load(t, row)
	require.NoError(t, err)
	en, err := m.Table("04", "en")
	require.NoError(t, err)
	assert.Regexp(t, `\| Pop \(L7\) \| \[.DeltaFIFO.Pop.\]\(https://github.com/kubernetes/client-go/blob/v0.23.5/tools/cache/delta_fifo.go#L515-L\d+\) \| gone since v0.33.0<br>\[.RealFIFO.Pop.\]\(https://[^)]+/v0.37.2/[^)]+\) \| \[.DeltaFIFO.Pop.\]\(deltafifo/delta_fifo_pop.go\)<br>upstream's \| take \|\n$`, en)
	zh, err := m.Table("04", "zh")
	require.NoError(t, err)
	assert.Contains(t, zh, "| 取出 (L7) |")
	assert.Contains(t, zh, "v0.33.0 起没有了")

	_, err = m.Table("4", "zh")
	assert.ErrorContains(t, err, `"4" is no chapter`)
	_, err = m.Table("04", "de")
	assert.ErrorContains(t, err, `language "de"`)
}
