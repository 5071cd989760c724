package invariants

import (
	"cmp"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/digest"
)

// edit is a piece of what a data record does to the state: it sets the row of a key to a value, or takes the row away when the
// value is 0. Keys and values are hashes, so that an edit has no text to keep and a state can be compared in one step.
type edit struct{ key, value uint64 }

// Edits with these keys are no rows.
const (
	editBegin       uint64 = iota // the brackets of a transaction
	editEnd                       //
	editAbort                     //
	editOpaque                    // a record that no checker can follow
	editBelow                     // the row of the next edit goes when the topic goes; value: its key, or its name's
	editIncrement                 // the row with the key `value` is one more
	editRemoveTopic               // value: its key
	editClearElr                  // value: the key of the topic's name, 0 for all topics
	firstEditKey
)

// Seeds that keep the kinds of rows apart.
const (
	rowFeature uint64 = iota + 1
	rowClusterID
	rowConfig
	rowScram
	rowValue
	rowBroker
	rowController
	rowTopic
	rowTopicName
	rowPartition
	rowQuota
	rowProducerID
	rowACL
	rowToken
)

// The fields of a partition and of a broker that records change one by one have rows of their own.
const (
	fieldPresent uint64 = iota + 1
	fieldReplicas
	fieldIsr
	fieldRemoving
	fieldAdding
	fieldElr
	fieldLastKnownElr
	fieldLeader
	fieldLeaderEpoch
	fieldPartitionEpoch
	fieldRecovery
	fieldDirectories
	numPartitionFields

	fieldFenced     uint64 = iota
	fieldInShutdown        //
	fieldLogDirs           //
	fieldCordoned          //
)

func fieldOf(row, field uint64) uint64 { return max(digest.Word(row, field), firstEditKey) }

// edit appends what a record means for the state, read with code of its own: that is the checkers' to say, not the
// replica's.
func (l *ledger) edit(x records.Record) {
	switch m := x.(type) {
	case *records.FeatureLevelRecord:
		switch {
		case m.Name == "kraft.version": // raft keeps it for itself (KAFKA-18979)
		case m.FeatureLevel == 0:
			l.row(digest.String(rowFeature, m.Name), 0)
		default:
			l.row(digest.String(rowFeature, m.Name), digest.Word(rowValue, uint64(uint16(m.FeatureLevel))))
		}
	case *records.ClusterIdRecord:
		value := digest.String(rowValue, m.ClusterId)
		if m.ClusterId == "" {
			value = 0
		}
		l.row(digest.Word(rowClusterID, 0), value)
	case *records.ConfigRecord:
		l.editConfig(m)
	case *records.BeginTransactionRecord:
		l.op(editBegin, 0)
	case *records.EndTransactionRecord:
		l.op(editEnd, 0)
	case *records.AbortTransactionRecord:
		l.op(editAbort, 0)
	case *records.NoOpRecord, *records.ZkMigrationStateRecord: // read and ignored (metadata-bootstrap 6.1)
	default:
		if !l.editTopic(x) && !l.editNode(x) && !l.editSecurity(x) {
			l.op(editOpaque, 0)
		}
	}
}

func (l *ledger) op(kind, value uint64) { l.edits = append(l.edits, edit{kind, value}) }

func (l *ledger) row(key, value uint64) {
	l.edits = append(l.edits, edit{max(key, firstEditKey), value})
}

func (l *ledger) editConfig(m *records.ConfigRecord) {
	b := record.AppendCompactString(record.AppendInt8(l.scratch[:0], m.ResourceType), m.ResourceName)
	b = record.AppendCompactString(b, m.Name)
	l.scratch = b[:0]
	const topicResource = 2
	if m.ResourceType == topicResource {
		l.op(editBelow, topicNameKey(m.ResourceName))
	}
	value := uint64(0)
	if m.Value != nil {
		value = digest.String(rowValue, *m.Value)
	}
	l.row(digest.Bytes(rowConfig, b), value)
}

func topicKey(id record.UUID) uint64 { return max(digest.Bytes(rowTopic, id[:]), firstEditKey) }

func topicNameKey(name string) uint64 { return max(digest.String(rowTopicName, name), firstEditKey) }

func partitionKey(topic record.UUID, partition int32) uint64 {
	return max(digest.Word(digest.Bytes(rowPartition, topic[:]), uint64(uint32(partition))), firstEditKey)
}

func (l *ledger) editTopic(x records.Record) bool {
	switch m := x.(type) {
	case *records.TopicRecord:
		l.row(topicKey(m.TopicId), topicNameKey(m.Name))
		l.row(topicNameKey(m.Name), topicKey(m.TopicId))
	case *records.RemoveTopicRecord:
		l.op(editRemoveTopic, topicKey(m.TopicId))
	case *records.ClearElrRecord:
		name := uint64(0)
		if m.TopicName != "" {
			name = topicNameKey(m.TopicName)
		}
		l.op(editClearElr, name)
	case *records.PartitionRecord:
		p := partitionKey(m.TopicId, m.PartitionId)
		l.op(editBelow, topicKey(m.TopicId))
		l.row(p, fieldPresent)
		l.row(fieldOf(p, fieldReplicas), l.ids(m.Replicas))
		l.row(fieldOf(p, fieldIsr), l.ids(m.Isr))
		l.row(fieldOf(p, fieldRemoving), l.ids(m.RemovingReplicas))
		l.row(fieldOf(p, fieldAdding), l.ids(m.AddingReplicas))
		l.row(fieldOf(p, fieldElr), l.ids(m.EligibleLeaderReplicas))
		l.row(fieldOf(p, fieldLastKnownElr), l.ids(m.LastKnownElr))
		l.row(fieldOf(p, fieldLeader), digest.Word(rowValue, uint64(uint32(m.Leader))))
		l.row(fieldOf(p, fieldLeaderEpoch), 1+uint64(uint32(m.LeaderEpoch)))
		l.row(fieldOf(p, fieldPartitionEpoch), 1+uint64(uint32(m.PartitionEpoch)))
		l.row(fieldOf(p, fieldRecovery), 1+uint64(uint8(m.LeaderRecoveryState)))
		l.row(fieldOf(p, fieldDirectories), l.directories(m.Directories))
	case *records.PartitionChangeRecord:
		l.editPartition(m)
	default:
		return false
	}
	return true
}

// editPartition is metadata-bootstrap 6.2: what is null stays, a leader begins an epoch, every change is one.
func (l *ledger) editPartition(m *records.PartitionChangeRecord) {
	p := partitionKey(m.TopicId, m.PartitionId)
	for _, f := range [...]struct {
		field uint64
		list  []int32
	}{
		{fieldReplicas, m.Replicas}, {fieldIsr, m.Isr}, {fieldRemoving, m.RemovingReplicas}, {fieldAdding, m.AddingReplicas},
		{fieldElr, m.EligibleLeaderReplicas}, {fieldLastKnownElr, m.LastKnownElr},
	} {
		if f.list != nil {
			l.row(fieldOf(p, f.field), l.ids(f.list))
		}
	}
	if len(m.Directories) > 0 {
		l.row(fieldOf(p, fieldDirectories), l.directories(m.Directories))
	}
	if m.Leader != -2 {
		l.row(fieldOf(p, fieldLeader), digest.Word(rowValue, uint64(uint32(m.Leader))))
		l.op(editIncrement, fieldOf(p, fieldLeaderEpoch))
	}
	if m.LeaderRecoveryState != -1 {
		l.row(fieldOf(p, fieldRecovery), 1+uint64(uint8(m.LeaderRecoveryState)))
	}
	l.op(editIncrement, fieldOf(p, fieldPartitionEpoch))
}

// ids is the value of a list of node ids, 0 for an empty one.
func (l *ledger) ids(list []int32) uint64 {
	b := l.scratch[:0]
	for _, id := range list {
		b = record.AppendInt32(b, id)
	}
	l.scratch = b[:0]
	if len(b) == 0 {
		return 0
	}
	return digest.Bytes(rowValue, b)
}

// directories is the value of a list of directories, 0 for one of migrating ones only: what a level without directories
// leaves out means the same.
func (l *ledger) directories(list []record.UUID) uint64 {
	b, some := l.scratch[:0], false
	for at := range list {
		b = append(b, list[at][:]...)
		some = some || list[at] != record.DirectoryMigrating
	}
	l.scratch = b[:0]
	if !some {
		return 0
	}
	return digest.Bytes(rowValue, b)
}

func (l *ledger) uuids(list []record.UUID) uint64 {
	if len(list) == 0 {
		return 0
	}
	b := l.scratch[:0]
	for at := range list {
		b = append(b, list[at][:]...)
	}
	l.scratch = b[:0]
	return digest.Bytes(rowValue, b)
}

func flag(set bool) uint64 {
	if set {
		return 2
	}
	return 1
}

func (l *ledger) editNode(x records.Record) bool {
	switch m := x.(type) {
	case *records.RegisterBrokerRecord:
		l.editRegistration(m)
	case *records.UnregisterBrokerRecord:
		broker := digest.Word(rowBroker, uint64(uint32(m.BrokerId)))
		l.row(broker, 0)
		for field := fieldFenced; field <= fieldCordoned; field++ {
			l.row(fieldOf(broker, field), 0)
		}
	case *records.FenceBrokerRecord:
		l.row(fieldOf(digest.Word(rowBroker, uint64(uint32(m.Id))), fieldFenced), flag(true))
	case *records.UnfenceBrokerRecord:
		l.row(fieldOf(digest.Word(rowBroker, uint64(uint32(m.Id))), fieldFenced), flag(false))
	case *records.BrokerRegistrationChangeRecord:
		broker := digest.Word(rowBroker, uint64(uint32(m.BrokerId)))
		if m.Fenced != 0 {
			l.row(fieldOf(broker, fieldFenced), flag(m.Fenced > 0))
		}
		if m.InControlledShutdown != 0 {
			l.row(fieldOf(broker, fieldInShutdown), flag(true))
		}
		if len(m.LogDirs) > 0 {
			l.row(fieldOf(broker, fieldLogDirs), l.uuids(m.LogDirs))
		}
		if m.CordonedLogDirs != nil {
			l.row(fieldOf(broker, fieldCordoned), l.uuids(m.CordonedLogDirs))
		}
	case *records.RegisterControllerRecord:
		b := record.AppendBool(record.AppendUUID(l.scratch[:0], m.IncarnationId), m.ZkMigrationReady)
		for at := range m.EndPoints {
			e := &m.EndPoints[at]
			b = appendEndpoint(b, e.Name, e.Host, e.Port, e.SecurityProtocol)
		}
		for at := range m.Features {
			f := &m.Features[at]
			b = appendRange(b, f.Name, f.MinSupportedVersion, f.MaxSupportedVersion)
		}
		l.scratch = b[:0]
		l.row(digest.Word(rowController, uint64(uint32(m.ControllerId))), digest.Bytes(rowValue, b))
	case *records.UnregisterControllerRecord:
		l.row(digest.Word(rowController, uint64(uint32(m.ControllerId))), 0)
	default:
		return false
	}
	return true
}

func (l *ledger) editRegistration(m *records.RegisterBrokerRecord) {
	b := record.AppendInt64(record.AppendUUID(l.scratch[:0], m.IncarnationId), m.BrokerEpoch)
	b = record.AppendBool(record.AppendBool(b, m.IsMigratingZkBroker), m.Rack != nil)
	if m.Rack != nil {
		b = record.AppendCompactString(b, *m.Rack)
	}
	for at := range m.EndPoints {
		e := &m.EndPoints[at]
		b = appendEndpoint(b, e.Name, e.Host, e.Port, e.SecurityProtocol)
	}
	for at := range m.Features {
		f := &m.Features[at]
		b = appendRange(b, f.Name, f.MinSupportedVersion, f.MaxSupportedVersion)
	}
	l.scratch = b[:0]
	broker := digest.Word(rowBroker, uint64(uint32(m.BrokerId)))
	l.row(broker, digest.Bytes(rowValue, b))
	l.row(fieldOf(broker, fieldFenced), flag(m.Fenced))
	l.row(fieldOf(broker, fieldInShutdown), flag(m.InControlledShutdown))
	l.row(fieldOf(broker, fieldLogDirs), l.uuids(m.LogDirs))
	l.row(fieldOf(broker, fieldCordoned), l.uuids(m.CordonedLogDirs))
}

func appendEndpoint(b []byte, name, host string, port uint16, protocol int16) []byte {
	b = record.AppendCompactString(record.AppendCompactString(append(b, 1), name), host)
	return record.AppendInt16(record.AppendInt16(b, int16(port)), protocol)
}

func appendRange(b []byte, name string, lowest, highest int16) []byte {
	return record.AppendInt16(record.AppendInt16(record.AppendCompactString(append(b, 2), name), lowest), highest)
}

func (l *ledger) editSecurity(x records.Record) bool {
	b := l.scratch[:0]
	switch m := x.(type) {
	case *records.UserScramCredentialRecord:
		b = record.AppendCompactBytes(record.AppendCompactBytes(b, m.Salt), m.StoredKey)
		b = record.AppendInt32(record.AppendCompactBytes(b, m.ServerKey), m.Iterations)
		l.row(digest.String(digest.Word(rowScram, uint64(uint8(m.Mechanism))), m.Name), digest.Bytes(rowValue, b))
	case *records.RemoveUserScramCredentialRecord:
		l.row(digest.String(digest.Word(rowScram, uint64(uint8(m.Mechanism))), m.Name), 0)
	case *records.ClientQuotaRecord:
		value := digest.Word(rowValue, uint64(m.Value))
		if m.Remove {
			value = 0
		}
		b = appendEntity(b, m.Entity)
		l.row(digest.Bytes(rowQuota, record.AppendCompactString(b, m.Key)), value)
	case *records.ProducerIdsRecord:
		value := digest.Word(rowValue, uint64(m.NextProducerId))
		if m.NextProducerId == -1 {
			value = 0
		}
		l.row(digest.Word(rowProducerID, 0), value)
	case *records.AccessControlEntryRecord:
		b = record.AppendInt8(record.AppendInt8(b, m.ResourceType), m.PatternType)
		b = record.AppendInt8(record.AppendInt8(b, m.Operation), m.PermissionType)
		b = record.AppendCompactString(record.AppendCompactString(b, m.ResourceName), m.Principal)
		l.row(digest.Bytes(rowACL, m.Id[:]), digest.Bytes(rowValue, record.AppendCompactString(b, m.Host)))
	case *records.RemoveAccessControlEntryRecord:
		l.row(digest.Bytes(rowACL, m.Id[:]), 0)
	case *records.DelegationTokenRecord:
		b = record.AppendCompactString(record.AppendCompactString(b, m.Owner), m.Requester)
		for _, renewer := range m.Renewers {
			b = record.AppendCompactString(append(b, 1), renewer)
		}
		b = record.AppendInt64(record.AppendInt64(b, m.IssueTimestamp), m.MaxTimestamp)
		l.row(digest.String(rowToken, m.TokenId), digest.Bytes(rowValue, record.AppendInt64(b, m.ExpirationTimestamp)))
	case *records.RemoveDelegationTokenRecord:
		l.row(digest.String(rowToken, m.TokenId), 0)
	default:
		return false
	}
	l.scratch = b[:0]
	return true
}

// appendEntity appends the parts of an entity, in whatever order they stand, in the order of their types; the last of one type
// counts.
func appendEntity(b []byte, parts []records.EntityData) []byte {
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(x, y records.EntityData) int { return cmp.Compare(x.EntityType, y.EntityType) })
	for at := range sorted {
		p := &sorted[at]
		if at+1 < len(sorted) && sorted[at+1].EntityType == p.EntityType {
			continue
		}
		b = record.AppendBool(record.AppendCompactString(b, p.EntityType), p.EntityName != nil)
		if p.EntityName != nil {
			b = record.AppendCompactString(b, *p.EntityName)
		}
	}
	return b
}
