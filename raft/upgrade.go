package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// versionUpgrade is a leader's way from kraft.version 0 to 1 (kraft-protocol 5.7). It is in one of three states: voters
// set, as long as the version is 0; version set, from the call that schedules the upgrade on; neither, for a leader that
// began at version 1.
type versionUpgrade struct {
	// voters is the static voter set as the upgrade would write it: the leader's own entry and those of the voters that
	// have told it theirs are complete, the others have neither directory id nor range.
	voters  *voters.Set
	version int16 // scheduled; 0: none
}

// newVersionUpgrade is the state of a leader that begins.
func (r *Replica) newVersionUpgrade() versionUpgrade {
	if r.control.kraftVersion() >= 1 {
		return versionUpgrade{}
	}
	set, ok := r.control.voters().UpdateIgnoringDirectoryID(r.localVoter())
	if !ok {
		return versionUpgrade{}
	}
	return versionUpgrade{voters: set}
}

// UpgradeKRaftVersion raises kraft.version while the quorum runs, or, with validateOnly, says whether it could. A success
// means that the records are scheduled or were there before; whoever wants to know of their commit appends a record of
// its own behind them. KRaftVersion reports the new version at once. ErrNotLeader: this replica does not lead that epoch;
// ErrFutureEpoch: the epoch is ahead; ErrInvalidUpdateVersion: a downgrade, another upgrade under way, or a voter that
// does not support the version or has not told yet; ErrVoterSet is fatal.
func (r *Replica) UpgradeKRaftVersion(epoch int32, version int16, validateOnly bool) error {
	l, ok := r.role.(*leader)
	switch {
	case !ok || r.done || epoch < l.epoch:
		return ErrNotLeader
	case epoch > l.epoch:
		return ErrFutureEpoch
	case l.upgrade.version == version && version != 0:
		return nil
	case l.upgrade.version != 0:
		return fmt.Errorf("%w: an upgrade to %d is under way", ErrInvalidUpdateVersion, l.upgrade.version)
	}
	persisted := r.control.kraftVersion()
	if persisted == version {
		return nil
	}
	if persisted > version {
		return fmt.Errorf("%w: from %d back to %d", ErrInvalidUpdateVersion, persisted, version)
	}
	if err := r.checkUpgrade(l, version); err != nil || validateOnly {
		return err
	}
	r.scheduleUpgrade(l, version)
	return nil
}

// checkUpgrade looks at every voter (5.7 rows 7 to 9).
func (r *Replica) checkUpgrade(l *leader, version int16) error {
	set, persisted := l.upgrade.voters, r.control.voters()
	if set == nil { // the epoch began at version 1, beyond which there is none to go to
		return fmt.Errorf("%w: to %d", ErrInvalidUpdateVersion, version)
	}
	if !sameIDs(set, persisted) {
		return fmt.Errorf("%w: the voters in memory are not the static ones", ErrVoterSet)
	}
	for i := int32(0); i < set.Len(); i++ {
		v := set.At(i)
		if !v.SupportsKRaftVersion(version) {
			return fmt.Errorf("%w: voter %d supports %d to %d%s", ErrInvalidUpdateVersion, v.ID, v.MinKRaftVersion, v.MaxKRaftVersion, untold(v))
		}
		if !v.HasDirectoryID() {
			return fmt.Errorf("%w: voter %d has no directory id", ErrVoterSet, v.ID)
		}
	}
	return nil
}

// untold explains the range 0 to 0: software without kraft.version has it, and so has every voter that did not tell the leader of this
// epoch its range yet, which takes twice its fetch timeout.
func untold(v *voters.Voter) string {
	if v.MaxKRaftVersion > 0 {
		return ""
	}
	return ", or has not told this leader otherwise yet (ask again after twice the fetch timeout)"
}

// sameIDs reports whether two sets have the same ids.
func sameIDs(a, b *voters.Set) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := int32(0); i < a.Len(); i++ {
		if a.At(i).ID != b.At(i).ID {
			return false
		}
	}
	return true
}

// scheduleUpgrade puts version and voters into the accumulator, in one batch: whoever has one has the other.
func (r *Replica) scheduleUpgrade(l *leader, version int16) {
	versionRecord := record.KRaftVersionRecord{KRaftVersion: version}
	votersRecord := l.upgrade.voters.Record()
	var batch record.Builder
	batch.Reset(nil, record.BatchSpec{
		BaseOffset: l.accumulator.nextOffset, LeaderEpoch: l.epoch, TimestampMs: r.nowMs, Control: true,
	})
	batch.AddControl(record.KRaftVersion, versionRecord.AppendTo(nil))
	batch.AddControl(record.KRaftVoters, votersRecord.AppendTo(nil))
	l.accumulator.appendControl(batch.Finish(), 2)
	l.upgrade = versionUpgrade{version: version}
	r.wake()
}

// appendTo appends canonical bytes.
func (u *versionUpgrade) appendTo(buf []byte) []byte {
	return record.AppendInt16(u.voters.AppendTo(buf), u.version)
}
