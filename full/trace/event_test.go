package trace

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseReadsWhatStringWrites(t *testing.T) {
	for name, e := range map[string]Event{
		"Whole":          {Reflector, "ADDED", "Mirror", "registry-pull-secret", "231", 0, ""},
		"WithRequest":    {Reconcile, "Start", "Secret", "team-a/registry-pull", "412", 1234500 * time.Nanosecond, "registry-pull-secret"},
		"Metadata":       {Kind, "Update", "Namespace(meta)", "team-a", "7", 100 * time.Nanosecond, ""},
		"OfNoEvent":      {Workqueue, "AddRateLimited", "-", "registry-pull-secret", "-", 3 * time.Hour, ""},
		"LongerThanWide": {HandleDeltas, strings.Repeat("v", 50), strings.Repeat("k", 50), strings.Repeat("n", 50), strings.Repeat("9", 50), 42 * time.Microsecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := Parse(e.String())
			require.NoError(t, err)
			assert.Equal(t, e, parsed)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ line, want string }{
		"Nothing":      {"", "has not 6 fields"},
		"Prose":        {"kubeconfig: /tmp/kubeconfig", "has not 6 fields"},
		"OtherLayer":   {"Store ADDED Pod a 1 0.0µs", `"Store" is none of the layers`},
		"NoTime":       {"Indexer ADDED Pod a 1 soon", `"soon" is no number of µs`},
		"NoUnit":       {"Indexer ADDED Pod a 1 12", `"12" is no number of µs`},
		"NoArrow":      {"Indexer ADDED Pod a 1 1.0µs to b", "with an arrow"},
		"ArrowAtNoOne": {"Indexer ADDED Pod a 1 1.0µs ->", "has not 6 fields"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(tc.line)
			require.ErrorContains(t, err, "not a line of a trace")
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestPrinterWritesOneLinePerEvent(t *testing.T) {
	var out bytes.Buffer
	print := Printer(&out)
	first := Event{Reflector, "ADDED", "Pod", "a/b", "1", 0, ""}
	second := Event{Reconcile, "Start", "Pod", "a/b", "1", time.Millisecond, "b"}
	print(first)
	print(second)
	assert.Equal(t, first.String()+"\n"+second.String()+"\n", out.String(), "no terminal, so no colours")
}

func TestColumnsStayInLine(t *testing.T) {
	short := Event{Kind, "Create", "Secret", "a/b", "1", 0, "c"}.String()
	long := Event{HandleDeltas, "AddRateLimited", "Namespace(meta)", "team-a/registry-pull-secret", "12345678", 12 * time.Second, "c"}.String()
	assert.Equal(t, strings.Index(short, "->"), strings.Index(long, "->"), "%s\n%s", short, long)
}
