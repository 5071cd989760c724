package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/recordjson"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// What follows serves people who look at a run that was recorded (sim.Catalogue): what the bytes on a disk say, and who is who.

// nodeNumber is sim.Catalogue.NodeOf: the node id that the plan gives a host, else its place, from 1.
func nodeNumber(p *plan.Plan, host int) (node int32, group string, ok bool) {
	h := &p.Hosts[host]
	if h.Kind == kindOperator {
		return 0, "", false
	}
	group = h.Params["cluster"]
	if text := h.Params["node_id"]; text != "" {
		id, err := strconv.ParseInt(text, 10, 32)
		return int32(id), group, err == nil
	}
	return int32(host) + 1, group, true
}

// decodeFile is sim.Catalogue.Decode.
func decodeFile(path string, data []byte) []sim.Decoded {
	name := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".tmp")
	whole := func(text string) []sim.Decoded {
		return []sim.Decoded{{Offset: -1, End: int64(len(data)), Text: text}}
	}
	switch {
	case strings.HasSuffix(name, ".log") && len(name) == len(firstSegment):
		return decodeLog(data)
	case strings.HasSuffix(name, ".checkpoint"):
		units := decodeLog(data)
		if len(units) == 0 {
			return nil
		}
		return whole(fmt.Sprintf("%d records", len(units)))
	case name == "quorum-state":
		state, err := quorumstate.Parse(data)
		if err != nil {
			return nil
		}
		units := whole(electionText(&state))
		units[0].Epoch = state.LeaderEpoch
		return units
	case name == "meta.properties":
		p, err := metaprops.Parse(data, metaprops.V2)
		if err != nil {
			return nil
		}
		return whole(propertiesText(&p))
	}
	return nil
}

func electionText(s *quorumstate.State) string {
	text := fmt.Sprintf("epoch %d", s.LeaderEpoch)
	switch {
	case s.LeaderID >= 0:
		text += fmt.Sprintf(", leader %d", s.LeaderID)
	case s.VotedID >= 0:
		text += fmt.Sprintf(", vote for node %d", s.VotedID)
	default:
		text += ", no vote"
	}
	return text
}

func propertiesText(p *metaprops.Properties) string {
	text := "no cluster id"
	if p.HasClusterID {
		text = "cluster id " + p.ClusterID
	}
	if p.HasNodeID {
		text += fmt.Sprintf(", node %d", p.NodeID)
	}
	if p.HasDirectoryID {
		text += ", directory " + p.DirectoryID.String()
	}
	return text
}

// decodeLog lists the records of whole, sound batches up to the first other one.
func decodeLog(data []byte) (units []sim.Decoded) {
	var it record.Iterator
	end := int64(0)
	for len(data) > 0 {
		batch, rest, err := record.NextFileBatch(data)
		if err != nil || len(batch) == 0 || batch.Verify() != nil {
			return units
		}
		end += int64(len(batch))
		data = rest
		var r record.Record
		for it.Reset(batch); it.Next(&r); {
			units = append(units, sim.Decoded{Offset: r.Offset, Epoch: batch.LeaderEpoch(), End: end, Text: recordText(batch.IsControl(), &r)})
		}
	}
	return units
}

// recordText is a record's name and its content as JSON.
func recordText(control bool, r *record.Record) string {
	if control {
		kind, err := record.ParseControlKey(r.Key)
		if err != nil {
			return "control record that cannot be read"
		}
		text, _, err := recordjson.AppendControl(nil, kind, r.Value)
		if err != nil {
			return kind.String()
		}
		return kind.String() + " " + string(text)
	}
	m, version, err := records.Decode(r.Value)
	if err != nil {
		return "record that cannot be read"
	}
	return m.RecordName() + " " + string(recordjson.Append(nil, m, version))
}
