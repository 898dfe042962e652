package trace

import (
	"fmt"
	"io"
	"os"
)

// colours go from the API server's blue to Reconcile's red.
var colours = map[Layer]int{
	Reflector: 33, DeltaFIFO: 38, HandleDeltas: 43, Indexer: 48, Processor: 118, Kind: 184, Workqueue: 214, Reconcile: 203,
}

// Printer writes each event as a line, the name of the layer in colour if w is a
// terminal and NO_COLOR is not set. What can't be written is lost.
func Printer(w io.Writer) func(Event) {
	if !isTerminal(w) || os.Getenv("NO_COLOR") != "" {
		return func(e Event) { fmt.Fprintln(w, e) }
	}
	return func(e Event) {
		line := e.String()
		n := len(e.Layer)
		fmt.Fprintf(w, "\x1b[38;5;%dm%s\x1b[0m%s\n", colours[e.Layer], line[:n], line[n:])
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
