package scenarios

import (
	"path"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

// logFacts is what the files of a metadata log say, snapshots and segments together, about versions, ids and voters.
type logFacts struct {
	kraftVersion    int16
	metadataVersion int16 // the last
	clusterIDs      []string
	voterSets       []string // key sets in the order of their offsets, no two neighbours alike
	end             int64
}

// factsOf reads the log on a host's disk, batches below an offset only. It is for the end of a run: it decodes everything.
func (c *cluster) factsOf(h *sim.Host, below int64) (f logFacts) {
	prefix := bootstrap.PartitionPath(c.hosts[h.Index()].metadataDir) + "/"
	h.Volume().Walk(func(name string, data []byte) {
		if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ".checkpoint") {
			f.read(data, below, true)
		}
	})
	h.Volume().Walk(func(name string, data []byte) { // names sort by their first offset
		if strings.HasPrefix(name, prefix) && path.Ext(name) == ".log" {
			f.read(data, below, false)
		}
	})
	return f
}

// read takes in the batches of a file. What does not decode ends it: damage is what invariants are about.
func (f *logFacts) read(data []byte, below int64, snapshot bool) {
	var it record.Iterator
	var r record.Record
	for len(data) > 0 {
		batch, rest, err := record.NextFileBatch(data)
		if err != nil || len(batch) == 0 || batch.Verify() != nil {
			return
		}
		data = rest
		if !snapshot && batch.BaseOffset() >= below {
			return
		}
		if !snapshot {
			f.end = max(f.end, batch.NextOffset())
		}
		for it.Reset(batch); it.Next(&r); {
			if batch.IsControl() {
				f.control(&r)
			} else {
				f.data(r.Value)
			}
		}
	}
}

func (f *logFacts) control(r *record.Record) {
	kind, err := record.ParseControlKey(r.Key)
	if err != nil {
		return
	}
	switch kind {
	case record.KRaftVersion:
		var v record.KRaftVersionRecord
		if v.Decode(r.Value) == nil {
			f.kraftVersion = v.KRaftVersion
		}
	case record.KRaftVoters:
		var v record.VotersRecord
		if v.Decode(r.Value) != nil {
			return
		}
		set := ""
		for i := range v.Voters {
			set += " " + number(int64(v.Voters[i].VoterID)) + "-" + v.Voters[i].VoterDirectoryID.String()
		}
		if n := len(f.voterSets); n == 0 || f.voterSets[n-1] != set {
			f.voterSets = append(f.voterSets, set)
		}
	}
}

func (f *logFacts) data(frame []byte) {
	decoded, _, err := records.Decode(frame)
	if err != nil {
		return
	}
	switch x := decoded.(type) {
	case *records.FeatureLevelRecord:
		if x.Name == features.MetadataVersion {
			f.metadataVersion = x.FeatureLevel
		}
	case *records.ClusterIdRecord:
		f.clusterIDs = append(f.clusterIDs, x.ClusterId)
	}
}
