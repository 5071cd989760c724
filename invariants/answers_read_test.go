package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestReadsBehindADeclaredLoss: a sole voter that loses what it had committed and not flushed writes the offsets again in a later epoch. Reads
// follow what stands there now, and what somebody else still delivers of the lost records changes nothing.
func TestReadsBehindADeclaredLoss(t *testing.T) {
	batch := func(base int64, epoch int32, value string) *raft.Batch {
		frame := records.Append(nil, &records.ConfigRecord{ResourceType: image.BrokerResource, Name: "k", Value: &value}, 0)
		bytes := record.AppendBatch(nil, record.BatchSpec{BaseOffset: base, LeaderEpoch: epoch}, frame)
		return &raft.Batch{BaseOffset: base, LastOffset: base, Epoch: epoch, Bytes: bytes}
	}
	first, lost, longer := batch(0, 1, "a"), batch(1, 1, "b"), batch(2, 1, "c")
	for _, c := range []struct {
		name      string
		delivered []*raft.Batch
		stable    int64
		value     string
	}{
		{"not lost", []*raft.Batch{first, lost}, 1, "b"},
		{"delivered twice", []*raft.Batch{first, lost, first, lost}, 1, "b"},
		{"not yet written again", []*raft.Batch{first, lost, longer}, 0, "a"},
		{"written again", []*raft.Batch{first, lost, longer, batch(1, 2, "d")}, 1, "d"},
		{"from the first offset", []*raft.Batch{first, batch(0, 3, "d"), batch(1, 3, "e")}, 1, "e"},
		{"left over", []*raft.Batch{first, lost, batch(1, 2, "d"), lost, longer, batch(2, 2, "e")}, 2, "e"},
		{"lost twice", []*raft.Batch{first, lost, batch(1, 2, "d"), batch(2, 2, "e"), batch(2, 3, "f")}, 2, "f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, found := answersLab(1)
			for _, b := range c.delivered {
				a.take(b)
			}
			a.at[0].stable = c.stable
			read := func(value string) (evidence string) {
				p := pendingOperation{op: controller.Op{Kind: controller.ReadConfig, Name: "k"}}
				evidence, _ = a.judgeRead(&a.at[0], &p, &controller.Result{Value: value, Found: true})
				return evidence
			}
			require.False(t, a.blind)
			require.Empty(t, read(c.value))
			require.Equal(t, "read", read("another"))
			require.Empty(t, *found)
		})
	}
}
