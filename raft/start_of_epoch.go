package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
)

// appendStartOfEpoch puts the first batch of a new epoch into the accumulator (3.2): the leader change, and once
// kraft.version is 1 also version and voters if the replicated log does not have them yet (the bootstrap checkpoint is
// never replicated) or has this replica with other listeners or versions.
func (r *Replica) appendStartOfEpoch(l *leader, grantingIDs []int32) error {
	change := record.LeaderChangeMessage{LeaderID: r.cfg.NodeID}
	set := r.control.voters()
	for i := int32(0); i < set.Len(); i++ {
		change.Voters = append(change.Voters, record.LeaderChangeVoter{VoterID: set.At(i).ID})
	}
	for _, id := range grantingIDs {
		change.GrantingVoters = append(change.GrantingVoters, record.LeaderChangeVoter{VoterID: id})
	}
	var batch record.Builder
	batch.Reset(nil, record.BatchSpec{
		BaseOffset: l.epochStartOffset, LeaderEpoch: l.epoch, TimestampMs: r.nowMs, Control: true,
	})
	batch.AddControl(record.LeaderChange, change.AppendTo(nil, 0))
	if version := r.control.kraftVersion(); version >= 1 {
		if r.control.votersOffset() == NoVotersInLog {
			return fmt.Errorf("%w: kraft.version %d without a voter set", ErrQuorumState, version)
		}
		self := r.localVoter()
		if r.control.votersOffset() == -1 || set.NeedsUpdate(&self) {
			updated, ok := set.Update(self)
			if !ok {
				return fmt.Errorf("%w: leader %d is not in its own voter set", ErrIllegalTransition, self.ID)
			}
			versionRecord := record.KRaftVersionRecord{KRaftVersion: version}
			votersRecord := updated.Record()
			batch.AddControl(record.KRaftVersion, versionRecord.AppendTo(nil))
			batch.AddControl(record.KRaftVoters, votersRecord.AppendTo(nil))
		}
	}
	n := int64(batch.Count())
	l.accumulator.appendControl(batch.Finish(), n)
	return nil
}
