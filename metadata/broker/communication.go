package broker

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/raft/record"
)

// communicate sends what there is to say: at once, or as soon as the answer to the request that is out has come.
func (l *Lifecycle) communicate(nowNs int64) error {
	l.nextNs = nowNs
	return l.Poll(nowNs)
}

// DeadlineNs returns when Poll wants to be called, -1 for not at all.
func (l *Lifecycle) DeadlineNs() int64 {
	next := l.nextNs
	if l.out != nothingOut {
		next = noDeadline
	}
	if l.giveUpNs != noDeadline && (next == noDeadline || l.giveUpNs < next) {
		return l.giveUpNs
	}
	return next
}

// Poll sends what is due. Calls before the deadline do nothing. The error wraps ErrRegistration.
func (l *Lifecycle) Poll(nowNs int64) error {
	if l.giveUpNs != noDeadline && nowNs >= l.giveUpNs {
		return fmt.Errorf("%w: broker %d, incarnation %s", ErrRegistration, l.cfg.BrokerID, l.cfg.IncarnationID)
	}
	if l.out != nothingOut || l.nextNs == noDeadline || nowNs < l.nextNs {
		return nil
	}
	l.nextNs = noDeadline
	if !l.registered {
		l.out = registrationOut
		l.deps.Channel.Register(l.registration())
		return nil
	}
	l.out = heartbeatOut
	l.deps.Channel.Heartbeat(&controller.BrokerHeartbeat{
		BrokerID: l.cfg.BrokerID, BrokerEpoch: l.epoch, CurrentMetadataOffset: l.deps.AppliedOffset(),
		WantFence: !l.ready(), WantShutDown: l.state == PendingControlledShutdown, OfflineLogDirs: l.offline,
	})
	return nil
}

func (l *Lifecycle) registration() *controller.BrokerRegistration {
	r := &controller.BrokerRegistration{
		BrokerID: l.cfg.BrokerID, ClusterID: l.cfg.ClusterID, IncarnationID: l.cfg.IncarnationID, Listeners: l.cfg.Listeners,
		Features: l.cfg.Features, Rack: l.cfg.Rack, PreviousBrokerEpoch: l.cfg.PreviousBrokerEpoch, Version: l.cfg.RequestVersion,
	}
	for _, dir := range l.cfg.LogDirs {
		if !slices.Contains(l.offline, dir) {
			r.LogDirs = append(r.LogDirs, dir)
		}
	}
	slices.SortStableFunc(r.LogDirs, func(a, b record.UUID) int { return slices.Compare(a[:], b[:]) })
	return r
}

// Answered takes what came of the request that is out.
func (l *Lifecycle) Answered(nowNs int64, a *Answer) error {
	was := l.out
	l.out = nothingOut
	if l.state == ShuttingDown {
		return nil
	}
	if a.Lost || a.Code != controller.None {
		l.failures++
		l.schedule(nowNs + l.backoffNs())
		return l.Poll(nowNs)
	}
	l.failures = 0
	switch {
	case was == registrationOut:
		l.epoch, l.registered, l.giveUpNs = a.Reply.BrokerEpoch, true, noDeadline
		return l.communicate(nowNs)
	case !l.registered: // it has to register again, and is about to
		return l.Poll(nowNs)
	}
	return l.heardOf(nowNs, &a.Reply)
}

// heardOf takes the answer to a heartbeat from one state to the next.
func (l *Lifecycle) heardOf(nowNs int64, r *controller.BrokerReply) error {
	switch l.state {
	case Starting:
		if !r.IsCaughtUp {
			break
		}
		l.state, l.caughtUp = Recovery, true
		return l.communicate(nowNs)
	case Recovery:
		if !r.IsFenced {
			l.state = Running
		}
	case PendingControlledShutdown:
		switch {
		case r.ShouldShutDown:
			l.end()
			return nil
		case !l.toldToWait:
			l.toldToWait = true
			l.schedule(nowNs + min(soonNs, l.cfg.HeartbeatIntervalNs))
			return l.Poll(nowNs)
		}
	}
	l.schedule(nowNs + l.cfg.HeartbeatIntervalNs)
	return l.Poll(nowNs)
}

// schedule sets the time of the next request, unless something is to be said earlier.
func (l *Lifecycle) schedule(atNs int64) {
	if l.nextNs == noDeadline || atNs < l.nextNs {
		l.nextNs = atNs
	}
}

// backoffNs doubles with each failure in a row.
func (l *Lifecycle) backoffNs() int64 {
	ns := l.cfg.BackoffNs
	for n := int32(1); n < l.failures && ns < l.cfg.BackoffMaxNs; n++ {
		ns *= 2
	}
	return min(ns, l.cfg.BackoffMaxNs)
}

// AppendState appends the canonical bytes of the state. The protocol view leaves out absolute times.
func (l *Lifecycle) AppendState(buf []byte, protocolView bool) []byte {
	buf = record.AppendInt64(append(buf, byte(l.state), byte(l.out)), l.epoch)
	for _, is := range [...]bool{l.registered, l.caughtUp, l.published, l.toldToWait} {
		buf = record.AppendBool(buf, is)
	}
	buf = record.AppendInt32(record.AppendInt32(record.AppendCompactString(buf, l.cfg.ClusterID), l.failures), int32(len(l.offline)))
	if protocolView {
		return buf
	}
	return record.AppendInt64(record.AppendInt64(buf, l.giveUpNs), l.nextNs)
}
