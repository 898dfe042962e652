package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// target is some files of one layer and the tests that guard them.
type target struct {
	layer string
	files []string // patterns
	// tests is the package whose tests guard them.
	tests string
	// args go to the test binary.
	args []string

	together *together
}

const (
	quick   = "-rapid.checks=200"
	noFiles = "-rapid.nofailfile"
)

// targets are the parts whose faults would be silent: a wrong branch in them
// loses or invents an event.
var targets = []target{
	{layer: "HandleDeltas", files: []string{"chapters/05-handledeltas/handledeltas/*.go"},
		tests: "./chapters/05-handledeltas/handledeltas", args: []string{quick, noFiles}},
	{layer: "queues", files: []string{"chapters/04-reflector-deltafifo/deltafifo/*.go"},
		tests: "./chapters/04-reflector-deltafifo/deltafifo", args: []string{quick, noFiles}},
	{layer: "indexer", files: []string{"chapters/05-handledeltas/indexer/*.go"},
		tests: "./chapters/05-handledeltas/indexer", args: []string{quick, noFiles}},
	{layer: "processor", files: []string{"chapters/05-handledeltas/processor/*.go"},
		tests: "./chapters/05-handledeltas/processor"},
	{layer: "addInformerToMap", files: []string{"chapters/01-informermap/specific_informers_map.go"},
		tests: "./chapters/01-informermap"},
	{layer: "Kind", files: []string{"chapters/02-source-kind/kind.go", "chapters/02-source-kind/event_handler.go"},
		tests: "./chapters/02-source-kind"},
	{layer: "workqueue", files: []string{"chapters/06-reconcile-loop/workqueue/*.go"},
		tests: "./chapters/06-reconcile-loop/workqueue", args: []string{quick, noFiles}},
	{layer: "controller", files: []string{"chapters/06-reconcile-loop/controller/*.go"},
		tests: "./chapters/06-reconcile-loop/controller", args: []string{quick, noFiles}},
}

// findAll lists the mutants of all targets whose file name passes the filter.
func findAll(filter *regexp.Regexp) ([]*mutant, error) {
	var all []*mutant
	for i := range targets {
		t := &targets[i]
		for _, pattern := range t.files {
			files, err := filepath.Glob(pattern)
			if err != nil || len(files) == 0 {
				return nil, fmt.Errorf("no files at %s: run from the project's root (%v)", pattern, err)
			}
			for _, f := range files {
				if strings.HasSuffix(f, "_test.go") || filepath.Base(f) == "doc.go" || !filter.MatchString(f) {
					continue
				}
				found, err := find(t, f)
				if err != nil {
					return nil, err
				}
				all = append(all, found...)
			}
		}
	}
	return all, nil
}
