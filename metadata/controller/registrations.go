package controller

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// registrations says where the last RegisterBrokerRecord of each broker stands in the log, ascending by id. A broker is
// unfenced when its metadata has reached that offset (7.5). It is not the broker's epoch: records of the former incarnation's
// shutdown stand before it, and an incarnation that registers again keeps its epoch. A value is never written to, so the
// moments of a timeline share it.
type registrations []registeredAt

type registeredAt struct {
	broker int32
	offset int64
}

func (rs registrations) find(broker int32) (at int, found bool) {
	return slices.BinarySearchFunc(rs, broker, func(r registeredAt, broker int32) int { return int(r.broker) - int(broker) })
}

// offset returns where the broker's registration stands, -1 if there is none.
func (rs registrations) offset(broker int32) int64 {
	if at, found := rs.find(broker); found {
		return rs[at].offset
	}
	return -1
}

// after returns what there is after record r at offset.
func (rs registrations) after(offset int64, r records.Record) registrations {
	switch m := r.(type) {
	case *records.RegisterBrokerRecord:
		next := slices.Clone(rs)
		at, found := next.find(m.BrokerId)
		if found {
			next[at].offset = offset
			return next
		}
		return slices.Insert(next, at, registeredAt{broker: m.BrokerId, offset: offset})
	case *records.UnregisterBrokerRecord:
		if at, found := rs.find(m.BrokerId); found {
			return slices.Delete(slices.Clone(rs), at, at+1)
		}
	}
	return rs
}

func (rs registrations) appendTo(buf []byte) []byte {
	buf = record.AppendInt32(buf, int32(len(rs)))
	for _, r := range rs {
		buf = record.AppendInt64(record.AppendInt32(buf, r.broker), r.offset)
	}
	return buf
}
