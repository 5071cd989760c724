package controller

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// cordonedSince is the metadata.version that has cordoned log directories in registrations.
const cordonedSince int16 = 30

// decideBroker is the registration of a broker incarnation: the checks of metadata-bootstrap 5.8 in their order, then the records. An
// incarnation that registers again, for its first answer was lost, keeps what it had. A new one gets an epoch of its own, the
// next offset of the log, which no other registration can have had; what its predecessor left is put in order first.
func (c *Controller) decideBroker(nowNs int64, r *BrokerRegistration) {
	c.outcome.atomic = false
	img := c.timeline.image
	old := img.Broker(r.BrokerID)
	if code, why := c.checkBroker(nowNs, r, old); code != None {
		c.outcome.fail(code, why)
		return
	}
	m := brokerRecord(r, img.MetadataVersion())
	if old != nil && old.IncarnationID == r.IncarnationID {
		m.BrokerEpoch, m.Fenced, m.InControlledShutdown = old.Epoch, old.Fenced, old.InControlledShutdown
		if img.MetadataVersion() >= cordonedSince && len(old.CordonedLogDirs) > 0 {
			m.CordonedLogDirs = old.CordonedLogDirs
		}
	} else {
		m.BrokerEpoch, m.Fenced = c.nextWrite, true
		if old != nil {
			c.movePartitions(r.BrokerID, c.endOf(old, r))
		}
	}
	if err := m.Check(recordVersion(m, img.MetadataVersion())); err != nil {
		c.outcome.fail(InvalidRegistration, err.Error())
		return
	}
	c.outcome.records = append(c.outcome.records, m)
	c.outcome.broker = BrokerReply{BrokerEpoch: m.BrokerEpoch}
}

// endOf says how the former incarnation ended. With eligible leader replicas its replicas count as complete only after a clean
// shutdown, which the next one proves by the epoch that its predecessor left on the disk (KIP-966).
func (c *Controller) endOf(old *image.Broker, r *BrokerRegistration) standingChange {
	if c.timeline.image.FeatureLevel(features.EligibleLeaderReplicas) == 0 ||
		r.Version >= 3 && r.PreviousBrokerEpoch == old.Epoch {
		return becomesFenced
	}
	return restartsUncleanly
}

// checkBroker is 5.8, checks 1 to 7.
func (c *Controller) checkBroker(nowNs int64, r *BrokerRegistration, old *image.Broker) (ErrorCode, string) {
	img := c.timeline.image
	switch {
	case c.foreign(r.ClusterID):
		return InconsistentClusterID, fmt.Sprintf("cluster id %q, this cluster has %q", r.ClusterID, c.knownClusterID())
	case old != nil && old.IncarnationID != r.IncarnationID && c.brokers.sessions.valid(nowNs, old.ID, old.Epoch):
		return DuplicateBrokerRegistration, fmt.Sprintf("broker %d is registered by another process that was heard of lately", r.BrokerID)
	case r.IsMigratingZkBroker:
		return BrokerIDNotRegistered, fmt.Sprintf("broker %d migrates from ZooKeeper, which nothing does any more", r.BrokerID)
	}
	if features.SupportsDirectoryAssignment(img.MetadataVersion()) {
		if why := c.wrongDirectories(r); why != "" {
			return InvalidRegistration, why
		}
	}
	versioned := false
	for i := range r.Features {
		f := &r.Features[i]
		versioned = versioned || f.Name == features.MetadataVersion
		if level := c.currentLevel(f.Name); level < f.Minimum || level > f.Maximum {
			return UnsupportedVersion, fmt.Sprintf("broker %d supports %s %d to %d, and %d is in force", r.BrokerID, f.Name, f.Minimum,
				f.Maximum, level)
		}
	}
	if !versioned {
		return InvalidRegistration, fmt.Sprintf("broker %d does not say which %s it supports", r.BrokerID, features.MetadataVersion)
	}
	for _, f := range img.Features() {
		if !slices.ContainsFunc(r.Features, func(x image.FeatureRange) bool { return x.Name == f.Name }) {
			return UnsupportedVersion, fmt.Sprintf("broker %d does not know %s, and %d is in force", r.BrokerID, f.Name, f.Level)
		}
	}
	return None, ""
}

// knownClusterID is the id that registrations are compared with: the node's own, else the log's.
func (c *Controller) knownClusterID() string { return c.upgradeClusterID() }

// foreign is check 1: the id of another cluster. Kafka's controllers have an id; one that has none yet, which KIP-1262 allows, compares
// nothing, as its raft does (metadata-bootstrap 4.4, D1), unless it is told to refuse until it has.
func (c *Controller) foreign(id string) bool {
	known := c.knownClusterID()
	if known == "" && !c.cfg.EmptyClusterID {
		return c.cfg.Choices.RefuseUnknownID
	}
	return id != known
}

// wrongDirectories is check 4: one directory at least, none reserved, none twice, none of another broker (KIP-858).
func (c *Controller) wrongDirectories(r *BrokerRegistration) string {
	if len(r.LogDirs) == 0 {
		return fmt.Sprintf("broker %d has no log directory", r.BrokerID)
	}
	for i, dir := range r.LogDirs {
		switch {
		case dir.IsReserved():
			return fmt.Sprintf("log directory %s of broker %d is a reserved id", dir, r.BrokerID)
		case slices.Contains(r.LogDirs[:i], dir):
			return fmt.Sprintf("log directory %s of broker %d comes twice", dir, r.BrokerID)
		}
	}
	for b := range c.timeline.image.Brokers() {
		if b.ID == r.BrokerID {
			continue
		}
		for _, dir := range b.LogDirs {
			if slices.Contains(r.LogDirs, dir) {
				return fmt.Sprintf("log directory %s of broker %d belongs to broker %d", dir, r.BrokerID, b.ID)
			}
		}
	}
	return ""
}

// brokerRecord is the registration as a record; epoch and flags are still to come.
func brokerRecord(r *BrokerRegistration, level int16) *records.RegisterBrokerRecord {
	m := &records.RegisterBrokerRecord{
		BrokerId: r.BrokerID, IncarnationId: r.IncarnationID, Rack: r.Rack,
		EndPoints: make([]records.BrokerEndpoint, len(r.Listeners)), Features: make([]records.BrokerFeature, len(r.Features)),
	}
	for i := range r.Listeners {
		l := &r.Listeners[i]
		m.EndPoints[i] = records.BrokerEndpoint{Name: l.Name, Host: l.Host, Port: l.Port, SecurityProtocol: l.SecurityProtocol}
	}
	for i := range r.Features {
		f := &r.Features[i]
		m.Features[i] = records.BrokerFeature{Name: f.Name, MinSupportedVersion: f.Minimum, MaxSupportedVersion: f.Maximum}
	}
	if features.SupportsDirectoryAssignment(level) {
		m.LogDirs = append([]record.UUID(nil), r.LogDirs...)
	}
	return m
}
