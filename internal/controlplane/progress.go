package controlplane

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Terminal returns where a person sees progress at once: within go test, stderr
// stays unseen until the package ends, so it is the terminal itself where there
// is one.
func Terminal() io.Writer {
	if tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
		return tty
	}
	return os.Stderr
}

// isTerminal reports whether a line written to w can be written over.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// step shows one long task as a line: on a terminal the line is renewed every
// second, elsewhere (a log) another one comes every 15 seconds.
type step struct {
	w     io.Writer
	title string
	since time.Time
	done  chan struct{}
	wg    sync.WaitGroup

	// mu guards detail, which comes from the goroutine that reads a command's output.
	mu     sync.Mutex
	detail string
}

// startStep shows the title at once. The caller owes it end.
func startStep(w io.Writer, title string) *step {
	s := &step{w: w, title: title, since: time.Now(), done: make(chan struct{})}
	terminal, every := isTerminal(w), 15*time.Second
	if terminal {
		every = time.Second
	}
	s.show(terminal)
	s.wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-s.done:
				return
			case <-tick.C:
				s.show(terminal)
			}
		}
	})
	return s
}

// set changes what is shown behind the title.
func (s *step) set(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detail = fmt.Sprintf(format, args...)
}

func (s *step) show(terminal bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf("control plane: %s", s.title)
	if s.detail != "" {
		line += ", " + s.detail
	}
	if passed := time.Since(s.since).Round(time.Second); passed > 0 {
		line += fmt.Sprintf(", %s", passed)
	}
	if terminal {
		fmt.Fprintf(s.w, "\r\x1b[K%s", line)
		return
	}
	fmt.Fprintln(s.w, line)
}

// end shows how it went and stops the line.
func (s *step) end(err error) {
	close(s.done)
	s.wg.Wait()
	if err != nil {
		s.set("failed")
	} else {
		s.set("done")
	}
	terminal := isTerminal(s.w)
	s.show(terminal)
	if terminal {
		fmt.Fprintln(s.w)
	}
}

// lines calls a function for every whole line written to it.
type lines struct {
	call func(string)
	rest string
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest += string(p)
	for {
		line, rest, found := strings.Cut(l.rest, "\n")
		if !found {
			return len(p), nil
		}
		l.rest = rest
		l.call(line)
	}
}
