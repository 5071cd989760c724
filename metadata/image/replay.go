package image

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/records"
)

// MetadataVersion is the name of the feature that all others hang on.
const MetadataVersion = "metadata.version"

// KRaftVersion is the feature that raft keeps for itself; records that name it change no image (KAFKA-18979).
const KRaftVersion = "kraft.version"

// What Replay wraps.
var (
	// ErrNoPart: the record is a transaction marker, or one that this package does not know. The reader of the log has to
	// take it.
	ErrNoPart = errors.New("image: record has no place in the image")
	// ErrImpossible: the record speaks of something that is not there, or is there already, or says what it cannot say. A
	// controller never writes such a record, so the log is not the one that the image was made of.
	ErrImpossible = errors.New("image: record cannot follow")
)

// replay sends a record to the part that it changes (metadata-bootstrap 6.1).
func (d *Delta) replay(r records.Record) error {
	switch m := r.(type) {
	case *records.PartitionChangeRecord:
		return d.changePartition(m)
	case *records.PartitionRecord:
		return d.putPartition(m)
	case *records.ConfigRecord:
		d.setConfig(m)
	case *records.TopicRecord:
		return d.putTopic(m)
	case *records.RemoveTopicRecord:
		return d.removeTopic(m)
	case *records.ClearElrRecord:
		return d.clearElr(m)
	case *records.FeatureLevelRecord:
		d.setFeature(m)
	case *records.ClusterIdRecord:
		d.setClusterID(m)
	case *records.NoOpRecord, *records.ZkMigrationStateRecord: // read and ignored (metadata-bootstrap 6.1)
	default:
		return d.replayRegistration(r)
	}
	return nil
}

func (d *Delta) replayRegistration(r records.Record) error {
	switch m := r.(type) {
	case *records.BrokerRegistrationChangeRecord:
		return d.changeBroker(m)
	case *records.FenceBrokerRecord:
		return d.setFenced(m.Id, m.Epoch, true)
	case *records.UnfenceBrokerRecord:
		return d.setFenced(m.Id, m.Epoch, false)
	case *records.RegisterBrokerRecord:
		b := brokerOf(m)
		put(d, &d.next.brokers, idKey(b.ID), b, hashBroker(&b))
	case *records.UnregisterBrokerRecord:
		if _, err := d.broker(m.BrokerId, m.BrokerEpoch, "unregistered"); err != nil {
			return err
		}
		drop(d, &d.next.brokers, idKey(m.BrokerId))
	case *records.RegisterControllerRecord:
		c := controllerOf(m)
		put(d, &d.next.controllers, idKey(c.ID), c, hashController(&c))
	case *records.UnregisterControllerRecord:
		if drop(d, &d.next.controllers, idKey(m.ControllerId)) == nil {
			return fmt.Errorf("%w: controller %d is unregistered and was not registered", ErrImpossible, m.ControllerId)
		}
	default:
		return d.replaySecurity(r)
	}
	return nil
}

// replaySecurity takes the rest. Removing a credential, a quota or a token that is not there does nothing, as in Kafka's
// images; an access control entry must be there.
func (d *Delta) replaySecurity(r records.Record) error {
	switch m := r.(type) {
	case *records.ProducerIdsRecord:
		d.setProducerID(m)
	case *records.ClientQuotaRecord:
		key := QuotaKey{Entity: NewQuotaEntity(m.Entity), Name: m.Key}
		if m.Remove {
			drop(d, &d.next.quotas, key)
		} else {
			put(d, &d.next.quotas, key, m.Value, hashQuota(key, m.Value))
		}
	case *records.AccessControlEntryRecord:
		a := aclOf(m)
		put(d, &d.next.acls, uuidKey(a.ID), a, hashACL(&a))
	case *records.RemoveAccessControlEntryRecord:
		if drop(d, &d.next.acls, uuidKey(m.Id)) == nil {
			return fmt.Errorf("%w: access control entry %s is removed and was not there", ErrImpossible, m.Id)
		}
	case *records.UserScramCredentialRecord:
		key, c := ScramKey{Mechanism: m.Mechanism, User: m.Name}, scramOf(m)
		put(d, &d.next.scram, key, c, hashScram(key, &c))
	case *records.RemoveUserScramCredentialRecord:
		drop(d, &d.next.scram, ScramKey{Mechanism: m.Mechanism, User: m.Name})
	case *records.DelegationTokenRecord:
		t := tokenOf(m)
		put(d, &d.next.tokens, textKey(t.ID), t, hashToken(&t))
	case *records.RemoveDelegationTokenRecord:
		drop(d, &d.next.tokens, textKey(m.TokenId))
	default:
		return fmt.Errorf("%w: %s", ErrNoPart, r.RecordName())
	}
	return nil
}

// setFeature sets a level; 0 removes the feature, and raft's own feature is raft's. The list is copied, so that images keep
// theirs.
func (d *Delta) setFeature(m *records.FeatureLevelRecord) {
	if m.Name == KRaftVersion {
		return
	}
	next := &d.next
	at, found := next.findFeature(m.Name)
	if found && next.features[at].Level == m.FeatureLevel || !found && m.FeatureLevel == 0 {
		return
	}
	d.writes++
	list := make([]Feature, 0, len(next.features)+1)
	list = append(list, next.features[:at]...)
	if m.FeatureLevel != 0 {
		list = append(list, Feature{Name: m.Name, Level: m.FeatureLevel})
		next.digest += hashFeature(m.Name, m.FeatureLevel)
	}
	if found {
		next.digest -= hashFeature(m.Name, next.features[at].Level)
		at++
	}
	next.features = slices.Clip(append(list, next.features[at:]...))
	if m.Name == MetadataVersion {
		next.mv = m.FeatureLevel
	}
}

func (d *Delta) setClusterID(m *records.ClusterIdRecord) {
	d.writes++
	if d.next.clusterID != "" {
		d.next.digest -= hashClusterID(d.next.clusterID)
	}
	if d.next.clusterID = m.ClusterId; m.ClusterId != "" {
		d.next.digest += hashClusterID(m.ClusterId)
	}
}

func (d *Delta) setProducerID(m *records.ProducerIdsRecord) {
	d.writes++
	if d.next.producerID != noProducerID {
		d.next.digest -= hashProducerID(d.next.producerID)
	}
	if d.next.producerID = m.NextProducerId; m.NextProducerId != noProducerID {
		d.next.digest += hashProducerID(m.NextProducerId)
	}
}

func (d *Delta) setConfig(m *records.ConfigRecord) {
	key := ConfigKey{Type: m.ResourceType, Resource: m.ResourceName, Name: m.Name}
	if m.Value == nil {
		drop(d, &d.next.configs, key)
		return
	}
	put(d, &d.next.configs, key, *m.Value, hashConfig(key, *m.Value))
}
