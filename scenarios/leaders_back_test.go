package scenarios

import (
	"testing"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// TestFirstShouldLead: who is in sync, active and on a directory that works, and does not lead.
func TestFirstShouldLead(t *testing.T) {
	here, gone := record.UUIDFromHalves(1, 1), record.UUIDFromHalves(2, 2)
	broker := func(fenced, leaving bool) *image.Image {
		var delta image.Delta
		delta.Reset(image.New())
		require.NoError(t, delta.Replay(&records.FeatureLevelRecord{Name: image.MetadataVersion, FeatureLevel: 33}))
		require.NoError(t, delta.Replay(&records.RegisterBrokerRecord{BrokerId: 1, Fenced: fenced, InControlledShutdown: leaving, LogDirs: []record.UUID{here}}))
		return delta.Apply(image.Provenance{})
	}
	up := broker(false, false)
	at := func(leader int32, dir record.UUID, isr ...int32) *image.Partition {
		return &image.Partition{Replicas: []int32{1, 2}, Isr: isr, Leader: leader, Directories: []record.UUID{dir, here}}
	}
	for name, c := range map[string]struct {
		img  *image.Image
		p    *image.Partition
		want bool
	}{
		"it should":          {up, at(2, here, 1, 2), true},
		"it leads":           {up, at(1, here, 1, 2), false},
		"out of sync":        {up, at(2, here, 2), false},
		"nobody leads":       {up, at(image.NoLeader, here, 1), true},
		"directory offline":  {up, at(2, gone, 1, 2), false},
		"directory lost":     {up, at(2, record.DirectoryLost, 1, 2), false},
		"directory unknown":  {up, at(2, record.DirectoryUnassigned, 1, 2), true},
		"fenced":             {broker(true, false), at(2, here, 1, 2), false},
		"shuts down":         {broker(false, true), at(2, here, 1, 2), false},
		"not registered":     {image.New(), at(2, here, 1, 2), false},
		"nobody is assigned": {up, &image.Partition{Leader: image.NoLeader}, false},
	} {
		require.Equal(t, c.want, firstShouldLead(c.img, c.p), name)
	}
}

// TestLeadersGoBack runs the plan of the mutant's capsule: with the task after a failover nothing is overdue, and the checker has looked.
func TestLeadersGoBack(t *testing.T) {
	c := Catalogue()
	capsule, err := plan.ReadCapsuleFile("../testdata/corpus/mutants/KIP-631-balance-ends-with-failover.json", c.Registry)
	require.NoError(t, err)
	v := verdictOf(t, sim.NewEngine(c), capsule.Plan, sim.Options{})
	require.Equal(t, plan.OK, v.Outcome, v.Broken)
	require.Positive(t, v.Evaluated[leadersGoBack.Name])
}
