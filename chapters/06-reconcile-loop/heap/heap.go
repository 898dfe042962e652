// Package heap has the one data structure behind everything that waits in
// chapter 6: the items of AddAfter, and the priority queue's two orders.
//
// It stands for container/heap, which client-go uses and which converts each
// element to an interface on its way in and out.
package heap

// Item is what a heap can hold: a pointer to something that remembers where it
// stands, for Fix and Remove.
type Item interface {
	// SetIndex is told the item's place; -1 when it left.
	SetIndex(i int)
}

// Heap gives out the item first that is before all others. It has no lock: its
// owner has one.
//
// Invariant: no item is before its parent, which is at index (i-1)/2. So what
// before says of an item must not change while the item is in the heap, save just
// before a call of Fix.
type Heap[E Item] struct {
	before func(a, b E) bool
	items  []E
}

// New makes an empty heap in that order.
func New[E Item](before func(a, b E) bool) *Heap[E] { return &Heap[E]{before: before} }

// Len is the number of items.
func (h *Heap[E]) Len() int { return len(h.items) }

// Items are all items in no order, for looking only.
func (h *Heap[E]) Items() []E { return h.items }

// Peek is the first item; the heap must not be empty.
func (h *Heap[E]) Peek() E { return h.items[0] }

// Push takes e in, in O(log n), and in O(1) if e comes out last.
func (h *Heap[E]) Push(e E) {
	h.items = append(h.items, e)
	h.up(len(h.items)-1, e)
}

// Pop takes the first item out, in O(log n); the heap must not be empty.
func (h *Heap[E]) Pop() E { return h.Remove(0) }

// Remove takes out the item at index i, in O(log n).
func (h *Heap[E]) Remove(i int) E {
	gone := h.items[i]
	last := len(h.items) - 1
	moved := h.items[last]
	var zero E
	h.items[last] = zero // or the array keeps it from the garbage collector
	h.items = h.items[:last]
	if i != last {
		h.place(i, moved)
	}
	gone.SetIndex(-1)
	return gone
}

// Fix puts the item at index i where it belongs after its order has changed.
func (h *Heap[E]) Fix(i int) { h.place(i, h.items[i]) }

// place puts e at i or wherever it belongs from there.
func (h *Heap[E]) place(i int, e E) {
	if !h.up(i, e) {
		h.down(i, e)
	}
}

// up moves e, which is to stand at i, towards the root, and says whether it moved.
func (h *Heap[E]) up(i int, e E) bool {
	start := i
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(e, h.items[parent]) {
			break
		}
		h.set(i, h.items[parent])
		i = parent
	}
	h.set(i, e)
	return i != start
}

// down moves e, which is to stand at i, away from the root.
func (h *Heap[E]) down(i int, e E) {
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			break
		}
		if right := child + 1; right < len(h.items) && h.before(h.items[right], h.items[child]) {
			child = right
		}
		if !h.before(h.items[child], e) {
			break
		}
		h.set(i, h.items[child])
		i = child
	}
	h.set(i, e)
}

func (h *Heap[E]) set(i int, e E) {
	h.items[i] = e
	e.SetIndex(i)
}
