package story

import (
	"cmp"
	"slices"
)

// sorted lists the chosen events in the order of the story: causal, ties by depth, host and sentence. Faults keep the order of their times,
// which the plan fixes.
func (t *teller) sorted(picks []*pick) []*pick {
	depths := map[int32]int32{}
	var faults []*pick
	for _, p := range picks {
		depths[p.seq] = t.order.depth[p.seq]
		if p.needed {
			faults = append(faults, p)
		}
	}
	slices.SortStableFunc(faults, t.byTime)
	for i, deepest := 0, int32(0); i < len(faults); i++ {
		deepest = max(deepest, depths[faults[i].seq])
		depths[faults[i].seq] = deepest
	}
	slices.SortStableFunc(picks, func(a, b *pick) int {
		x, y := &t.h.Events[a.seq], &t.h.Events[b.seq]
		byTime := 0
		if a.needed && b.needed {
			byTime = t.byTime(a, b)
		}
		return cmp.Or(cmp.Compare(depths[a.seq], depths[b.seq]), cmp.Compare(fault(a), fault(b)), byTime, cmp.Compare(x.Host, y.Host),
			cmp.Compare(x.Lane, y.Lane), t.between(a.seq, b.seq), cmp.Compare(t.sentence(a), t.sentence(b)))
	})
	for i := range picks { // what happened before goes before: the first that nothing left over precedes
		for j := i; j < len(picks); j++ {
			first := true
			for k := i; k < len(picks) && first; k++ {
				first = k == j || !t.past(picks[k].seq, picks[j].seq)
			}
			if first {
				p := picks[j]
				picks = slices.Insert(slices.Delete(picks, j, j+1), i, p)
				break
			}
		}
	}
	return picks
}

func (t *teller) between(a, b int32) int {
	switch {
	case t.past(a, b):
		return -1
	case t.past(b, a):
		return 1
	}
	return 0
}

// byTime orders faults by their times, ties by what they are.
func (t *teller) byTime(a, b *pick) int {
	return cmp.Or(cmp.Compare(t.h.Events[a.seq].AtUs, t.h.Events[b.seq].AtUs), cmp.Compare(a.text, b.text))
}

func fault(p *pick) int {
	if p.needed {
		return 1
	}
	return 0
}
