package raft

import "github.com/kraftsim/kraftsim/raft/record"

// AppendState appends canonical bytes of everything that decides what the replica does next: equal states give equal
// bytes on every machine. The protocol view leaves out absolute times and counters, so that two histories which reach
// the same protocol state are recognised as such.
func (r *Replica) AppendState(buf []byte, protocolView bool) []byte {
	if r.role == nil {
		return append(buf, 0)
	}
	b := r.base()
	buf = append(buf, byte(r.role.kind()))
	buf = record.AppendInt32(record.AppendInt32(buf, b.epoch), b.leaderID)
	buf = appendEndpoints(buf, b.leaderEndpoints)
	buf = record.AppendInt64(appendKey(buf, b.voted), b.highWatermark)
	buf = r.role.appendTo(buf, protocolView)
	buf = record.AppendInt64(record.AppendInt64(buf, r.log.StartOffset()), r.log.EndOffset())
	buf = record.AppendInt32(record.AppendInt64(buf, r.log.FlushedOffset()), r.log.LastEpoch())
	latest, _ := r.log.LatestSnapshot()
	buf = record.AppendInt32(appendOffsetAndEpoch(buf, latest), r.log.Snapshots())
	buf = record.AppendInt64(append(buf, r.offered...), r.logHighWatermark)
	buf = r.control.voters().AppendTo(record.AppendInt64(buf, r.control.votersOffset()))
	buf = r.control.appendTo(record.AppendInt16(buf, r.control.kraftVersion()))
	for _, l := range r.listeners {
		buf = record.AppendInt64(record.AppendInt64(buf, l.nextOffset), l.readerEnd)
		buf = record.AppendInt32(record.AppendInt32(buf, l.announced.Epoch), l.announced.LeaderID)
		if l.leaving {
			buf = record.AppendBool(append(buf, 'u'), l.gone)
		}
	}
	for _, p := range r.channel.peers {
		buf = append(record.AppendInt32(buf, p.id), byte(p.state), byte(p.link))
		if !protocolView {
			buf = record.AppendInt64(record.AppendInt32(buf, p.correlation), p.deadlineMs)
			buf = record.AppendInt32(record.AppendInt64(buf, p.redialMs), p.failures)
			buf = record.AppendInt64(buf, p.silentMs)
		}
	}
	buf = record.AppendInt32(buf, int32(len(r.parked)))
	for i := range r.parked {
		buf = appendKey(buf, ReplicaKey{ID: r.parked[i].request.ReplicaID})
		if !protocolView {
			buf = record.AppendInt64(buf, r.parked[i].deadlineMs)
		}
	}
	buf = record.AppendBool(record.AppendBool(buf, r.shuttingDown), r.done)
	if protocolView {
		return buf
	}
	return record.AppendInt64(record.AppendInt64(buf, r.cleanMs), r.nowMs)
}
