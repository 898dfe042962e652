package heap_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/informer-walkthrough/informer-walkthrough/chapters/06-reconcile-loop/heap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type job struct{ due, index int }

func (j *job) SetIndex(i int) { j.index = i }

// programs is how many random programs a run of the tests makes.
const programs = 300

// TestHeapIsASortedList runs random programs on a heap and on a list that is
// sorted after each step.
func TestHeapIsASortedList(t *testing.T) {
	run := 0
	for run < programs {
		rapid.Check(t, func(rt *rapid.T) {
			run++
			h := heap.New(func(a, b *job) bool { return a.due < b.due })
			var model []*job
			for range rapid.IntRange(1, 60).Draw(rt, "steps") {
				switch op := rapid.IntRange(0, 3).Draw(rt, "op"); {
				case op == 0 || len(model) == 0:
					j := &job{due: rapid.IntRange(0, 20).Draw(rt, "due"), index: -1}
					h.Push(j)
					model = append(model, j)
				case op == 1:
					require.Equal(rt, slices.MinFunc(model, compare).due, h.Peek().due, "first")
					j := h.Pop()
					require.Equal(rt, -1, j.index, "index of a popped item")
					model = slices.DeleteFunc(model, func(m *job) bool { return m == j })
				case op == 2:
					j := rapid.SampledFrom(model).Draw(rt, "changed")
					j.due = rapid.IntRange(0, 20).Draw(rt, "due")
					h.Fix(j.index)
				default:
					j := rapid.SampledFrom(model).Draw(rt, "removed")
					require.Same(rt, j, h.Remove(j.index))
					model = slices.DeleteFunc(model, func(m *job) bool { return m == j })
				}
				require.Len(rt, model, h.Len())
				for i, j := range h.Items() {
					require.Equal(rt, i, j.index, "index")
				}
			}
			slices.SortFunc(model, compare)
			for _, want := range model {
				require.Equal(rt, want.due, h.Pop().due, "order at the end")
			}
		})
	}
}

func compare(a, b *job) int { return a.due - b.due }
