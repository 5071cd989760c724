package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFlippedOffsetMakesNoTable: an offset far beyond all others, which only damage makes, gets no row, and the tables stay as small as the log;
// whatever follows on the log gets one, however long the log is.
func TestFlippedOffsetMakesNoTable(t *testing.T) {
	var table imageTable
	table.reset()
	require.NotNil(t, table.row(7))
	require.Nil(t, table.row(7+1<<25))
	require.Nil(t, table.row(7+1<<21))
	require.Less(t, len(table.rows), 100)
	for offset := int64(8); offset < 3<<20; offset += 1 << 19 {
		require.NotNil(t, table.row(offset), "%d", offset)
	}

	l := newLab(t, 3, Config{})
	l.node(1).lead(1, 2, 3)
	heads := len(l.core.ledger.heads)
	l.core.ledger.link(0, 1<<25)
	require.Len(t, l.core.ledger.heads, heads)
}
