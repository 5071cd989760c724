package invariants

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
)

// judgement is one answer beside the memory before and after its operation. The first thing that is wrong stays.
type judgement struct {
	at            *answering
	p             *pendingOperation
	r             *controller.Result
	before, after *image.Image
	evidence, why string
}

// wrong notes what is wrong where is holds.
func (j *judgement) wrong(is bool, evidence, format string, args ...any) {
	if is && j.evidence == "" {
		j.evidence, j.why = evidence, fmt.Sprintf(format, args...)
	}
}

func (j *judgement) ok() bool { return j.r.Code == controller.None }

// operation judges an answer by the kind of its operation.
func (j *judgement) operation() {
	op := &j.p.op
	switch op.Kind {
	case controller.AppendConfig:
		if j.ok() {
			value, found := j.after.Config(image.ConfigKey{Type: image.BrokerResource, Name: op.Name})
			j.wrong(!found || value != op.Value, "config", "%s is %q, there %t", op.Name, value, found)
		}
	case controller.UpdateFeatures:
		j.features(op)
	case controller.RegisterBroker:
		j.registration(op.Broker)
	case controller.Heartbeat:
		j.heartbeat(op.Heartbeat)
	case controller.UnregisterBroker:
		b := j.before.Broker(op.NodeID)
		j.wrong(j.ok() && (b == nil || j.after.Broker(op.NodeID) != nil), "registration", "broker %d: there before %t", op.NodeID, b != nil)
		j.wrong(j.r.Code == controller.BrokerIDNotRegistered && b != nil, "reason", "broker %d is registered", op.NodeID)
		j.gone(op.NodeID)
	case controller.RegisterController:
		x := j.after.Controller(op.Controller.ControllerID)
		j.wrong(j.ok() && (x == nil || x.IncarnationID != op.Controller.IncarnationID), "registration", "controller %d is not there", op.Controller.ControllerID)
		j.wrong(j.r.Code == controller.UnsupportedVersion && !j.tooOld(op.Controller) && features.SupportsControllerRegistration(j.before.MetadataVersion()), "reason",
			"controller %d supports what is finalized, and the level has registrations", op.Controller.ControllerID)
	case controller.UnregisterController:
		j.wrong(j.ok() && (j.before.Controller(op.NodeID) == nil || j.after.Controller(op.NodeID) != nil), "registration", "controller %d", op.NodeID)
		j.wrong(j.r.Code == controller.ControllerIDNotRegistered && j.before.Controller(op.NodeID) != nil, "reason", "controller %d is registered", op.NodeID)
	default:
		j.request(op.Request)
	}
}

// tooOld tells whether a controller does not support what is finalized.
func (j *judgement) tooOld(r *controller.ControllerRegistration) bool {
	return !slices.ContainsFunc(r.Features, func(f image.FeatureRange) bool { return f.Name == features.MetadataVersion }) ||
		j.unsupported(r.Features) != ""
}

// unsupported names a finalized feature that lies outside of some ranges, "" for none.
func (j *judgement) unsupported(ranges []image.FeatureRange) string {
	for _, f := range j.before.Features() {
		at := slices.IndexFunc(ranges, func(x image.FeatureRange) bool { return x.Name == f.Name })
		if at < 0 && f.Level != 0 || at >= 0 && (f.Level < ranges[at].Minimum || f.Level > ranges[at].Maximum) {
			return f.Name
		}
	}
	return ""
}

// features is 5.2 and 5.3: all updates or none, in the direction that was asked for, and not down across a level that changed metadata.
func (j *judgement) features(op *controller.Op) {
	if !j.ok() {
		j.wrong(j.r.Code != controller.InvalidUpdateVersion, "reason", "no code of this request")
		return
	}
	for i := range op.Updates {
		u := &op.Updates[i]
		if u.Feature == features.KRaftVersion {
			continue
		}
		was, is := j.before.FeatureLevel(u.Feature), j.after.FeatureLevel(u.Feature)
		j.wrong(!op.ValidateOnly && is != u.Level, "feature", "%s is %d, asked for was %d", u.Feature, is, u.Level)
		listed := slices.ContainsFunc(j.after.Features(), func(f image.Feature) bool { return f.Name == u.Feature })
		j.wrong(!op.ValidateOnly && u.Level == 0 && listed, "feature", "%s went to level 0 and is finalized still", u.Feature)
		j.wrong(u.UpgradeType == controller.Upgrade && u.Level < was || u.UpgradeType != controller.Upgrade && u.Level > was, "direction",
			"%s goes from %d to %d by upgrade type %d", u.Feature, was, u.Level, u.UpgradeType)
		if u.Feature == features.EligibleLeaderReplicas && was == 0 && u.Level > 0 && !op.ValidateOnly {
			j.eligibleBegins()
		}
		if u.Feature == features.MetadataVersion {
			at := changedAt(j.before, was, u.Level)
			j.wrong(at > 0, "downgrade", "metadata.version goes from %d to %d, and metadata changed at %d", was, u.Level, at)
			continue
		}
		j.dependency(op, u)
	}
}

// eligibleBegins: with the first level of eligible leader replicas there is one min.insync.replicas of all brokers, that of before if there was
// one, and none of a single broker (KIP-966; metadata-bootstrap 5.2).
func (j *judgement) eligibleBegins() {
	all := image.ConfigKey{Type: image.BrokerResource, Name: "min.insync.replicas"}
	old, had := j.before.Config(all)
	now, has := j.after.Config(all)
	j.wrong(!has || had && now != old, "eligible", "min.insync.replicas of all brokers is %q, there %t; before it was %q, there %t", now, has, old, had)
	for key := range j.after.Configs() {
		j.wrong(key.Type == image.BrokerResource && key.Resource != "" && key.Name == all.Name, "eligible", "broker %q has a min.insync.replicas of its own still", key.Resource)
	}
}

// dependency: a level that needs a metadata.version does not come into force below it (KIP-1022).
func (j *judgement) dependency(op *controller.Op, u *controller.FeatureUpdate) {
	version := j.before.MetadataVersion()
	for i := range op.Updates {
		if op.Updates[i].Feature == features.MetadataVersion {
			version = op.Updates[i].Level
		}
	}
	need := int16(0)
	switch {
	case u.Level == 0:
	case u.Feature == features.EligibleLeaderReplicas:
		need = 23
	case u.Feature == features.GroupVersion || u.Feature == "transaction.version":
		need = 7
	}
	j.wrong(version < need, "dependency", "%s %d needs metadata.version %d, it is %d", u.Feature, u.Level, need, version)
}

// metadataChanged are the levels of metadata.version that added records or fields (metadata-bootstrap 5.7), up to the last one of which all
// releases say the same.
var metadataChanged = [...]int16{1, 3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33}

// changedAt is a level on the way down that changed metadata, 0 for none.
func changedAt(img *image.Image, from, to int16) int16 {
	if from == 34 && to < 34 && img.ClusterID() != "" {
		return 34
	}
	for _, level := range metadataChanged {
		if level <= from && level > to {
			return level
		}
	}
	return 0
}

// registration is 5.8.
func (j *judgement) registration(r *controller.BrokerRegistration) {
	old, now := j.before.Broker(r.BrokerID), j.after.Broker(r.BrokerID)
	switch j.r.Code {
	case controller.None:
		j.wrong(j.before.ClusterID() != "" && r.ClusterID != j.before.ClusterID(), "foreign", "broker %d has cluster id %q, this is %q", r.BrokerID, r.ClusterID, j.before.ClusterID())
		j.directories(r)
		j.wrong(now == nil || now.IncarnationID != r.IncarnationID || now.Epoch != j.r.Broker.BrokerEpoch, "registration", "broker %d is not there with epoch %d",
			r.BrokerID, j.r.Broker.BrokerEpoch)
		j.wrong(j.unsupported(r.Features) != "", "unsupported", "broker %d does not support the level of %s", r.BrokerID, j.unsupported(r.Features))
		if old != nil && now != nil && old.IncarnationID != now.IncarnationID {
			j.restarted(old, r)
		}
		if now != nil {
			j.introduced(old, now, r)
		}
		if now != nil && features.SupportsDirectoryAssignment(j.before.MetadataVersion()) {
			j.wrong(!sameIDs(now.LogDirs, r.LogDirs), "registration", "broker %d has other log directories", r.BrokerID)
		}
	case controller.DuplicateBrokerRegistration:
		j.wrong(old == nil || old.IncarnationID == r.IncarnationID, "reason", "broker %d has no other incarnation", r.BrokerID)
	case controller.UnsupportedVersion:
		j.wrong(j.unsupported(r.Features) == "" && !j.unnamed(r.Features), "reason", "broker %d supports all that is finalized", r.BrokerID)
	case controller.InconsistentClusterID:
		j.wrong(j.before.ClusterID() != "" && r.ClusterID == j.before.ClusterID(), "reason", "the cluster id is %q here and there", r.ClusterID)
	}
}

// introduced: a registration says what the broker said of itself. The same incarnation keeps what it had, a new one begins fenced.
func (j *judgement) introduced(old, now *image.Broker, r *controller.BrokerRegistration) {
	rack, has := "", r.Rack != nil
	if has {
		rack = *r.Rack
	}
	j.wrong(now.HasRack != has || now.Rack != rack, "registration", "broker %d is in rack %q, there %t, and said %q, there %t", r.BrokerID, now.Rack, now.HasRack, rack, has)
	j.wrong(!slices.Equal(now.Listeners, r.Listeners), "registration", "broker %d has listeners %v, and said %v", r.BrokerID, now.Listeners, r.Listeners)
	j.wrong(!slices.Equal(now.Features, r.Features), "registration", "broker %d supports %v, and said %v", r.BrokerID, now.Features, r.Features)
	if old == nil || old.IncarnationID != r.IncarnationID {
		j.wrong(!now.Fenced || now.InControlledShutdown, "registration", "broker %d begins fenced: %t, shutting down: %t", r.BrokerID, now.Fenced, now.InControlledShutdown)
		return
	}
	j.wrong(now.Epoch != old.Epoch || now.Fenced != old.Fenced || j.before.MetadataVersion() >= 7 && now.InControlledShutdown != old.InControlledShutdown, "registration",
		"broker %d registers again as the same process: epoch %d and %d, fenced %t and %t, shutting down %t and %t", r.BrokerID, old.Epoch, now.Epoch, old.Fenced, now.Fenced,
		old.InControlledShutdown, now.InControlledShutdown)
	j.wrong(j.before.MetadataVersion() >= 30 && !sameIDs(now.CordonedLogDirs, old.CordonedLogDirs), "registration", "broker %d registers again as the same process, and has other "+
		"cordoned directories", r.BrokerID)
}

// directories is check 4 of 5.8 (KIP-858).
func (j *judgement) directories(r *controller.BrokerRegistration) {
	if !features.SupportsDirectoryAssignment(j.before.MetadataVersion()) {
		return
	}
	j.wrong(len(r.LogDirs) == 0, "directories", "broker %d has none", r.BrokerID)
	for i, dir := range r.LogDirs {
		j.wrong(dir.IsReserved() || slices.Contains(r.LogDirs[:i], dir), "directories", "broker %d has %s twice, or it is reserved", r.BrokerID, dir)
		for b := range j.before.Brokers() {
			j.wrong(b.ID != r.BrokerID && slices.Contains(b.LogDirs, dir), "directories", "%s of broker %d is that of broker %d", dir, r.BrokerID, b.ID)
		}
	}
}

// restarted: a new incarnation is in no in-sync replicas, and among the eligible ones only where the one before was, in sync or eligible, and
// only if it proves that the one before ended in order (KIP-966).
func (j *judgement) restarted(old *image.Broker, r *controller.BrokerRegistration) {
	if j.before.FeatureLevel(features.EligibleLeaderReplicas) == 0 {
		return // lists from before the feature was switched off mean nothing, and nobody touches them
	}
	proven := r.Version >= 3 && r.PreviousBrokerEpoch == old.Epoch
	for key, p := range membersOf(j.after, r.BrokerID) {
		before := j.before.Partition(key.TopicID, key.Partition)
		j.wrong(slices.Contains(p.Isr, r.BrokerID), "clean-shutdown", "broker %d is in sync in %s-%d before it has asked", r.BrokerID, key.TopicID, key.Partition)
		was := before != nil && (slices.Contains(before.Isr, r.BrokerID) || slices.Contains(before.Elr, r.BrokerID))
		j.wrong(slices.Contains(p.Elr, r.BrokerID) && !(proven && was), "clean-shutdown", "broker %d is eligible in %s-%d, its former process ended in order: %t, had its records: %t",
			r.BrokerID, key.TopicID, key.Partition, proven, was)
	}
	if !proven {
		return
	}
	for key, p := range membersOf(j.before, r.BrokerID) {
		now := j.after.Partition(key.TopicID, key.Partition)
		j.wrong(slices.Contains(p.Elr, r.BrokerID) && !slices.Contains(now.Elr, r.BrokerID) && len(now.Isr) < 1, "clean-shutdown",
			"broker %d proves that its former process ended in order, and is no longer eligible in %s-%d", r.BrokerID, key.TopicID, key.Partition)
	}
}

// unnamed tells whether ranges lack a feature that has a level, or hold one whose level 0 is not in its range.
func (j *judgement) unnamed(ranges []image.FeatureRange) bool {
	for _, f := range ranges {
		if j.before.FeatureLevel(f.Name) < f.Minimum {
			return true
		}
	}
	return slices.ContainsFunc(j.before.Features(), func(f image.Feature) bool {
		return !slices.ContainsFunc(ranges, func(x image.FeatureRange) bool { return x.Name == f.Name })
	})
}

func sameIDs(a, b []record.UUID) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(id record.UUID) bool { return !slices.Contains(b, id) })
}

// heartbeat is 7.5: what a broker is told of itself is what its registration says then.
func (j *judgement) heartbeat(h *controller.BrokerHeartbeat) {
	old, now, reply := j.before.Broker(h.BrokerID), j.after.Broker(h.BrokerID), &j.r.Broker
	stale := old == nil || old.Epoch != h.BrokerEpoch
	switch j.r.Code {
	case controller.None:
		j.wrong(stale, "stale", "broker %d is not registered with epoch %d", h.BrokerID, h.BrokerEpoch)
		if now == nil {
			return
		}
		j.wrong(reply.IsFenced != now.Fenced, "heartbeat", "it is told that it is fenced: %t, and it is: %t", reply.IsFenced, now.Fenced)
		j.wrong(reply.IsCaughtUp && h.CurrentMetadataOffset < old.Epoch, "heartbeat", "it is told that it has caught up, at offset %d, and its epoch is %d",
			h.CurrentMetadataOffset, old.Epoch) // its registration stands there or behind
		j.wrong(old.Fenced && !now.Fenced && h.CurrentMetadataOffset < old.Epoch, "heartbeat", "it is let in at offset %d, and its epoch is %d", h.CurrentMetadataOffset, old.Epoch)
		j.wrong(reply.ShouldShutDown && !now.Fenced, "heartbeat", "it is told to go, and is not fenced")
		j.wrong(reply.ShouldShutDown && !h.WantShutDown && !old.InControlledShutdown, "heartbeat", "it is told to go, and did not ask")
		j.wrong(reply.InControlledShutdown && (now.Fenced || j.before.MetadataVersion() >= 7 && !now.InControlledShutdown), "heartbeat",
			"it is told that it shuts down, and its registration does not say so")
		j.wrong(h.WantFence && !now.Fenced && !now.InControlledShutdown && j.before.MetadataVersion() >= 7, "heartbeat", "it wants to be fenced, and is not")
		j.wrong(reply.ShouldShutDown && !h.WantFence && !old.Fenced && leads(j.before, h.BrokerID), "heartbeat", "it is told to go, and leads partitions")
		j.seen(old, h, reply)
		j.letIn(old, now, h)
		j.wrong(j.before.MetadataVersion() >= 30 && h.CordonedLogDirs != nil && !sameIDs(now.CordonedLogDirs, h.CordonedLogDirs), "heartbeat", "%d directories are cordoned, it told of %d",
			len(now.CordonedLogDirs), len(h.CordonedLogDirs))
		j.wrong(j.before.MetadataVersion() < 17 && !sameIDs(now.LogDirs, old.LogDirs), "heartbeat", "its log directories change at a level that has none")
		for _, dir := range h.OfflineLogDirs {
			j.wrong(j.before.MetadataVersion() >= 17 && slices.Contains(now.LogDirs, dir) && len(now.LogDirs) > 1, "heartbeat", "directory %s is offline and in its registration", dir)
		}
	case controller.StaleBrokerEpoch:
		j.wrong(!stale, "reason", "broker %d is registered with epoch %d", h.BrokerID, h.BrokerEpoch)
	}
}

// letIn: a broker that comes back leads, or somebody does, what nobody led and it is in sync with, unless its replica is in a directory that is offline (7.5).
func (j *judgement) letIn(old, now *image.Broker, h *controller.BrokerHeartbeat) {
	if !old.Fenced || now.Fenced || now.InControlledShutdown {
		return
	}
	for key, p := range leaderless(j.before) {
		at := slices.Index(p.Replicas, h.BrokerID)
		if at < 0 || !slices.Contains(p.Isr, h.BrokerID) {
			continue
		}
		where := p.Directories[at]
		known := where != record.DirectoryUnassigned && where != record.DirectoryMigrating
		if known && (slices.Contains(h.OfflineLogDirs, where) || !slices.Contains(old.LogDirs, where)) {
			continue
		}
		p = j.after.Partition(key.TopicID, key.Partition)
		j.wrong(p != nil && !p.HasLeader(), "leaderless", "broker %d is let in, and partition %s-%d, in which it is in sync, has no leader", h.BrokerID, key.TopicID, key.Partition)
	}
}

// gone: who is not registered any more is in sync nowhere, but where it was the last one and eligible leader replicas are off, and eligible nowhere.
func (j *judgement) gone(id int32) {
	if !j.ok() {
		return
	}
	elr := j.before.FeatureLevel(features.EligibleLeaderReplicas) > 0
	for key, p := range membersOf(j.after, id) {
		last := !elr && len(p.Isr) == 1 && !p.HasLeader()
		j.wrong(slices.Contains(p.Isr, id) && !last || elr && slices.Contains(p.Elr, id), "registration", "broker %d is gone, and in partition %s-%d: %s", id, key.TopicID,
			key.Partition, describePartition(p))
	}
}

// seen: a broker that had to wait is told to go when every active broker has reported that its metadata are as far as the change that made it
// wait (KAFKA-14292).
func (j *judgement) seen(old *image.Broker, h *controller.BrokerHeartbeat, reply *controller.BrokerReply) {
	since := j.p.leaves
	if since < 0 && !j.p.former { // the answer that said so came since
		since = j.at.leaving(h.BrokerID, h.BrokerEpoch)
	}
	switch {
	case reply.InControlledShutdown && j.p.former:
	case reply.InControlledShutdown && since < 0:
		j.at.reports = append(j.at.reports, brokerReport{broker: h.BrokerID, epoch: h.BrokerEpoch, since: max(j.r.Offset, 0), leaves: true})
	case reply.ShouldShutDown && !old.Fenced && since >= 0 && j.p.told != nil:
		for b := range j.before.Brokers() {
			told := j.p.applied(b.ID, b.Epoch)
			j.wrong(b.Active() && b.ID != h.BrokerID && told < since && j.at.leaving(b.ID, b.Epoch) < 0, "unseen", "it is told to go, its leaving is at offset %d, and broker %d has told of %d", since,
				b.ID, told)
		}
	}
}

func leads(img *image.Image, broker int32) bool {
	for _, p := range membersOf(img, broker) {
		if p.Leader == broker {
			return true
		}
	}
	return false
}

// configs: each resource gets all its changes or none.
func (j *judgement) configs(q *controller.IncrementalAlterConfigsRequest) {
	results, _ := j.r.Answer.([]controller.ConfigResult)
	for i := range q.Resources {
		if !j.ok() || i >= len(results) {
			return
		}
		x := &q.Resources[i]
		for k := range x.Changes {
			c := &x.Changes[k]
			key := image.ConfigKey{Type: x.Resource.Type, Resource: x.Resource.Name, Name: c.Name}
			old, had := j.before.Config(key)
			value, has := j.after.Config(key)
			want, wants := old, had
			if results[i].Code == controller.None && !q.ValidateOnly {
				want, wants = changed(c, old, had)
			}
			if results[i].Code == controller.None {
				j.setting(x.Resource, c, want, wants)
			}
			j.wrong(has != wants || has && value != want, "config", "%s of %q is %q, there %t; it should be %q, there %t", c.Name, x.Resource.Name, value, has, want, wants)
		}
		j.wrong(results[i].Code == controller.None && x.Resource.Type == image.TopicResource && j.before.TopicByName(x.Resource.Name) == nil, "config",
			"there is no topic %q", x.Resource.Name)
	}
}

// setting: what is accepted is a value of its name's type, and eligible leader replicas keep min.insync.replicas where they need it (KIP-966).
func (j *judgement) setting(resource controller.ConfigResource, c *controller.ConfigChange, value string, there bool) {
	switch {
	case c.Name == "min.insync.replicas" && there:
		n, err := strconv.ParseInt(value, 10, 32)
		j.wrong(err != nil || n < 1, "config", "%s is %q", c.Name, value)
	case c.Name == "unclean.leader.election.enable" && there:
		j.wrong(value != "true" && value != "false", "config", "%s is %q", c.Name, value)
	}
	list := c.Name != "min.insync.replicas" && c.Name != "unclean.leader.election.enable"
	j.wrong(!list && c.Operation > controller.ConfigDelete, "config", "%s is no list, and operation %d was accepted", c.Name, c.Operation)
	if id, err := strconv.ParseInt(resource.Name, 10, 32); resource.Type == image.BrokerResource && resource.Name != "" {
		j.wrong(err != nil || j.before.Broker(int32(id)) == nil, "config", "there is no broker %q", resource.Name)
	}
	if c.Name == "min.insync.replicas" && resource.Type == image.BrokerResource && j.before.FeatureLevel(features.EligibleLeaderReplicas) > 0 {
		j.wrong(resource.Name != "" || !there, "config", "%s of broker %q is changed, there %t, and eligible leader replicas need the default of all", c.Name, resource.Name, there)
	}
}

// changed is a configuration after a change.
func changed(c *controller.ConfigChange, old string, had bool) (value string, there bool) {
	switch {
	case c.Operation == controller.ConfigDelete:
		return "", false
	case c.Operation == controller.ConfigSet || c.Value == nil:
		if c.Value == nil {
			return old, had
		}
		return *c.Value, true
	}
	items := []string{}
	if old != "" {
		items = strings.Split(old, ",")
	}
	for _, item := range strings.Split(*c.Value, ",") {
		at := slices.Index(items, item)
		if c.Operation == controller.ConfigAppend && at < 0 {
			items = append(items, item)
		} else if c.Operation == controller.ConfigSubtract && at >= 0 {
			items = slices.Delete(items, at, at+1)
		}
	}
	return strings.Join(items, ","), true
}
