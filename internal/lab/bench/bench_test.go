package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	out := "goos: linux\nBenchmarkList/objects=1000/impl=chapters-2 \t 100\t 2146 ns/op\t 2.1 ns/object\t 3 allocs/op\nPASS\n"
	assert.Equal(t, measured{"ns/op": 2146, "ns/object": 2.1, "allocs/op": 3}, parse(out))
	assert.Nil(t, parse("PASS\n"), "a benchmark that is skipped or misspelt has no result")
}

func TestParseBenchstat(t *testing.T) {
	of, err := parseBenchstat(",a.txt,\n,value,CI\nGet/impl=upstream/ns/op,139,1%\nGet/impl=chapters/ns/op,70,∞\ngeomean,98,\n")
	require.NoError(t, err)
	require.Len(t, of, 2)
	assert.InDelta(t, 139*0.985, of[key("Get", upstream, "ns/op")].Low, 1e-9, "benchstat's percent are rounded")
	assert.Zero(t, of[key("Get", chapters, "ns/op")].Low, "no interval of too few rounds: anything is possible")
}

// The whole way from rounds to a verdict, with the benchstat that is pinned.
func TestCompare(t *testing.T) {
	t.Chdir("../../..")
	rows := []row{{what: "get", bench: "Get", unit: "ns/op", impls: two, goal: both(0.5)}}
	all := results{"Get": {}}
	for round := range 6 {
		drift := float64(1 + round) // a machine that becomes slower
		all["Get"][upstream] = append(all["Get"][upstream], measured{"ns/op": 100 * drift})
		all["Get"][chapters] = append(all["Get"][chapters], measured{"ns/op": 40 * drift})
	}
	lines, err := compare(t.Context(), rows, all)
	require.NoError(t, err)
	require.Len(t, lines, 1)
	assert.InDelta(t, 0.4, lines[0].Ratio.Median, 1e-9)
	assert.InDelta(t, 0.4, lines[0].Ratio.High, 0.003, "the drift is in both values and not in their ratio")
	assert.NoError(t, judge(lines))
}

// A row that no queue of deltas is part of has no queue to name.
func TestQueueOfARow(t *testing.T) {
	table := markdown(machine{}, []line{
		{What: "Get", Impl: chapters, Goal: 0.5, Ratio: summary{Median: 1}, Why: "The lock.", noQueue: true},
		{What: "watch", Impl: chapters, Goal: 0.5, Ratio: summary{Median: 1}, Why: "The keys."},
		{What: "list", Impl: inOrder},
	})
	assert.Regexp(t, `\| Get \|.*\| – \|`, table)
	assert.Regexp(t, `\| watch \|.*\| DeltaFIFO \|`, table)
	assert.Regexp(t, `\| list \|.*\| in-order \|`, table)
	assert.Contains(t, table, "- Get: 1.00, goal 0.5. The lock.")
	assert.Contains(t, table, "- watch, DeltaFIFO: 1.00, goal 0.5. The keys.")
}

func TestGate(t *testing.T) {
	for name, tc := range map[string]struct {
		ratio summary
		most  float64
		fails bool
	}{
		"faster":                         {summary{0.5, 0.4, 0.6}, 0, false},
		"slower":                         {summary{1.2, 1.1, 1.3}, 0, true},
		"slower, but perhaps not":        {summary{1.02, 0.9, 1.1}, 0, false},
		"faster, but not fast enough":    {summary{0.5, 0.4, 0.6}, 0.4, true},
		"fast enough, as far as we know": {summary{0.39, 0.3, 0.5}, 0.4, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := judge([]line{{What: "the row", Ratio: tc.ratio, Most: tc.most}})
			if tc.fails {
				assert.ErrorContains(t, err, "the row")
			} else {
				assert.NoError(t, err)
			}
		})
	}
}

func TestReplaceTableKeepsWhatIsWrittenByHand(t *testing.T) {
	text, err := replaceTable("before\n"+tableBegin+"old"+tableEnd+"\nafter\n", "new\n")
	require.NoError(t, err)
	assert.Equal(t, "before\n"+tableBegin+"\n\nnew\n\n"+tableEnd+"\nafter\n", text)
	_, err = replaceTable("no marks", "new")
	assert.ErrorContains(t, err, "marks")
}

func TestPlotIsXML(t *testing.T) {
	var points []point
	for _, impl := range three {
		points = append(points, point{1000, 1, impl, 500}, point{1_000_000, 1, impl, 5000}, point{objectsOfHandlers, 64, impl, 80_000})
	}
	d := xml.NewDecoder(strings.NewReader(string(plot(points))))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else {
			require.NoError(t, err)
		}
	}
}

func TestQuantity(t *testing.T) {
	for want, got := range map[string]string{
		"139 ns":            quantity(139.4, "ns/object", 0),
		"1.93 µs, 3 allocs": quantity(1931, "ns/op", 3),
		"16.6 µs":           quantity(16_600, "ns/op", 1200),
		"1414 B":            quantity(1413.7, "B/object", 0),
		"0.850 s":           quantity(0.85, "cpu-s", 0),
	} {
		assert.Equal(t, want, got)
	}
}
