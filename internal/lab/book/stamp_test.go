package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const stampedZh = "<!-- book -->\n# 题\n\n说明\n\n<a id=\"a\"></a>\n## 甲\n\n话 [x](up:client-go/a#B)\n\n<!-- code: q/q.go#none -->\n\n<a id=\"b\"></a>\n## 乙\n\n别的\n"

// What the tool fills in and what is beside the words makes no English stale;
// other words do, in that section only.
func TestEnglishIsStaleWhenTheChineseWordsChange(t *testing.T) {
	en := "<!-- book -->\n# T\n\n<a id=\"a\"></a>\n## A\n\n<a id=\"b\"></a>\n## B\nother\n"
	zhPage, enPage := newPage("p.zh.md", stampedZh), newPage("p.md", en)
	require.Len(t, checkStamps(zhPage, enPage), 3, "nothing is stamped yet")
	stamped := stamp(zhPage, enPage, "")
	require.Empty(t, checkStamps(zhPage, stamped))
	require.Regexp(t, `(?s)^<!-- book -->\n<!-- zh:[0-9a-f]{8} -->\n# T.*## A\n<!-- zh:[0-9a-f]{8} -->\n`, stamped.text())
	require.Equal(t, stamped.text(), stamp(zhPage, stamped, "").text(), "once more changes nothing")

	for name, c := range map[string]struct {
		old, now string
		stale    []string
	}{
		"words":          {"话", "另一句话", []string{"a"}},
		"intro":          {"说明", "新的说明", []string{"intro"}},
		"heading":        {"## 乙", "## 丙", []string{"b"}},
		"link filled in": {"(up:client-go/a#B)", `(https://github.com/x/y/blob/v2/z.go#L9 "up:client-go/a#B")`, nil},
		"other link":     {"(up:client-go/a#B)", "(up:client-go/a#C)", []string{"a"}},
		"code filled in": {"#none -->\n", "#none -->\n```go\nvar none = 0\n```\n", nil},
		"blank lines":    {"## 甲\n", "## 甲\n\n\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var stale []string
			for _, p := range checkStamps(newPage("p.zh.md", strings.Replace(stampedZh, c.old, c.now, 1)), stamped) {
				require.Contains(t, p.text, "is older than p.zh.md")
				stale = append(stale, strings.Split(p.text, `"`)[1])
			}
			require.Equal(t, c.stale, stale)
		})
	}
}

func TestStampOfOneSection(t *testing.T) {
	zh := newPage("p.zh.md", stampedZh)
	en := stamp(zh, newPage("p.md", "<!-- book -->\n<a id=\"a\"></a>\n## A\n<a id=\"b\"></a>\n## B\n"), "b")
	stale := checkStamps(zh, en)
	require.Len(t, stale, 2)
	require.Contains(t, stale[0].text, `section "intro"`)
	require.Contains(t, stale[1].text, `section "a"`)
}
