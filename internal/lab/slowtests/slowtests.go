// Package slowtests tells the tests that need an API server from those that end
// in seconds and run on a machine that has none.
package slowtests

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// Pattern returns what -skip takes to leave them out: all tests of the files in
// the package's folder that ask for a control plane. It is empty if there are none.
func Pattern(folder string) (string, error) {
	tests, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		return "", err
	}
	var names []string
	for _, file := range tests {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if !bytes.Contains(content, []byte("controlplane.Config(")) {
			continue
		}
		for _, m := range testFunc.FindAllSubmatch(content, -1) {
			if name := string(m[1]); name != "TestMain" {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	return "^(" + strings.Join(names, "|") + ")$", nil
}
