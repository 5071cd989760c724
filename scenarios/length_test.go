package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnEventAllocatesNothing: in steady state, behind logs of two lengths and with all invariants on, next to nothing is allocated: what
// grows doubles, and messages and observations come in chunks.
func TestAnEventAllocatesNothing(t *testing.T) {
	for _, records := range []int64{1_000, 8_000} {
		var w window
		s := newSteady(3, 0, nil, phase{name: "the log grows", until: untilAll(records)},
			phase{name: "the window", do: w.opens, until: untilAll(records + windowRecords)}, phase{name: "the end", do: w.closes})
		s.run(t)
		s.run(t) // what the first run needed is there
		require.Less(t, w.mallocs, uint64(w.events)/200, "of %d events", w.events)
	}
}
