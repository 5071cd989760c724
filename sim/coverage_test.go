package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A combination is kept once, however often it is met, and the table holds as many as it says.
func TestCoverageKeepsEachOnce(t *testing.T) {
	c := &coverage{table: make([]uint32, coverageSize)}
	for range 2 {
		for i := range uint32(1000) {
			c.add(i*coverageSize, "") // all in one slot of the table
		}
	}
	require.Len(t, c.found, 1000)
	for i := range uint32(2 * coverageSize) {
		c.add(i*2654435761, "kill")
	}
	require.Len(t, c.found, mostCovered)
}
