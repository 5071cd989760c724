package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestForget: what all three logs have deleted is forgotten, and everything goes on as before.
func TestForget(t *testing.T) {
	l := withState(t, false)
	one, two, three := l.node(1), l.node(2), l.node(3)
	all := []*member{one, two, three}
	b := one.noOp(1)
	base := record.Batch(b).BaseOffset()
	for range 3 * forgetAtOnce {
		b = nextBatch(b)
		one.write(b)
	}
	one.flush()
	l.commit(one, 1, 2, 3)
	before := len(l.core.ledger.batches)
	content := stateFile(false).bytes()
	end := one.end
	for i, m := range all {
		m.freeze(end, 1, content, true)
		m.segmentAt(end)
		require.NoError(t, m.files.Rename(testSegment, testSegment+".deleted"))
		if i < 2 {
			require.Len(t, l.core.ledger.batches, before, "somebody holds them still")
		}
	}
	l.clean()
	require.Len(t, l.core.ledger.batches, 1, "the one that ends where the logs start")
	require.Len(t, l.core.exposed.entries, 1)
	require.Len(t, l.core.ledger.heads, int(l.core.ledger.batches[0].base-l.core.ledger.origin)+1)
	require.True(t, l.core.stableAt(base))

	b = one.append(1, config("z", "1"))
	for _, m := range all[1:] {
		m.fetch(one, 1, m.r.watermark)
		m.write(b)
		m.flush()
		m.fetch(one, 1, m.r.watermark)
	}
	one.raise(two, 1, one.end)
	two.freeze(two.end, 1, (&file{epoch: 1, footer: true, values: []records.Record{config("a", "1"), config("z", "1")}}).bytes(), true)
	l.clean()
	two.lead(2, 3)
	l.clean()
	three.noOp(1)
	three.crash(true)
	three.boot()
	l.core.claim(three.r, 3, "role") // holds everything that is committed
	l.clean()
	two.freeze(one.end, 1, content, true)
	l.breaks("snapshot-content/other-state")
}

// TestForgetComesTwice: a host whose deletion a power loss undid has its old batches again.
func TestForgetComesTwice(t *testing.T) {
	l := withState(t, false)
	one := l.node(1)
	c := &l.core
	first, last := one.r.log.entries[0].id, one.r.log.last()
	c.ledger.drop(2)
	require.True(t, c.ledger.forgotten(first))
	require.False(t, c.ledger.forgotten(last))
	require.EqualValues(t, -1, c.ledger.at(first).end)
	require.Equal(t, noBatch, c.ledger.ancestor(last, 1))
	c.reload(one.r)
	l.clean()
	require.Equal(t, last, one.r.log.last())
	require.False(t, c.ledger.forgotten(one.r.log.entries[0].id))
}
