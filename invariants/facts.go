package invariants

import (
	"bytes"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// factKind says what a record that matters here is; all other records are no facts.
type factKind uint8

const (
	factVersion      factKind = iota + 1 // FeatureLevelRecord of metadata.version: number is the level
	factFeature                          // FeatureLevelRecord of another feature
	factClusterID                        // ClusterIdRecord: number is the text
	factBegin                            // BeginTransactionRecord: number 1 when its name is that of the bootstrap
	factEnd                              // EndTransactionRecord
	factAbort                            // AbortTransactionRecord
	factLeaderChange                     // number is the leader, set the voters it lists, other those that granted
	factKRaftVersion                     // number is the level
	factVoters                           // number is the voter set, set the roster
	factForeign                          // ConfigRecord that a client of another cluster wrote
)

// fact is what the checkers need of one record.
type fact struct {
	offset int64
	number int32
	set    int32
	other  int32
	kind   factKind
}

// bootstrapTransaction is the name that Kafka gives the transaction of the bootstrap records (metadata-bootstrap 3.3).
const bootstrapTransaction = "Bootstrap records"

// metadataVersion is the feature that gates records.
const metadataVersion = "metadata.version"

// decode appends the facts of a batch. Records that do not decode are no facts: whoever replays them stops.
func (l *ledger) decode(b record.Batch) {
	if b.RecordCount() <= 0 || int32(len(b)) <= record.BatchOverhead {
		return
	}
	var r record.Record
	control := b.IsControl()
	for l.records.Reset(b); l.records.Next(&r); {
		if control {
			l.decodeControl(&r)
		} else {
			l.decodeData(&r)
		}
	}
}

// decodeData looks at the key before it decodes: of most logs most records are no-ops.
func (l *ledger) decodeData(r *record.Record) {
	if len(r.Value) < 3 || r.Value[0] != 1 || int16(r.Value[1]) == records.NoOpRecordKey {
		return
	}
	x, _, err := records.Decode(r.Value)
	if err != nil {
		return
	}
	l.edit(x)
	f := fact{offset: r.Offset, set: noSet}
	switch m := x.(type) {
	case *records.FeatureLevelRecord:
		f.kind, f.number = factFeature, int32(m.FeatureLevel)
		if m.Name == metadataVersion {
			f.kind = factVersion
		}
	case *records.BeginTransactionRecord:
		f.kind = factBegin
		if m.Name != nil && *m.Name == bootstrapTransaction {
			f.number = 1
		}
	case *records.EndTransactionRecord:
		f.kind = factEnd
	case *records.AbortTransactionRecord:
		f.kind = factAbort
	case *records.ClusterIdRecord:
		f.kind, f.number = factClusterID, l.text(m.ClusterId)
	case *records.ConfigRecord:
		if l.foreign == nil || m.Value == nil || !l.foreign(m.Name, *m.Value) {
			return
		}
		f.kind = factForeign
	default:
		return
	}
	l.facts = append(l.facts, f)
}

// votersBytes is a VotersRecord as it is written, with the numbers of what it says.
type votersBytes struct {
	bytes       []byte
	set, roster int32
}

// votersIn decodes a VotersRecord, nil if it does not decode. Each snapshot and many a batch repeat one of a few, which are decoded once.
func (l *ledger) votersIn(value []byte) *votersBytes {
	for i := range l.voters {
		if bytes.Equal(l.voters[i].bytes, value) {
			return &l.voters[i]
		}
	}
	var m record.VotersRecord
	if m.Decode(value) != nil {
		return nil
	}
	if len(l.voters) == mostVoterRecords { // damaged or endlessly changing: the latest ones do
		l.voters = l.voters[:0]
	}
	l.voters = append(l.voters, votersBytes{bytes.Clone(value), l.setOfVoters(&m), l.rosterOf(&m)})
	return &l.voters[len(l.voters)-1]
}

// mostVoterRecords bounds how many VotersRecords are kept as bytes.
const mostVoterRecords = 64

func (l *ledger) decodeControl(r *record.Record) {
	t, err := record.ParseControlKey(r.Key)
	if err != nil {
		return
	}
	f := fact{offset: r.Offset, set: noSet}
	switch t {
	case record.LeaderChange:
		var m record.LeaderChangeMessage
		if m.Decode(r.Value, 0) != nil {
			return
		}
		f.kind, f.number = factLeaderChange, m.LeaderID
		f.set, f.other = l.setOfLeaderChange(m.Voters), l.setOfLeaderChange(m.GrantingVoters)
	case record.KRaftVersion:
		var m record.KRaftVersionRecord
		if m.Decode(r.Value) != nil {
			return
		}
		f.kind, f.number = factKRaftVersion, int32(m.KRaftVersion)
	case record.KRaftVoters:
		known := l.votersIn(r.Value)
		if known == nil {
			return
		}
		f.kind, f.number, f.set = factVoters, known.set, known.roster
	default:
		return
	}
	l.facts = append(l.facts, f)
}
