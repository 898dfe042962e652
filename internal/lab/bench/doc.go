// Command bench measures the chapters against upstream, side by side, and writes
// docs/BENCHMARKS.md, docs/BENCHMARKS.json and docs/bench-scale.svg:
//
//	make bench                  # all rows
//	make bench BENCH=Indexer    # some rows; writes no document
//
// The benchmarks are ordinary ones, in the _test.go files, with impl=upstream,
// impl=chapters and impl=chapters-inorder as their last part:
//
//	go test ./internal/lab/bench -run '^$' -bench HotObject -cpuprofile cpu.out
//
// This command runs each of them in a process of its own, round by round with the
// implementations in turn, so that none profits by what ran before it, and a machine
// that becomes slower becomes slower for all. A ratio is made of two neighbours; of
// the ratios of all rounds benchstat makes the median and its confidence interval.
//
// Exit code 1: a row was missed, and is named.
package main
