package main

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The reader sees that something panicked and which test failed, not the stacks
// between, however the output is cut into writes.
func TestLoggedStacksAreNotShown(t *testing.T) {
	const log = "E0101 1 panics.go:101] \"Observed a panic\" panic=\"boom\" stacktrace=<\n"
	for name, tc := range map[string]struct{ in, want string }{
		"no stack":        {"--- FAIL: TestA (0.00s)\nFAIL\n", "--- FAIL: TestA (0.00s)\nFAIL\n"},
		"a stack":         {"a\n" + log + "\tgoroutine 1 [running]:\n\t --- FAIL: no\n >\n--- FAIL: TestA\n", "a\nE0101 1 panics.go:101] \"Observed a panic\" panic=\"boom\" stacktrace=…\n--- FAIL: TestA\n"},
		"no end":          {log + "\tgoroutine 1 [running]:\n\tmain.main()", "E0101 1 panics.go:101] \"Observed a panic\" panic=\"boom\" stacktrace=…\n"},
		"no last newline": {"a\n  > b", "a\n  > b"},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			w := &withoutStacks{to: &got}
			_, err := io.Copy(struct{ io.Writer }{w}, iotest.OneByteReader(strings.NewReader(tc.in)))
			require.NoError(t, err)
			w.end()
			assert.Equal(t, tc.want, got.String())
		})
	}
}
