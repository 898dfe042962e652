package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShow(t *testing.T) {
	recorded := strings.Fields("a b c a b d 1ms e")
	for name, c := range map[string]struct {
		shown string
		want  string // or
		wrong int    // the line that is
	}{
		"all":                               {shown: "a b c a b d 1ms e", want: "a b c a b d 1ms e"},
		"numbers as recorded":               {shown: "… 9s e", want: "… 1ms e"},
		"beginning":                         {shown: "a b …", want: "a b …"},
		"end":                               {shown: "… 1ms e", want: "… 1ms e"},
		"end that came before":              {shown: "… b", wrong: 2},
		"middle":                            {shown: "… c …", want: "… c …"},
		"second place that begins the same": {shown: "… a b d …", want: "… a b d …"},
		"two pieces":                        {shown: "a … d …", want: "a … d …"},
		"pieces out of order":               {shown: "… d … c …", wrong: 4},
		"gap that is not said":              {shown: "a c …", wrong: 2},
		"invented line":                     {shown: "… a b x …", wrong: 4},
		"nothing but a gap":                 {shown: "…", want: "…"},
		"gap with nothing in it":            {shown: "a … b …", want: "a … b …"},
		"breaks off":                        {shown: "a b", wrong: 2},
		"more than there is":                {shown: "a b c a b d 1ms e f", wrong: 9},
	} {
		t.Run(name, func(t *testing.T) {
			now, line, err := show(append([]string{"$ x"}, strings.Fields(c.shown)...), "x", recorded)
			if c.want == "" {
				require.Error(t, err)
				require.Equal(t, c.wrong, line)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "$ x "+c.want, strings.Join(now, " "))
		})
	}
}

func TestNormalise(t *testing.T) {
	for name, c := range map[string]struct{ a, b, other string }{
		"duration of a test":    {"--- PASS: TestX (0.00s)", "--- PASS: TestX (12.34s)", "--- FAIL: TestX (0.00s)"},
		"duration of a package": {"ok  \tm/q\t0.012s", "ok  \tm/q\t(cached)", "ok  \tm/p\t0.012s"},
		"duration in parts":     {"after 1m30.5s", "after 850µs", "before 1m30.5s"},
		"columns that move":     {"list   9ms  3 objects", "list 1.25s 3 objects", "list 9ms 4 objects"},
		"log of klog":           {"I1130 13:30:45.123456   12345 reflector.go:1] hi", "I0101 00:00:00.000001 7 reflector.go:1] hi", "W1130 13:30:45.123456   12345 reflector.go:1] hi"},
		"time":                  {"2026-11-30T13:30:45.5Z up", "2027-01-02T03:04:05+08:00 up", "2026-11-30T13:30:45.5Z down"},
		"time of the day":       {"13:30:45.123 up", "00:00:01 up", "13:30:45.123 down"},
		"log of Go":             {"2026/11/30 13:30:45 up", "2027/01/02 00:00:00 up", "2026/11/30 13:30:45 down"},
		"port":                  {"https://127.0.0.1:44321/api", "https://127.0.0.1:1/api", "https://127.0.0.2:44321/api"},
		"port of localhost":     {"localhost:8080", "localhost:9", "remotehost:8080"},
		"resourceVersion":       {`resourceVersion="123" kind=Pod`, `resourceVersion="4" kind=Pod`, `resourceVersion="123" kind=Node`},
		"resourceVersion, json": {`{"resourceVersion":"123"}`, `{"resourceVersion":"9"}`, `{"generation":"123"}`},
		"rv":                    {"rv=17", "rv=18", "rx=17"},
		"version in a trace":    {"Kind  Update  Mirror  pull  227  99.9µs", "Kind  Update  Mirror  pull  31  1.2µs", "Kind  Create  Mirror  pull  227  99.9µs"},
		"uid":                   {"1b4e28ba-2fa1-11d2-883f-0016d3cca427 x", "00000000-2fa1-11d2-883f-0016d3cca427 x", "1b4e28ba-2fa1-11d2-883f-0016d3cca427 y"},
		"pointer":               {"*T 0xc000123", "*T 0xc0004", "*U 0xc000123"},
		"goroutine":             {"goroutine 17 [select]:", "goroutine 5 [select]:", "goroutine 17 [running]:"},
		"folder for a while":    {"/tmp/TestX123/001/f: no", "/tmp/TestX9/002/g: no", "/tmp/TestX123/001/f: yes"},
		"benchmark":             {"BenchmarkPop-2 1 117 ns/op 24 B/op", "BenchmarkPop-2 1000 9.5 ns/op 25 B/op", "BenchmarkPush-2 1 117 ns/op 24 B/op"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, normalise(c.a), normalise(c.b))
			require.NotEqual(t, normalise(c.a), normalise(c.other))
		})
	}
	for _, line := range []string{"3 objects, 17 requests", "queue of 2000", "v0.37.2", "cache.go:120: x"} {
		require.Equal(t, line, normalise(line), "a count is a result")
	}
}

func TestExecute(t *testing.T) {
	for name, c := range map[string]struct {
		run         aRun
		output, err string
	}{
		"output of both kinds": {run: aRun{Command: "echo a; echo b >&2"}, output: "a\nb\n"},
		"exit that is wanted":  {run: aRun{Command: "echo a; exit 3", Exit: 3}, output: "a\n"},
		"other exit":           {run: aRun{Command: "echo a; exit 3"}, output: "a\n", err: "exit 3, docs/runs.yaml wants 0"},
		"never done":           {run: aRun{Command: "echo a; sleep 60", Timeout: "100ms"}, output: "a\n", err: "not done after 100ms"},
		"noise of a first run": {run: aRun{Command: "echo go: downloading x v1; pwd; echo $PWD/f"}, output: ".\nf\n"},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := execute(t.Context(), c.run)
			if c.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.err)
			}
			require.Equal(t, c.output, output)
		})
	}
}

// What CI runs: other numbers are no news, other lines are.
func TestCompare(t *testing.T) {
	b := openSmall(t, map[string]string{"p.md": "<!-- book -->\n<!-- run: pop -->\n'''console\n$ go test ./q -run TestPop\n…\nok  \tq\t0.012s\nlast\n'''\n"})
	require.Empty(t, b.compare("pop", "other\nok  \tq\t7.000s\nlast\n"))
	wrong := b.compare("pop", "FAIL\tq\nlast\n")
	require.Len(t, wrong, 1)
	require.ErrorContains(t, wrong[0], `p.md:6: pop ran anew: not a line of the recording`)
	require.ErrorContains(t, wrong[0], "FAIL\tq")
}
