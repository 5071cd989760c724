package controller

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// heartbeats is what only the active controller knows of brokers, and forgets when it renounces: when it heard of each, how far
// its metadata is, and since which offset it is shutting down (7.5). Whether a broker is fenced is in the image alone.
type heartbeats struct {
	sessions sessions
	checkNs  int64  // of the next fence check, noDeadline while inactive
	list     []beat // ascending by broker
}

// beat is what one registration has reported. Another registration of the broker, by the same incarnation too, begins anew.
type beat struct {
	broker         int32
	registeredAt   int64
	metadataOffset int64 // -1 as long as it has reported none
	shutdownOffset int64 // -1 unless it is in controlled shutdown
}

// reset forgets everything.
func (h *heartbeats) reset() {
	*h = heartbeats{checkNs: noDeadline, list: h.list[:0], sessions: sessions{list: h.sessions.list[:0]}}
}

// activate gives each unfenced broker one full session: a new active controller doesn't know when it was heard of.
func (h *heartbeats) activate(nowNs, timeoutNs int64, img *image.Image) {
	h.reset()
	if timeoutNs == 0 {
		return
	}
	h.sessions.timeoutNs = timeoutNs
	for b := range img.Brokers() {
		if !b.Fenced {
			h.sessions.touch(nowNs, b.ID, b.Epoch)
		}
	}
	h.scheduleCheck(nowNs)
}

func (h *heartbeats) scheduleCheck(nowNs int64) { h.checkNs = nowNs + max(1, h.sessions.timeoutNs/8) }

// of returns what a registration has reported, at first nothing. Valid until the next call.
func (h *heartbeats) of(broker int32, registeredAt int64) *beat {
	at, found := slices.BinarySearchFunc(h.list, broker, func(b beat, id int32) int { return cmp.Compare(b.broker, id) })
	if !found {
		h.list = slices.Insert(h.list, at, beat{})
	}
	b := &h.list[at]
	if !found || b.registeredAt != registeredAt {
		*b = beat{broker: broker, registeredAt: registeredAt, metadataOffset: -1, shutdownOffset: -1}
	}
	return b
}

func (h *heartbeats) appendTo(buf []byte) []byte {
	buf = h.sessions.appendTo(record.AppendInt64(buf, h.checkNs))
	buf = record.AppendInt32(buf, int32(len(h.list)))
	for at := range h.list {
		b := &h.list[at]
		buf = record.AppendInt64(record.AppendInt32(buf, b.broker), b.registeredAt)
		buf = record.AppendInt64(record.AppendInt64(buf, b.metadataOffset), b.shutdownOffset)
	}
	return buf
}

// Contact notes that a heartbeat of a broker incarnation has arrived. It is for the lane that takes requests from the network, which
// calls it before it queues the heartbeat; on an inactive controller it does nothing.
func (c *Controller) Contact(nowNs int64, broker int32, epoch int64) {
	if c.Active() && c.cfg.BrokerSessionTimeoutNs > 0 {
		c.brokers.sessions.touch(nowNs, broker, epoch)
	}
}

// registeredBroker returns the registration of exactly that incarnation; otherwise the operation fails (7.5).
func (c *Controller) registeredBroker(id int32, epoch int64) *image.Broker {
	b := c.timeline.image.Broker(id)
	switch {
	case b == nil:
		c.outcome.fail(StaleBrokerEpoch, fmt.Sprintf("broker %d is not registered", id))
		return nil
	case b.Epoch != epoch:
		c.outcome.fail(StaleBrokerEpoch, fmt.Sprintf("broker %d has epoch %d, the request %d", id, b.Epoch, epoch))
		return nil
	}
	return b
}

// beatOf is what the current registration of a broker has reported. One that is fenced has left controlled shutdown: its next
// heartbeat lets it go at once.
func (c *Controller) beatOf(b *image.Broker) *beat {
	beat := c.brokers.of(b.ID, c.timeline.registered.offset(b.ID))
	if b.Fenced {
		beat.shutdownOffset = -1
	}
	return beat
}

// decideHeartbeat takes a broker from one state to the next.
func (c *Controller) decideHeartbeat(_ int64, h *BrokerHeartbeat) {
	c.outcome.atomic = false
	b := c.registeredBroker(h.BrokerID, h.BrokerEpoch)
	if b == nil {
		return
	}
	lowest := c.lowestActiveOffset() // looks at what others have reported, which moves the list that beat points into
	beat := c.beatOf(b)
	s := standing{registeredAt: beat.registeredAt, shutdownOffset: beat.shutdownOffset, lowestActive: lowest, leads: h.WantShutDown && c.leads(b.ID)}
	switch {
	case b.Fenced:
		s.current = stateFenced
	case beat.shutdownOffset >= 0:
		s.current = stateControlledShutdown
	default:
		s.current = stateUnfenced
	}
	next := s.next(h)
	if next != s.current {
		switch next {
		case stateFenced, stateShutdownNow:
			c.fenceRecords(b)
		case stateUnfenced:
			c.unfenceRecords(b, h.OfflineLogDirs)
		case stateControlledShutdown:
			c.shutdownRecords(b)
		}
	}
	beat.metadataOffset = h.CurrentMetadataOffset
	c.directoryRecords(b, h)
	c.outcome.broker = BrokerReply{
		BrokerEpoch: b.Epoch, IsCaughtUp: h.CurrentMetadataOffset >= beat.registeredAt, IsFenced: next.isFenced(),
		InControlledShutdown: next == stateControlledShutdown, ShouldShutDown: next == stateShutdownNow,
	}
}

// heartbeatWritten notes, once, the offset by which a broker entered controlled shutdown: all active brokers must have seen what
// that write changed before it may go. A heartbeat that had nothing left to write takes the last offset there is.
func (c *Controller) heartbeatWritten(h *BrokerHeartbeat) {
	b := c.timeline.image.Broker(h.BrokerID)
	if !c.outcome.broker.InControlledShutdown || b == nil {
		return
	}
	if beat := c.beatOf(b); beat.shutdownOffset < 0 {
		beat.shutdownOffset = c.nextWrite - 1
	}
}

// lowestActiveOffset is the metadata offset of the slowest broker that is neither fenced nor shutting down.
func (c *Controller) lowestActiveOffset() int64 {
	lowest := noActiveBroker
	for b := range c.timeline.image.Brokers() {
		if !b.Active() {
			continue
		}
		if beat := c.beatOf(b); beat.shutdownOffset < 0 {
			lowest = min(lowest, beat.metadataOffset)
		}
	}
	return lowest
}

// directoryRecords adds what a heartbeat says of the broker's log directories, at the levels that have it: those that went offline
// are none of the registration's any more (KIP-858, metadata.version 17), and the cordoned ones are as it says (30).
func (c *Controller) directoryRecords(b *image.Broker, h *BrokerHeartbeat) {
	level := c.timeline.image.MetadataVersion()
	if level >= 17 && len(h.OfflineLogDirs) > 0 {
		online := make([]record.UUID, 0, len(b.LogDirs))
		for _, dir := range b.LogDirs {
			if !slices.Contains(h.OfflineLogDirs, dir) {
				online = append(online, dir)
			}
		}
		if len(online) < len(b.LogDirs) && len(online) > 0 {
			slices.SortStableFunc(online, compareUUIDs)
			c.outcome.records = append(c.outcome.records, &records.BrokerRegistrationChangeRecord{
				BrokerId: b.ID, BrokerEpoch: b.Epoch, LogDirs: online,
			})
		}
		c.partitionsOffDirectories(b, h.OfflineLogDirs)
	}
	if level >= 30 && h.CordonedLogDirs != nil && !slices.Equal(h.CordonedLogDirs, b.CordonedLogDirs) {
		c.outcome.records = append(c.outcome.records, &records.BrokerRegistrationChangeRecord{
			BrokerId: b.ID, BrokerEpoch: b.Epoch, CordonedLogDirs: h.CordonedLogDirs,
		})
	}
}

func compareUUIDs(a, b record.UUID) int { return slices.Compare(a[:], b[:]) }
