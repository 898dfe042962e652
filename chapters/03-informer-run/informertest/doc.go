// Package informertest holds any cache.SharedIndexInformer to what client-go's
// informers do and to what they have been reported not to do.
//
//	func TestInformer(t *testing.T) {
//		informertest.Run(t, informer.NewSharedIndexInformer, informertest.Capabilities{HandlersInPlace: true})
//	}
//
// Run plays every scenario twice, over a server that lists and over one that
// streams its lists, each in a testing/synctest bubble: time is virtual, and what
// a scenario waits for is that nothing can go on by itself.
//
// A scenario named after a number in docs/bug-reports.md, as B24, is the regression test of a
// public report. What an implementation is known to do otherwise is said by
// Capabilities, and then that is what is asserted: a fault that was mended shows.
//
// This package is test code that other packages' tests import.
package informertest
