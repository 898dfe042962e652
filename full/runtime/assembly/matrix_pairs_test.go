package assembly_test

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// pair is two choices of different axes.
type pair struct{ axisA, choiceA, axisB, choiceB int8 }

func pairOf(axisA, choiceA, axisB, choiceB int) pair {
	return pair{int8(axisA), int8(choiceA), int8(axisB), int8(choiceB)}
}

func (c combination) pairs() iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for a := range c {
			for b := a + 1; b < len(c); b++ {
				if !yield(pairOf(a, c[a], b, c[b])) {
					return
				}
			}
		}
	}
}

// coveringArray chooses some of all so that every pair that is in one of all is in one of them. It is
// greedy: the combination that brings most new pairs comes next, in an order that does not favour the first
// choices where several do. The smallest array is hard to find; the two longest axes are its lower bound.
func coveringArray(all []combination) []combination {
	all = slices.Clone(all)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all)-1, func(i, j int) { all[i+1], all[j+1] = all[j+1], all[i+1] })
	missing := map[pair]bool{}
	for _, c := range all {
		for p := range c.pairs() {
			missing[p] = true
		}
	}
	var chosen []combination
	for len(missing) > 0 {
		var best combination
		most := 0
		for _, c := range all {
			brings := 0
			for p := range c.pairs() {
				if missing[p] {
					brings++
				}
			}
			if brings > most {
				best, most = c, brings
			}
		}
		for p := range best.pairs() {
			delete(missing, p)
		}
		chosen = append(chosen, best)
	}
	return chosen
}

func TestCoveringArray(t *testing.T) {
	all := combinations()
	// Outside of the informer 2·2·2·4·3, inside 6·2·2·2 for ours and one for client-go's.
	assert.Len(t, all, 2*2*2*4*3*(6*2*2*2+1))
	chosen := coveringArray(all)
	assert.Less(t, len(chosen), 45, "close to the lower bound, 7·4")

	covered := map[pair]bool{}
	for _, c := range chosen {
		assert.True(t, c.wireable(), "%s", c)
		for p := range c.pairs() {
			covered[p] = true
		}
	}
	// Counted without combinations: which pairs should there be?
	for a := range axes {
		for b := a + 1; b < len(axes); b++ {
			for i, one := range axes[a].choices {
				for j, other := range axes[b].choices {
					want := true
					switch {
					case axes[a].inner && axes[b].inner:
						want = (one.name == onePiece) == (other.name == onePiece)
					case axes[a].name == "informer" && axes[b].inner:
						want = (one.name == clientGo) == (other.name == onePiece)
					}
					assert.Equal(t, want, covered[pairOf(a, i, b, j)], "%s %s with %s %s", axes[a].name, one.name, axes[b].name, other.name)
				}
			}
		}
	}
}
