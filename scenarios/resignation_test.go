package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestNoNeedlessResignation: each cause for which a leader resigns, and what is none.
func TestNoNeedlessResignation(t *testing.T) {
	leads := func(x *prompt, h *sim.Host) {
		x.resignation.shown(h, &raft.Event{Kind: raft.RoleChanged, Role: raft.Leader, Epoch: askedEpoch})
	}
	passes := func(x *prompt, h *sim.Host, percent int64) {
		x.resignation.turnNs[h.Index()] += x.c.timeouts.fetch * million / 100 * percent
	}
	fetches := func(x *prompt, h, from *sim.Host) {
		key := raft.ReplicaKey{ID: x.c.hosts[from.Index()].nodeID, DirectoryID: x.c.hosts[from.Index()].directoryID}
		x.resignation.shown(h, &raft.Event{Kind: raft.FetchAccepted, Role: raft.Leader, Epoch: askedEpoch, Peer: key})
	}
	resigns := func(x *prompt, h, to *sim.Host) {
		x.OnSend(h, to, &raft.EndQuorumEpochRequest{LeaderEpoch: askedEpoch})
	}
	for _, c := range []struct {
		name, evidence string // "": nothing is wrong
		scene          func(x *prompt, me, other *sim.Host)
	}{
		{"at once", "without-cause", func(x *prompt, me, other *sim.Host) { leads(x, me); resigns(x, me, other) }},
		{"before its time is over", "without-cause", func(x *prompt, me, other *sim.Host) { leads(x, me); passes(x, me, 130); resigns(x, me, other) }},
		{"nobody fetched", "", func(x *prompt, me, other *sim.Host) { leads(x, me); passes(x, me, 150); resigns(x, me, other) }},
		{"its majority fetches", "without-cause", func(x *prompt, me, other *sim.Host) {
			leads(x, me)
			for range 4 {
				passes(x, me, 60)
				fetches(x, me, other)
			}
			resigns(x, me, other)
		}},
		{"its majority fetched once, after another time", "", func(x *prompt, me, other *sim.Host) {
			leads(x, me)
			passes(x, me, 100)
			fetches(x, me, other)
			passes(x, me, 149)
			resigns(x, me, other)
		}},
		{"only an observer fetches", "", func(x *prompt, me, other *sim.Host) {
			leads(x, me)
			for range 4 {
				passes(x, me, 60)
				fetches(x, me, x.c.w.Hosts()[len(x.c.w.Hosts())-1])
			}
			resigns(x, me, other)
		}},
		{"it shuts down", "", func(x *prompt, me, other *sim.Host) {
			leads(x, me)
			x.left(me)
			resigns(x, me, other)
			x.leaving[me.Index()] = leavingSince{}
		}},
		{"its controller renounces", "", func(x *prompt, me, other *sim.Host) {
			leads(x, me)
			x.resignation.renounced(me)
			resigns(x, me, other)
		}},
		{"clocks jump", "", func(x *prompt, me, other *sim.Host) { leads(x, me); x.fastPpm = -1; resigns(x, me, other) }},
		{"told again", "", func(x *prompt, me, other *sim.Host) {
			leads(x, me)
			passes(x, me, 150)
			resigns(x, me, other)
			passes(x, me, -150)
			resigns(x, me, other)
		}},
		{"of a former life", "", func(x *prompt, me, other *sim.Host) {
			leads(x, me)
			x.resignation.lead[me.Index()].boot--
			resigns(x, me, other)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { stage(t, c.evidence, noNeedlessResignation.Name, c.scene) })
	}
}

// TestRemovedLeaderStays: a leader that is no voter resigns when that is committed.
func TestRemovedLeaderStays(t *testing.T) {
	for _, c := range []struct {
		beyond   int64 // how far the high watermark is behind the voter set
		evidence string
	}{{1, ""}, {0, "removal-not-committed"}} {
		r := runStaged(t, func(k *sim.Catalogue) sim.Scenario {
			return &askingTwice{scenario: k.Scenario("raft/dynamic-3").(*scenario), scene: func(x *prompt, me, other *sim.Host) {
				var observer *sim.Host
				for i, h := range x.c.w.Hosts() {
					if x.c.hosts[i].kind == kindBroker && h.Up() {
						observer = h
					}
				}
				require.NotNil(t, observer)
				x.fastPpm = 0
				x.resignation.shown(observer, &raft.Event{Kind: raft.RoleChanged, Role: raft.Leader, Epoch: askedEpoch})
				x.resignation.shown(observer, &raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: askedEpoch,
					Offset: nodeOf(observer).replica.VotersOffset() + c.beyond})
				x.OnSend(observer, other, &raft.EndQuorumEpochRequest{LeaderEpoch: askedEpoch})
			}}
		})
		if c.evidence == "" {
			require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
			continue
		}
		require.Equal(t, plan.Violation, r.Verdict.Outcome)
		require.Equal(t, noNeedlessResignation.Name, r.Verdict.Broken[0].Invariant)
		require.Equal(t, c.evidence, r.Verdict.Broken[0].Evidence)
	}
}

// TestOwnListeners: what a replica says of where it listens is what it was configured with.
func TestOwnListeners(t *testing.T) {
	own := func(x *prompt, me *sim.Host) []voters.Endpoint { return x.configured[me.Index()].list }
	moved := []voters.Endpoint{{Name: "CONTROLLER", Host: "elsewhere", Port: 1}}
	for _, c := range []struct {
		name, evidence string // "": nothing is wrong
		scene          func(x *prompt, me, other *sim.Host)
	}{
		{"its own", "", func(x *prompt, me, other *sim.Host) {
			require.NotEmpty(t, own(x, me))
			x.OnSend(me, other, &raft.BeginQuorumEpochRequest{LeaderEpoch: askedEpoch, LeaderEndpoints: own(x, me)})
			x.OnSend(me, other, &raft.UpdateRaftVoterRequest{CurrentLeaderEpoch: askedEpoch, Listeners: own(x, me)})
		}},
		{"a version without listeners", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, &raft.BeginQuorumEpochRequest{LeaderEpoch: askedEpoch})
		}},
		{"another address", "listeners", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, &raft.BeginQuorumEpochRequest{LeaderEpoch: askedEpoch, LeaderEndpoints: moved})
		}},
		{"none", "listeners", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, &raft.UpdateRaftVoterRequest{CurrentLeaderEpoch: askedEpoch})
		}},
		{"one too many", "listeners", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, &raft.AddRaftVoterRequest{VoterID: x.c.hosts[me.Index()].nodeID, Listeners: append(moved, own(x, me)...)})
		}},
		{"of another replica", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, &raft.AddRaftVoterRequest{VoterID: 99, Listeners: moved})
		}},
		{"configured in a former life", "", func(x *prompt, me, other *sim.Host) {
			x.configured[me.Index()].boot--
			x.OnSend(me, other, &raft.UpdateRaftVoterRequest{CurrentLeaderEpoch: askedEpoch, Listeners: moved})
		}},
	} {
		t.Run(c.name, func(t *testing.T) { stage(t, c.evidence, ownListeners.Name, c.scene) })
	}
}
