package indexer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// entry is one stored object and the places where the indices point at it.
// Sets point at entries and not at keys, so a read by index needs no second
// look-up; the entry stays the same when the object is replaced, so an update
// that changes no index value touches no index. It has 48 bytes and does not
// keep its key, because there are as many of them as objects.
type entry struct {
	obj any
	// one is the only slot, if its set is not nil: most objects are in one set.
	one [1]slot
	// many are the slots as soon as there were two; then one is empty.
	many *[]slot
	// generation is the Replace that saw the entry last; the sweep at the end
	// of a Replace removes what it did not see.
	generation uint32
}

// slot is one membership: members[pos] of set is the entry that owns the slot.
type slot struct {
	set *set
	pos int
}

// set holds the entries that share one value of one index. It is never empty:
// its last member takes it out of the index, because an index over values
// that come and go (pod IPs) would grow without end otherwise.
type set struct {
	index   *index
	value   string
	members []*entry
}

// index is one named index function and the sets it made. Stands for
// client-go's cache.Index with its cache.IndexFunc.
type index struct {
	name string
	fn   cache.IndexFunc
	sets map[string]*set
}

func (e *entry) slots() []slot {
	switch {
	case e.many != nil:
		return *e.many
	case e.one[0].set != nil:
		return e.one[:]
	}
	return nil
}

func (e *entry) addSlot(s slot) {
	switch {
	case e.many != nil:
		*e.many = append(*e.many, s)
	case e.one[0].set == nil:
		e.one[0] = s
	default:
		e.many = &[]slot{e.one[0], s}
		e.one[0] = slot{}
	}
}

// valuesOf asks the index function. There is nobody to return an error to: an
// object without its index values would be invisible to some readers and not
// to others, so the writer that brought it panics, before anything is changed.
func (ix *index) valuesOf(key string, obj any) []string {
	if obj == nil {
		return nil
	}
	values, err := ix.fn(obj)
	if err != nil {
		panic(fmt.Errorf("index %q has no value for the object with key %q: %w", ix.name, key, err))
	}
	return values
}

// file brings the entry into the sets of these values and out of all others.
// It costs nothing but a comparison while the values stay as they are.
func (ix *index) file(e *entry, values []string) {
	if ix.holds(e, values) {
		return
	}
	ix.drop(e)
	for _, value := range values {
		ix.add(e, value)
	}
}

func (ix *index) holds(e *entry, values []string) bool {
	n := 0
	for _, slot := range e.slots() {
		s := slot.set
		if s.index != ix {
			continue
		}
		if n == len(values) || s.value != values[n] {
			return false
		}
		n++
	}
	return n == len(values)
}

// drop keeps the order of the remaining slots: holds compares in order.
func (ix *index) drop(e *entry) {
	all := e.slots()
	kept := all[:0]
	for _, s := range all {
		if s.set.index == ix {
			s.set.remove(s.pos)
		} else {
			kept = append(kept, s)
		}
	}
	clear(all[len(kept):])
	if e.many != nil {
		*e.many = kept
	}
}

// add comes after drop, so an entry that is in the set already has got there
// by the same value given twice, and is its last member.
func (ix *index) add(e *entry, value string) {
	s := ix.sets[value]
	if s == nil {
		s = &set{index: ix, value: value}
		ix.sets[value] = s
	}
	n := len(s.members)
	if n > 0 && s.members[n-1] == e {
		return
	}
	s.members = append(s.members, e)
	e.addSlot(slot{set: s, pos: n})
}

// remove fills the gap with the last member, so it costs the same in a set of
// ten and of a hundred thousand.
func (s *set) remove(pos int) {
	last := len(s.members) - 1
	if pos != last {
		moved := s.members[last]
		s.members[pos] = moved
		moved.slotIn(s).pos = pos
	}
	s.members[last] = nil
	s.members = s.members[:last]
	if last == 0 {
		delete(s.index.sets, s.value)
	}
}

func (e *entry) slotIn(s *set) *slot {
	slots := e.slots()
	for i := range slots {
		if slots[i].set == s {
			return &slots[i]
		}
	}
	panic("indexer: an entry has no slot in a set that it is a member of")
}
