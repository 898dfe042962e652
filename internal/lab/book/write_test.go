package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteFillsIn(t *testing.T) {
	for name, c := range map[string]struct{ typed, want string }{
		"const":                {"<!-- code: q/q.go#few -->", "<!-- code: q/q.go#few -->\n'''go\nfew = 1\n'''"},
		"doc":                  {"<!-- code: q/q.go#few doc -->", "<!-- code: q/q.go#few doc -->\n'''go\n// few is not many.\nfew = 1\n'''"},
		"type":                 {"<!-- code: q/q.go#Queue -->", "<!-- code: q/q.go#Queue -->\n'''go\ntype Queue[T any] struct {\n\titems []T\n}\n'''"},
		"method, cut, indents": {"<!-- code: q/q.go#Queue.Pop /for/,/^\\t}/ -->", "<!-- code: q/q.go#Queue.Pop /for/,/^\\t}/ -->\n'''go\nfor len(q.items) == 0 {\n\t// wait\n\twait()\n}\n'''"},
		"block that was there": {"a\n<!-- code: q/q.go#none -->\n'''go\nold\nolder\n'''\nb", "a\n<!-- code: q/q.go#none -->\n'''go\nvar none = 0\n'''\nb"},
		"words below":          {"<!-- code: q/q.go#none -->\nb", "<!-- code: q/q.go#none -->\n'''go\nvar none = 0\n'''\n\nb"},
		"two of them": {"<!-- code: q/q.go#none -->\n\n<!-- code: q/q.go#few -->",
			"<!-- code: q/q.go#none -->\n'''go\nvar none = 0\n'''\n\n<!-- code: q/q.go#few -->\n'''go\nfew = 1\n'''"},
		"link": {"see [`B[T]`](up:client-go/a#B), [C](https://old \"up:client-go@v0.23.5/a#C\")",
			"see [`B[T]`](https://github.com/x/y/blob/v1/z.go#L1-L2 \"up:client-go/a#B\"), [C](https://github.com/x/y/blob/v1/z.go#L1-L2 \"up:client-go@v0.23.5/a#C\")"},
		"link in a block is none": {"'''text\n[x](up:client-go/a#B)\n'''", "'''text\n[x](up:client-go/a#B)\n'''"},
		"link right below code": {"<!-- code: q/q.go#none -->\n[C](up:client-go/a#C)",
			"<!-- code: q/q.go#none -->\n'''go\nvar none = 0\n'''\n\n[C](https://github.com/x/y/blob/v1/z.go#L1-L2 \"up:client-go/a#C\")"},
		"table": {"<!-- seed-map: 04 -->\n| old |\n<!-- /seed-map -->", "<!-- seed-map: 04 -->\n\n| 04 | en |\n\n<!-- /seed-map -->"},
		"output": {"<!-- run: pop -->\n'''console\n$ go test ./q -run TestPop\n…\nok q 9.9s\nlast\n'''",
			"<!-- run: pop -->\n'''console\n$ go test ./q -run TestPop\n…\nok  \tq\t0.012s\nlast\n'''"},
	} {
		t.Run(name, func(t *testing.T) {
			page := func(text string) map[string]string {
				return map[string]string{"p.md": "<!-- book -->\n" + text + "\n"}
			}
			require.Equal(t, page(c.want)["p.md"], written(t, page(c.typed), "p.md"))
			require.Equal(t, page(c.want)["p.md"], written(t, page(c.want), "p.md"), "once more changes nothing")
		})
	}
}
