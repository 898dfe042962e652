package indexer

import (
	"fmt"
	"slices"
)

// Check returns the first of the Indexer's invariants that does not hold, or
// what stays reachable without being stored.
func (x *Indexer) Check() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	for i, values := range x.values[:cap(x.values)] {
		if values != nil && i >= len(x.indices) {
			return fmt.Errorf("the writer keeps index values of more than the last object: %q", values)
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	slots := 0
	keys := map[*entry]string{}
	for key, e := range x.items {
		keys[e] = key
		all := e.slots()
		slots += len(all)
		for _, s := range all[len(all):cap(all)] {
			if s.set != nil {
				return fmt.Errorf("%q keeps the set of %q that it has left", key, s.set.value)
			}
		}
		for i, s := range all {
			if s.pos >= len(s.set.members) || s.set.members[s.pos] != e {
				return fmt.Errorf("slot %d of %q points at another entry", i, key)
			}
		}
	}
	for _, ix := range x.indices {
		for value, s := range ix.sets {
			slots -= len(s.members)
			for _, e := range s.members[len(s.members):cap(s.members)] {
				if e != nil {
					return fmt.Errorf("index %q: the set of %q keeps an entry that has left it", ix.name, value)
				}
			}
			if len(s.members) == 0 || s.value != value || s.index != ix {
				return fmt.Errorf("index %q: set of %q has %d members, value %q", ix.name, value, len(s.members), s.value)
			}
			for _, e := range s.members {
				key, stored := keys[e]
				if !stored {
					return fmt.Errorf("index %q: a member of %q is not stored", ix.name, value)
				}
				if !slices.Contains(ix.valuesOf(key, e.obj), value) {
					return fmt.Errorf("index %q: %q is a member of %q and should not be", ix.name, key, value)
				}
			}
		}
	}
	if slots != 0 {
		return fmt.Errorf("there are %d slots more than members", slots)
	}
	return nil
}
