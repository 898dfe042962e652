package main

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestBenchTable(t *testing.T) {
	table := benchTable(fstest.MapFS{benchFile: {Data: []byte(`{"rows": [
		{"layer": "03", "what": "list", "unit": "ns/op", "upstream": {"median": 1}},
		{"layer": "04", "what": "watch", "impl": "chapters", "unit": "ns/op", "upstream": {"median": 2345}, "ours": {"median": 234.5}, "ratio": {"median": 0.1, "low": 0.0912, "high": 0.11}},
		{"layer": "04", "what": "reflector", "impl": "chapters", "unit": "ns/op", "upstream": {"median": 10}, "ours": {"median": 5}, "ratio": {"median": 0.5, "low": 0.4, "high": 0.6}},
		{"layer": "04", "what": "watch", "impl": "chapters-inorder", "unit": "ns/op", "upstream": {"median": 2345}, "ours": {"median": 117}, "ratio": {"median": 0.05, "low": 0.04, "high": 0.06}},
		{"layer": "04", "what": "heap", "impl": "chapters-inorder", "unit": "B/object", "upstream": {"median": 512}, "ours": {"median": 512}, "ratio": {"median": 1, "low": 1, "high": 1}}
	]}`)}})
	en, err := table("layer=04", "en")
	require.NoError(t, err)
	require.Equal(t, "| what | upstream | ours | queue | ours/upstream (95 % interval) |\n|---|---|---|---|---|\n"+
		"| watch | 2.35 µs | 234 ns | DeltaFIFO | 0.100 (0.0912–0.110) |\n"+
		"| reflector | 10.0 ns | 5.00 ns | – | 0.500 (0.400–0.600) |\n"+
		"| watch | 2.35 µs | 117 ns | in-order | 0.0500 (0.0400–0.0600) |\n"+
		"| heap | 512 B | 512 B | in-order | 1.00 (1.00–1.00) |\n", en)
	_, err = table("layer=04", "zh")
	require.ErrorContains(t, err, `"watch" has no Chinese name`)
	_, err = table("layer=07", "en")
	require.ErrorContains(t, err, "has no rows of layer 07")
	_, err = table("04", "en")
	require.ErrorContains(t, err, "write layer=04")
	_, err = benchTable(fstest.MapFS{})("layer=04", "zh")
	require.ErrorContains(t, err, "make bench writes it")
}

func TestBenchTableInChinese(t *testing.T) {
	table := benchTable(fstest.MapFS{benchFile: {Data: []byte(`{"rows": [
		{"layer": "05", "what": "Indexer: Get", "impl": "chapters", "unit": "ns/op", "upstream": {"median": 10}, "ours": {"median": 5}, "ratio": {"median": 0.5, "low": 0.4, "high": 0.6}}
	]}`)}})
	zh, err := table("layer=05", "zh")
	require.NoError(t, err)
	require.Equal(t, "| 测什么 | 上游 | 这里 | 队列 | 这里/上游（95% 区间） |\n|---|---|---|---|---|\n"+
		"| Indexer：Get | 10.0 ns | 5.00 ns | – | 0.500 (0.400–0.600) |\n", zh)
}
