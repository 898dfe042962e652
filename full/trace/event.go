package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Layer is a station of an event's way.
type Layer string

// The layers, in the order in which an event meets them.
const (
	Reflector    Layer = "Reflector"
	DeltaFIFO    Layer = "DeltaFIFO"
	HandleDeltas Layer = "HandleDeltas"
	Indexer      Layer = "Indexer"
	Processor    Layer = "Processor"
	Kind         Layer = "Kind"
	Workqueue    Layer = "workqueue"
	Reconcile    Layer = "Reconcile"
)

// Layers are all layers, in the order in which an event meets them.
var Layers = []Layer{Reflector, DeltaFIFO, HandleDeltas, Indexer, Processor, Kind, Workqueue, Reconcile}

// Event is one step of the way of one event. No text in it has a space.
type Event struct {
	Layer Layer
	// Verb is what happens there, in the layer's own words.
	Verb string
	// Kind, Key and ResourceVersion name the object's state that is on its way. A
	// kind that is watched as metadata only ends in "(meta)". All but the key are
	// "-" for a request that no event has caused, such as a retry.
	Kind, Key, ResourceVersion string
	// Since is the time since the event entered the first layer.
	Since time.Duration
	// Request is what is enqueued or reconciled if that is not Key: the owner of
	// the object, for example.
	Request string
}

const columns = "%-12s  %-14s  %-17s  %-34s  %8s  %13s"

// Header names the columns of a line.
var Header = fmt.Sprintf(columns, "layer", "verb", "kind", "key", "version", "since entry")

// String is the event as a line, which Parse reads:
//
//	Kind          Update          Secret        team-a/registry-pull          412         93.4µs
func (e Event) String() string {
	line := fmt.Sprintf(columns,
		e.Layer, e.Verb, e.Kind, e.Key, e.ResourceVersion, strconv.FormatFloat(float64(e.Since)/1e3, 'f', 1, 64)+"µs")
	if e.Request != "" {
		line += "  -> " + e.Request
	}
	return line
}

// Parse reads what String wrote; Since is read to a tenth of a microsecond.
func Parse(line string) (Event, error) {
	f := strings.Fields(line)
	if len(f) != 6 && (len(f) != 8 || f[6] != "->") {
		return Event{}, fmt.Errorf("not a line of a trace: %q has not 6 fields, and not 8 with an arrow", line)
	}
	e := Event{Layer: Layer(f[0]), Verb: f[1], Kind: f[2], Key: f[3], ResourceVersion: f[4]}
	if !slices.Contains(Layers, e.Layer) {
		return Event{}, fmt.Errorf("not a line of a trace: %q is none of the layers %v", f[0], Layers)
	}
	number, found := strings.CutSuffix(f[5], "µs")
	since, err := strconv.ParseFloat(number, 64)
	if err != nil || !found {
		return Event{}, fmt.Errorf("not a line of a trace: %q is no number of µs", f[5])
	}
	e.Since = time.Duration(since*10+0.5) * 100
	if len(f) == 8 {
		e.Request = f[7]
	}
	return e, nil
}
