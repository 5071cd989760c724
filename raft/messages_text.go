package raft

import (
	"strconv"

	"github.com/kraftsim/kraftsim/raft/record"
)

// The String methods of this file are for people who read a trace: one line per message, with what decides its fate and
// nothing else. They allocate, and no protocol code calls them. A field that says nothing is left out: a leader that is not
// known, an error that is none besides the one that the line begins with.

// line is a trace line in the making.
type line []byte

// word appends a word.
func (l *line) word(s string) *line {
	if len(*l) > 0 {
		*l = append(*l, ' ')
	}
	*l = append(*l, s...)
	return l
}

// number appends name=value.
func (l *line) number(name string, value int64) *line {
	l.word(name)
	*l = strconv.AppendInt(append(*l, '='), value, 10)
	return l
}

// known appends name=value, or nothing when the value is -1: absent.
func (l *line) known(name string, value int64) *line {
	if value < 0 {
		return l
	}
	return l.number(name, value)
}

// shape says that the message did not name the metadata partition alone.
func (l *line) shape(h *Header) *line {
	if h.WrongShape {
		l.word("wrong-shape")
	}
	return l
}

// receiver appends whom a request is meant for.
func (l *line) receiver(id int32) *line { return l.known("to", int64(id)) }

// outcome appends a response's error, the top level one with a mark of its own.
func (l *line) outcome(top, partition ErrorCode) *line {
	if top != None {
		return l.word("top:" + codeText(top))
	}
	return l.word(codeText(partition))
}

// leader appends who leads which epoch.
func (l *line) leader(id, epoch int32) *line {
	return l.known("leader", int64(id)).number("epoch", int64(epoch))
}

// records appends how many batches there are and which offsets they span.
func (l *line) records(b []byte) *line {
	if len(b) == 0 {
		return l
	}
	batches, first, last := int64(0), int64(-1), int64(-1)
	rest := b
	for len(rest) > 0 {
		batch, next, err := record.NextBatch(rest)
		if err != nil || len(batch) == 0 {
			break
		}
		if batches == 0 {
			first = batch.BaseOffset()
		}
		batches, last, rest = batches+1, batch.LastOffset(), next
	}
	l.number("batches", batches)
	if batches > 0 {
		*l = strconv.AppendInt(append(*l, " offsets="...), first, 10)
		*l = strconv.AppendInt(append(*l, '-'), last, 10)
	}
	if len(rest) > 0 {
		l.number("cut-bytes", int64(len(rest)))
	}
	return l
}

// codeText is Kafka's name of the code, or its number where raft has no name for it.
func codeText(c ErrorCode) string {
	if s := c.String(); s != "ERROR" {
		return s
	}
	return "ERROR(" + strconv.FormatInt(int64(c), 10) + ")"
}

// String describes the request: "Vote epoch=3 from=1 last=59/2", last being the log end offset and the last epoch;
// "PreVote" for a pre-vote.
func (m *VoteRequest) String() string {
	l := &line{}
	if m.PreVote {
		l.word("PreVote")
	} else {
		l.word("Vote")
	}
	l.shape(&m.Header).number("epoch", int64(m.ReplicaEpoch)).number("from", int64(m.ReplicaID)).receiver(m.VoterID)
	l.number("last", m.LastOffset)
	*l = strconv.AppendInt(append(*l, '/'), int64(m.LastOffsetEpoch), 10)
	return string(*l)
}

// String describes the response: "VoteResponse NONE granted epoch=3".
func (m *VoteResponse) String() string {
	l := (&line{}).word("VoteResponse").shape(&m.Header).outcome(m.ErrorCode, m.PartitionError)
	if m.ErrorCode != None {
		return string(*l)
	}
	if m.VoteGranted {
		l.word("granted")
	} else {
		l.word("rejected")
	}
	return string(*l.leader(m.LeaderID, m.LeaderEpoch))
}

// String describes the request: "BeginQuorumEpoch leader=3 epoch=2 to=1".
func (m *BeginQuorumEpochRequest) String() string {
	l := (&line{}).word("BeginQuorumEpoch").shape(&m.Header).leader(m.LeaderID, m.LeaderEpoch).receiver(m.VoterID)
	return string(*l)
}

// String describes the response: "BeginQuorumEpochResponse NONE leader=3 epoch=2".
func (m *BeginQuorumEpochResponse) String() string {
	return epochResponseText("BeginQuorumEpochResponse", &m.Header, m.ErrorCode, m.PartitionError, m.LeaderID, m.LeaderEpoch)
}

// String describes the request: "EndQuorumEpoch leader=3 epoch=2 successors=1,2".
func (m *EndQuorumEpochRequest) String() string {
	l := (&line{}).word("EndQuorumEpoch").shape(&m.Header).leader(m.LeaderID, m.LeaderEpoch)
	for i, k := range m.PreferredCandidates {
		if i == 0 {
			l.word("successors=")
		} else {
			*l = append(*l, ',')
		}
		*l = strconv.AppendInt(*l, int64(k.ID), 10)
	}
	return string(*l)
}

// String describes the response: "EndQuorumEpochResponse NONE leader=3 epoch=2".
func (m *EndQuorumEpochResponse) String() string {
	return epochResponseText("EndQuorumEpochResponse", &m.Header, m.ErrorCode, m.PartitionError, m.LeaderID, m.LeaderEpoch)
}

func epochResponseText(name string, h *Header, top, partition ErrorCode, leaderID, epoch int32) string {
	l := (&line{}).word(name).shape(h).outcome(top, partition)
	if top != None {
		return string(*l)
	}
	return string(*l.leader(leaderID, epoch))
}

// String describes the request: "Fetch epoch=2 off=59 lastEpoch=1 hw=57 from=2"; without hw when the sender knows none.
func (m *FetchRequest) String() string {
	l := (&line{}).word("Fetch").shape(&m.Header).number("epoch", int64(m.CurrentLeaderEpoch)).number("off", m.FetchOffset)
	l.number("lastEpoch", int64(m.LastFetchedEpoch))
	if m.HighWatermark != HighWatermarkNotSent {
		l.known("hw", m.HighWatermark)
	}
	return string(*l.known("from", int64(m.ReplicaID)))
}

// String describes the response: "FetchResponse NONE leader=3 epoch=2 hw=60 batches=1 offsets=59-59", or with
// "diverging=41/1" (end offset and epoch) or "snapshot=50/2" in place of records.
func (m *FetchResponse) String() string {
	l := (&line{}).word("FetchResponse").shape(&m.Header).outcome(m.ErrorCode, m.PartitionError)
	if m.ErrorCode != None {
		return string(*l)
	}
	l.leader(m.LeaderID, m.LeaderEpoch).known("hw", m.HighWatermark)
	if m.DivergingEpoch.Epoch >= 0 {
		l.point("diverging", m.DivergingEpoch)
	}
	if m.SnapshotID.Epoch >= 0 || m.SnapshotID.Offset >= 0 {
		l.point("snapshot", m.SnapshotID)
	}
	return string(*l.records(m.Records))
}

// point appends name=offset/epoch.
func (l *line) point(name string, o OffsetAndEpoch) {
	l.number(name, o.Offset)
	*l = strconv.AppendInt(append(*l, '/'), int64(o.Epoch), 10)
}
