package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

// setsCut counts, from the trace, voter sets that one step backwards takes away: the largest number in a run.
type setsCut struct {
	sets map[string][]int // by host: offsets of the voter sets in its log
	most int
}

func (s *setsCut) see(line sim.TraceLine) {
	kind, rest, found := strings.Cut(line.Text, ": ")
	_, numbers, _ := strings.Cut(rest, ", offset ")
	var to, from int
	if n, _ := fmt.Sscanf(numbers, "%d, other %d", &to, &from); line.What != "protocol" || !found || kind != "voters-changed" || n != 2 {
		return
	}
	list, cut := s.sets[line.Host], 0
	for len(list) > 0 && list[len(list)-1] >= to {
		list = list[:len(list)-1]
		cut++
	}
	if from > to {
		s.most = max(s.most, cut-1) // the one at to itself stays
	}
	s.sets[line.Host] = append(list, to)
}

// TestTwoSetsAreCutAtOnce: the script gets to its point in most seeds, a cut that takes two voter sets away.
func TestTwoSetsAreCutAtOnce(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	const seeds = 20
	reached := 0
	for seed := uint64(1); seed <= seeds; seed++ {
		s := setsCut{sets: map[string][]int{}}
		_, err := e.Run(c.Scenario("reconfig/two-cut").Draw(seed), sim.Options{Trace: s.see})
		require.NoError(t, err)
		if s.most == 2 {
			reached++
		}
	}
	require.Greater(t, reached, seeds/2)
}

// TestOvertakenAsksForPreVotes: the voter that an epoch passed by hears of it in a pre-vote, and from nothing else.
func TestOvertakenAsksForPreVotes(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	reached := 0
	for seed := uint64(1); seed <= 20; seed++ {
		p := c.Scenario("reconfig/overtaken").Draw(seed)
		first := p.Actions[0].Params["host"]
		last, by := "", ""
		_, err := e.Run(p, sim.Options{Trace: func(line sim.TraceLine) {
			switch {
			case !strings.HasPrefix(line.Host, first):
			case line.What == "input":
				last = line.Text
			case line.What == "protocol" && strings.HasPrefix(line.Text, "epoch-adopted") && line.AtUs > 1_600_000 && by == "":
				by = last
			}
		}})
		require.NoError(t, err)
		if strings.Contains(by, "PreVote") {
			reached++
		}
	}
	require.Greater(t, reached, 10)
}
