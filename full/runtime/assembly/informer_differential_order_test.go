package assembly_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// order says which order of events is nobody's promise.
type order struct {
	byKey    bool // DeltaFIFO: only that of one object's events is kept
	streamed bool // the objects of a list come out of a map
}

// difference compares what was seen of two informers, and says where they part.
func difference(upstream, ours []observation, o order, relistsWait bool, allow func(observation) observation) string {
	if len(upstream) != len(ours) {
		return fmt.Sprintf("%d observations upstream, %d of ours", len(upstream), len(ours))
	}
	var all []*deliveries
	for i := range upstream {
		want, got := allow(upstream[i]), allow(ours[i])
		for len(all) < len(want.events) {
			all = append(all, &deliveries{known: map[string]bool{}})
		}
		for h, d := range all {
			d.upstream = append(d.upstream, want.events[h]...)
			d.ours = append(d.ours, got.events[h]...)
			d.listed = d.listed || want.relisted || got.relisted
		}
		if want.gated && relistsWait {
			continue // how much has come through by now is no promise
		}
		if want.state != got.state || want.stored != got.stored {
			return fmt.Sprintf("%s\nupstream: %s\nstored %s\n\nours: %s\nstored %s\n%s", want.step, want.state, want.stored, got.state, got.stored, requests(want, got))
		}
		for h, d := range all {
			wanted, gotten := d.take(o)
			if !slices.Equal(wanted, gotten) {
				return fmt.Sprintf("%s\nhandler %d\nupstream:\n  %s\nours:\n  %s\n%s", want.step, h,
					strings.Join(wanted, "\n  "), strings.Join(gotten, "\n  "), requests(want, got))
			}
			// What a handler that is held has to be told of a list comes later.
			d.listed = d.listed && want.held[h] || want.gated
		}
	}
	return ""
}

func requests(upstream, ours observation) string {
	return fmt.Sprintf("requests\nupstream:\n  %s\nours:\n  %s", strings.Join(upstream.requests, "\n  "), strings.Join(ours.requests, "\n  "))
}

// deliveries are the events of one handler that have not been compared yet.
type deliveries struct {
	upstream, ours []event
	listed         bool            // a list may be among them
	known          map[string]bool // the objects that the handler knows of
}

// take returns the lines in an order in which they can be compared.
func (d *deliveries) take(o order) (upstream, ours []string) {
	up, our := d.upstream, d.ours
	d.upstream, d.ours = nil, nil
	switch {
	case o.byKey:
		sortByKey(up)
		sortByKey(our)
		up, our = d.likeDeltaFIFO(up, our)
	case o.streamed && d.listed:
		sortByKey(up)
		sortByKey(our)
	default:
		sortRuns(up)
		sortRuns(our)
	}
	return lines(up), lines(our)
}

func lines(events []event) (all []string) {
	for _, e := range events {
		all = append(all, e.line)
	}
	return all
}

func sortByKey(events []event) {
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.key, b.key) })
}

// sortRuns undoes what comes of the order of a map: that of the deletions which a list shows, of the
// objects of a resync, and of those that a late handler is given. All else stays where it is.
func sortRuns(events []event) {
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[0].unordered != "" && events[n].unordered == events[0].unordered {
			n++
		}
		sortByKey(events[:n])
		events = events[n:]
	}
}

// likeDeltaFIFO takes out what only client-go reports, deletions of what the handler does not know of.
// Where such a one follows a deletion that it knows, the queue may have merged the two: then the later
// one is as good.
func (d *deliveries) likeDeltaFIFO(up, our []event) (upstream, ours []event) {
	upstream, merged := d.withoutUnknown(up)
	for _, e := range our {
		if e.verb != "" { // which call was cut off is a matter of the order among objects
			ours = append(ours, e)
		}
	}
	for i := range min(len(upstream), len(ours)) {
		if slices.Contains(merged[i], ours[i].line) {
			upstream[i].line = ours[i].line
		}
	}
	return upstream, ours
}

// withoutUnknown returns the rest, and for each event of it the lines of the deletions that followed it.
func (d *deliveries) withoutUnknown(events []event) (rest []event, followed [][]string) {
	for _, e := range events {
		if e.verb == "" {
			continue
		}
		deletion := e.verb == "delete" || e.verb == "gone"
		if deletion && !d.known[e.key] {
			if n := len(rest) - 1; n >= 0 && rest[n].key == e.key {
				followed[n] = append(followed[n], e.line)
			}
			continue
		}
		d.known[e.key] = !deletion
		rest, followed = append(rest, e), append(followed, nil)
	}
	return rest, followed
}
