package scenarios

import (
	"fmt"
	"path"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// voter is one entry of the quorum.
type voter struct {
	nodeID    int32
	host      string
	port      uint16
	directory string // id, "" for none
}

func (v *voter) into(h *plan.Host) {
	h.Params["name"], h.Params["port"] = v.host, number(int64(v.port))
	if v.directory != "" {
		h.Params["directory_id"] = v.directory
	}
}

// quorum is who votes, and the name of the listener they reach each other by.
type quorum struct {
	voters   []voter
	listener string
}

// voters are those of the newest voter set in the tree, else those of the option, else a default.
func (b *fromBuilder) voters(option string) (q quorum, err error) {
	set := b.t.voterSet()
	switch {
	case set != nil && option != "":
		return q, flagError("--voters", "the storage has a voter set of its own: leave the flag out")
	case set != nil:
		q, err = b.stored(set)
	case b.t.log.kraftVersion > 0:
		return q, b.t.refuse(path.Join(b.t.metadataDir(), bootstrap.PartitionDir, b.t.log.file), "voters",
			"kraft.version is %d, but there is no voter set: nobody could be elected", b.t.log.kraftVersion)
	case option != "":
		q, err = b.listed(option)
	default:
		q = quorum{[]voter{b.alone()}, listenerName}
	}
	if err != nil {
		return q, err
	}
	return q, b.t.distinct(q.voters)
}

func flagError(flag, problem string) error {
	return &plan.FieldError{File: flag, Field: "value", Problem: problem}
}

// stored takes the voters of a VotersRecord. A voter without an endpoint of that name can't be reached, as in Kafka.
func (b *fromBuilder) stored(set *record.VotersRecord) (quorum, error) {
	q := quorum{listener: listenerName}
	for i := range set.Voters {
		for k := range set.Voters[i].Endpoints {
			if k == 0 && i == 0 {
				q.listener = set.Voters[i].Endpoints[k].Name
			}
			if set.Voters[i].Endpoints[k].Name == listenerName {
				q.listener = listenerName
			}
		}
	}
	for i := range set.Voters {
		v := &set.Voters[i]
		e := voter{nodeID: v.VoterID, host: fmt.Sprintf("n%d", v.VoterID), port: raftPort}
		if v.VoterDirectoryID != (record.UUID{}) {
			e.directory = v.VoterDirectoryID.String()
		}
		for k := range v.Endpoints {
			if v.Endpoints[k].Name == q.listener {
				e.host, e.port = v.Endpoints[k].Host, v.Endpoints[k].Port
				break
			}
		}
		q.voters = append(q.voters, e)
	}
	if len(q.voters) == 0 {
		return q, b.t.refuse(b.checkpointPath(), "voters", "the voter set is empty: nobody could be elected")
	}
	return q, nil
}

func (b *fromBuilder) checkpointPath() string {
	return path.Join(b.t.metadataDir(), bootstrap.PartitionDir, bootstrap.CheckpointName)
}

// listed takes the voters of --voters: of a static quorum, or of the cluster that a directory formatted for no initial
// controllers is to join.
func (b *fromBuilder) listed(option string) (quorum, error) {
	q := quorum{listener: listenerName}
	static, err := voters.ParseStatic(option, listenerName)
	if err != nil {
		return q, flagError("--voters", err.Error())
	}
	for i := range static.Len() {
		v := static.At(i)
		q.voters = append(q.voters, voter{nodeID: v.ID, host: v.Endpoints[0].Host, port: v.Endpoints[0].Port})
	}
	if len(q.voters) == 0 {
		return q, flagError("--voters", "no voters: give id@host:port, with commas between them")
	}
	return q, nil
}

// alone is the default: a static voter by itself. A directory formatted for no initial controllers finds nobody by itself;
// the simulator gives it a voter to join.
func (b *fromBuilder) alone() voter {
	id := b.t.nodeID
	if b.t.dynamic() {
		id = 1
		if b.t.nodeID == 1 {
			id = 2
		}
	}
	return voter{nodeID: id, host: fmt.Sprintf("n%d", id), port: raftPort}
}

// distinct refuses voters that no network could tell apart.
func (t *storage) distinct(set []voter) error {
	for i := range set {
		for k := range i {
			if set[k].host == set[i].host && set[k].port == set[i].port {
				return t.refuse("", "voters", "voters %d and %d have one address, %s:%d", set[k].nodeID, set[i].nodeID, set[i].host, set[i].port)
			}
			if set[k].nodeID == set[i].nodeID {
				return t.refuse("", "voters", "voter %d is listed twice", set[i].nodeID)
			}
		}
	}
	return nil
}
