package main

import (
	"regexp"
	"strings"
)

// changing is what differs between two runs of the same command, most particular
// first.
var changing = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`\b0x[0-9a-f]+\b`), "POINTER"},
	{regexp.MustCompile(`\b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?`), "TIME"},
	{regexp.MustCompile(`\b([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ `), "$1 TIME PID "}, // klog
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d(?:[.,]\d+)?`), "TIME"},
	{regexp.MustCompile(`((?:\b\d+(?:\.\d+){3}|\blocalhost|\[::1\])):\d+`), "$1:PORT"},
	{regexp.MustCompile(`(?:/private)?(?:/tmp|/var/folders|\$TMPDIR)/[^\s"':,)]+`), "TEMP"},
	{regexp.MustCompile(`(?i)\b(resource[ -]?versions?|rv|uid|pid)("?\s*[=:]?\s*\\?"?)[0-9]+`), "$1${2}N"},
	{regexp.MustCompile(`(\s)\d+(\s+\d+(?:\.\d+)?µs(?:\s|$))`), "${1}N$2"}, // a trace's version, in front of its time
	{regexp.MustCompile(`\bgoroutine \d+`), "goroutine N"},
	{regexp.MustCompile(`\b\d+(?:\.\d+)?(?:ns|µs|μs|us|ms|s|m|h)(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h))*\b`), "DURATION"},
	{regexp.MustCompile(`(^|\t)\(cached\)`), "${1}DURATION"},
	{regexp.MustCompile(`^(Benchmark\S+\s+)\d+`), "${1}N"},
	{regexp.MustCompile(`\b\d+(?:\.\d+)?(\s+)(ns/op|B/op|allocs/op|MB/s)`), "N$1$2"},
	{regexp.MustCompile(`\s+`), " "},
}

// normalise puts a name in place of each number that changes from run to run, so
// that two runs can be compared.
func normalise(line string) string {
	for _, c := range changing {
		line = c.pattern.ReplaceAllString(line, c.name)
	}
	return strings.TrimSpace(line)
}
