package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
)

// Whatever bytes a checkpoint or a committed batch holds, the controller answers with an error or a state that a second
// controller reaches from the same bytes.
func FuzzInput(f *testing.F) {
	entries := []bootstrap.Entry{{Record: level("metadata.version", 34)}, {Record: &records.ClusterIdRecord{ClusterId: "X"}}}
	file := (&bootstrap.Checkpoint{Entries: entries}).AppendTo(nil, bootstrap.Times{})
	f.Add(file, file)
	f.Add(file[:70], file[70:])
	f.Fuzz(func(t *testing.T, checkpoint, batch []byte) {
		var states [2][]byte
		for i := range states {
			n := newGroup(t, 1, config(t, Draft)).nodes[0]
			loaded := n.ctl.HandleLoadBootstrap(0, checkpoint)
			require.True(t, loaded == nil || n.event(BootstrapLoaded) == nil)
			if len(batch) >= 61 {
				_ = n.ctl.HandleCommit(0, []raft.Batch{{LastOffset: 1, Epoch: 1, Bytes: batch}})
			}
			states[i] = n.ctl.AppendState(nil, false)
		}
		require.Equal(t, states[0], states[1])
	})
}
