package assembly_test

import (
	"time"

	"pgregory.net/rapid"
)

// unit is the grid of a program's virtual time. An informer starts on a line of the grid, everything
// else happens offGrid behind one, and what the reflector's jitter makes uncertain is over a minute
// later. Resync periods are such that no tick, and no handler's turn, depends on that jitter:
// whole units for the shortest, a quarter or an eighth more for the longer ones.
const (
	unit    = 10 * time.Minute
	offGrid = 4 * time.Minute

	shortResync  = unit
	middleResync = 2*unit + unit/4
	longResync   = 3*unit + unit/8
)

// change is what happens to one object on the server.
type change struct {
	name   string
	value  string // what it is indexed by
	delete bool
}

// pace says what follows a step.
type pace int

const (
	atOnce  pace = iota // the next step
	look                // whatever can happen without a pause, then everything is compared
	settled             // a unit of time: back-offs are over, ticks have come; then everything is compared
)

// step is one thing that happens to server or informer.
type step struct {
	what    string
	changes []change
	missed  []change      // with the gate closed, by the watch
	handler int           // which handler, modulo their number
	resync  time.Duration // of a new handler; own: the informer's
	n       int
	pace    pace
}

// own is the wish of a handler that names no period.
const own = -1

// program is an informer's life, drawn before it runs.
type program struct {
	resync    time.Duration
	watchList bool
	transform bool
	slowStart bool // the first list is held until the step release
	initial   []change
	start     int // the informer starts before this step
	release   int // the first list is answered before this step
	steps     []step
}

// names are those of all objects. An index function waits at the gatekeeper while the gate is closed, and
// so does the consumer of every queue, whatever it is built of.
var names = []string{"a", "b", "c", "d", gatekeeper}

const gatekeeper = "gatekeeper"

func anyChange() *rapid.Generator[change] {
	return rapid.Custom(func(t *rapid.T) change {
		return change{
			name:   rapid.SampledFrom(names).Draw(t, "name"),
			value:  rapid.SampledFrom([]string{"", "x", "y", "x,y"}).Draw(t, "value"),
			delete: rapid.IntRange(0, 2).Draw(t, "delete") == 0,
		}
	})
}

// actions are what a step may be, as often as it shall come.
var actions = []string{
	"change", "change", "change", "change",
	"miss", "miss", "gap", "expire", "close", "break", "restore",
	"bookmark", "repeat", "stray",
	"no lists", "no watches", "busy watches",
	"add handler", "add handler", "remove handler", "hold handler", "release handler",
	"add index", "gate", "gate and miss", "gate and miss", "open", "pause",
}

func anyStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		s := step{
			what: rapid.SampledFrom(actions).Draw(t, "what"),
			pace: rapid.SampledFrom([]pace{settled, look, atOnce}).Draw(t, "pace"),
		}
		switch s.what {
		case "change", "miss", "gap", "gate":
			s.changes = rapid.SliceOfN(anyChange(), 1, 4).Draw(t, "changes")
		case "gate and miss":
			s.changes = rapid.SliceOfN(anyChange(), 0, 4).Draw(t, "changes")
			s.missed = rapid.SliceOfN(anyChange(), 1, 4).Draw(t, "missed")
		case "repeat", "stray":
			s.changes = []change{anyChange().Draw(t, "object")}
			s.n = rapid.IntRange(0, 1).Draw(t, "event")
		case "add handler":
			s.resync = rapid.SampledFrom([]time.Duration{own, 0, shortResync, longResync}).Draw(t, "resync")
		case "remove handler", "hold handler", "release handler":
			s.handler = rapid.IntRange(0, 5).Draw(t, "handler")
		case "restore", "bookmark", "pause", "no lists", "no watches", "busy watches":
			s.n = rapid.IntRange(1, 2).Draw(t, "n")
		}
		return s
	})
}

// anyProgram draws a program. Where relists wait for a consumer that is busy, a gate moves the time of a
// relist, and with it every later tick: then there is a gate or a resync, and not both. A busy server is
// asked again by a reflector that goes on ticking, so that a tick may come before or after the answer.
func anyProgram(t *rapid.T, relistsWait bool) program {
	p := program{
		resync:    rapid.SampledFrom([]time.Duration{0, shortResync, middleResync}).Draw(t, "resync"),
		watchList: rapid.Bool().Draw(t, "watchList"),
		transform: rapid.Bool().Draw(t, "transform"),
		slowStart: rapid.IntRange(0, 3).Draw(t, "slowStart") == 0,
		initial:   rapid.SliceOfN(anyChange(), 0, 4).Draw(t, "initial"),
		steps:     rapid.SliceOfN(anyStep(), 1, 16).Draw(t, "steps"),
	}
	p.start = rapid.IntRange(0, min(3, len(p.steps))).Draw(t, "start")
	p.release = p.start + rapid.IntRange(0, 4).Draw(t, "release")
	if p.resync > 0 {
		for i, s := range p.steps {
			switch {
			case s.what == "gate" && relistsWait:
				p.steps[i].what = "change"
			case s.what == "gate and miss" && relistsWait:
				p.steps[i].what, p.steps[i].changes = "miss", s.missed
			case s.what == "busy watches":
				p.steps[i].what = "no watches"
			}
		}
	}
	return p
}
