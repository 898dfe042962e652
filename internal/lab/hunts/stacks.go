package main

import (
	"bytes"
	"io"
)

// withoutStacks passes lines on, but of a stack in the log only that it was
// there: a panic that is meant to be is logged at each level that it passes, and
// the line that says which test failed would be a thousand lines below.
type withoutStacks struct {
	to      io.Writer
	rest    []byte // a line without its end
	inStack bool
}

var (
	stackBegins = []byte("stacktrace=<")
	stackEnds   = []byte(" >")
)

func (s *withoutStacks) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		line, rest, whole := bytes.Cut(s.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		s.rest = rest
		if err := s.line(line); err != nil {
			return 0, err
		}
	}
}

func (s *withoutStacks) line(line []byte) error {
	if s.inStack {
		s.inStack = !bytes.HasPrefix(line, stackEnds)
		return nil
	}
	if begin, ok := bytes.CutSuffix(line, stackBegins); ok {
		s.inStack = true
		line = append(bytes.Clone(begin), "stacktrace=…"...)
	}
	_, err := s.to.Write(append(bytes.Clone(line), '\n'))
	return err
}

// end passes on what has no newline behind it.
func (s *withoutStacks) end() {
	if len(s.rest) > 0 && !s.inStack {
		_, _ = s.to.Write(s.rest)
	}
	s.rest = nil
}
