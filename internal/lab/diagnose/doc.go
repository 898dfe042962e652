// Package diagnose holds docs/diagnose.md to what it says of goroutine stacks: its
// test brings informers and controllers, ours and upstream's, into the states that
// the page tells of, and looks for the functions that the page names.
package diagnose
