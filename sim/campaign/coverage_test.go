package campaign

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/stretchr/testify/require"
)

// runs are runs that come to combinations out of a space of so many.
func runs(n, space int, faults ...string) []sim.Result {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]sim.Result, n)
	for i := range list {
		list[i].Workload = "append"
		for range 40 {
			k := r.IntN(space)
			list[i].Coverage = append(list[i].Coverage, sim.Covered{State: uint32(uint64(k+1) * 0x9e3779b97f4a7c15 >> 32), Fault: faults[k%len(faults)]})
		}
	}
	return list
}

// What is kept does not depend on how the seeds were cut into batches, in which order these come, or whether they went through JSON.
func TestCoverageMergesAlikeInAnyOrder(t *testing.T) {
	for _, space := range []int{100, 500, 30_000} {
		all := runs(400, space, "", "kill", "cut")
		whole := &Coverage{}
		for i := range all {
			whole.add(uint64(i)+7, &all[i])
		}
		want, err := json.Marshal(whole)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(3, 4))
		for range 5 {
			parts := make([]*Coverage, 9)
			for i := range parts {
				parts[i] = &Coverage{}
			}
			for i := range all {
				parts[r.IntN(len(parts))].add(uint64(i)+7, &all[i])
			}
			merged := &Coverage{}
			for _, p := range parts {
				data, err := json.Marshal(p)
				require.NoError(t, err)
				again := &Coverage{}
				require.NoError(t, json.Unmarshal(data, again))
				merged.merge(again)
			}
			got, err := json.Marshal(merged)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		}
	}
}

func TestCoverageCounts(t *testing.T) {
	c := &Coverage{}
	for i, r := range runs(1000, 400, "", "kill") {
		c.add(uint64(i), &r)
	}
	s := c.summary()
	require.True(t, s.Exact)
	require.Equal(t, int64(400), s.Combinations)
	require.Equal(t, []CoverageCell{{"", "append", 200}, {"kill", "append", 200}}, s.Cells)
	require.Zero(t, s.New[Tenths-1], "everything was met long before")
	require.Zero(t, s.LastTenth())

	c = &Coverage{}
	for i, r := range runs(2000, 20_000, "", "kill") {
		c.add(uint64(i), &r)
	}
	s = c.summary()
	require.False(t, s.Exact)
	require.InEpsilon(t, 19_640, s.Combinations, 0.12, "20,000 less those that 80,000 draws miss")
	require.Len(t, s.Cells, 2)
	total := int64(0)
	for _, n := range s.New {
		total += n
	}
	require.InDelta(t, s.Combinations, total, Tenths)
	require.Greater(t, s.New[0], 3*s.New[Tenths-1])
	require.Nil(t, (&Coverage{}).summary())
}

func TestCoverageOfDamagedJSON(t *testing.T) {
	for _, text := range []string{`{"from":1,"to":2,"cells":[{"points":"***"}]}`, `{"from":1,"to":2,"cells":[{"points":"AAAA"}]}`, `[]`} {
		require.Error(t, json.Unmarshal([]byte(text), &Coverage{}))
	}
}

func FuzzCoverageJSON(f *testing.F) {
	f.Add([]byte(`{"cut":9,"from":1,"to":2,"cells":[{"fault":"kill","points":"AQAAAAAAAAA="}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &Coverage{}
		if json.Unmarshal(data, c) != nil {
			return
		}
		first, err := json.Marshal(c)
		require.NoError(t, err)
		again := &Coverage{}
		require.NoError(t, json.Unmarshal(first, again))
		second, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
		again.summary()
	})
}

// The first and the last of ten seeds or more lie in the first and the last tenth; of fewer the last one does.
func TestTenthsOfFewSeeds(t *testing.T) {
	for seeds := uint64(1); seeds <= 200; seeds++ {
		before := uint64(0)
		for nth := range seeds {
			at := tenth(nth, seeds)
			require.GreaterOrEqual(t, at, before)
			before = at
		}
		require.EqualValues(t, Tenths-1, before, seeds)
		if seeds >= Tenths {
			require.Zero(t, tenth(0, seeds), seeds)
		}
	}
}
