package controller

import (
	"cmp"
	"slices"

	"github.com/kraftsim/kraftsim/raft/record"
)

// sessions says when each broker incarnation was heard of last, on the monotonic clock. It is the one part of a controller that
// others than its lane write to (7.5): a heartbeat counts from when it arrives, not from when a busy controller gets to it.
type sessions struct {
	timeoutNs int64
	list      []session // ascending by broker, epoch
}

type session struct {
	broker    int32
	epoch     int64
	contactNs int64
}

func (s *sessions) find(broker int32, epoch int64) (at int, found bool) {
	return slices.BinarySearchFunc(s.list, session{broker: broker, epoch: epoch}, func(a, b session) int {
		return cmp.Or(cmp.Compare(a.broker, b.broker), cmp.Compare(a.epoch, b.epoch))
	})
}

// touch notes that an incarnation was heard of.
func (s *sessions) touch(nowNs int64, broker int32, epoch int64) {
	at, found := s.find(broker, epoch)
	if found {
		s.list[at].contactNs = nowNs
		return
	}
	s.list = slices.Insert(s.list, at, session{broker: broker, epoch: epoch, contactNs: nowNs})
}

// valid tells whether an incarnation was heard of lately.
func (s *sessions) valid(nowNs int64, broker int32, epoch int64) bool {
	at, found := s.find(broker, epoch)
	return found && !s.expired(nowNs, &s.list[at])
}

func (s *sessions) expired(nowNs int64, x *session) bool { return nowNs-x.contactNs > s.timeoutNs }

// takeExpired removes the session that expired first, if there is one.
func (s *sessions) takeExpired(nowNs int64) (x session, found bool) {
	oldest := -1
	for at := range s.list {
		if s.expired(nowNs, &s.list[at]) && (oldest < 0 || s.list[at].contactNs < s.list[oldest].contactNs) {
			oldest = at
		}
	}
	if oldest < 0 {
		return session{}, false
	}
	x = s.list[oldest]
	s.list = slices.Delete(s.list, oldest, oldest+1)
	return x, true
}

func (s *sessions) appendTo(buf []byte) []byte {
	buf = record.AppendInt32(buf, int32(len(s.list)))
	for _, x := range s.list {
		buf = record.AppendInt64(record.AppendInt64(record.AppendInt32(buf, x.broker), x.epoch), x.contactNs)
	}
	return buf
}
