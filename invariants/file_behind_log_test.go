package invariants

import (
	"testing"

	"github.com/kraftsim/kraftsim/raft/record"
)

// TestFileBehindLog: where quorum-state was lost, the log says in which epoch its replica starts.
func TestFileBehindLog(t *testing.T) {
	for _, row := range []struct {
		epoch int32
		want  string
	}{{2, ""}, {3, ""}, {1, "epoch-monotonic/file-behind-log"}} {
		l := dynamicUp(t, 2, Config{})
		l.elect(1, 2)
		two := l.node(2)
		two.r.quorum, two.r.requestEpoch = noQuorumFile, 0
		before := two.r.quorum
		after := quorumFile{found: true, version: 1, leader: -1, epoch: row.epoch, voted: -1}
		l.core.epochWritten(two.r, &before, &after)
		if row.want == "" {
			l.clean()
		} else {
			l.breaks(row.want)
		}
	}
}

// TestVoterWithoutDirectory: a voter set at kraft.version 1 knows the directory of each voter.
func TestVoterWithoutDirectory(t *testing.T) {
	for _, row := range []struct {
		dir  record.UUID
		want string
	}{{record.UUIDFromHalves(1, 2), ""}, {record.UUID{}, "kraft-version/voter-without-directory"}} {
		l := dynamicUp(t, 2, Config{})
		m := votersRecord(1, 2)
		m.Voters[1].VoterDirectoryID = row.dir
		l.node(1).writeVoters(1, m)
		l.node(1).replicate(l.node(2), 1)
		if row.want == "" {
			l.clean()
		} else {
			l.breaks(row.want)
		}
	}
}
