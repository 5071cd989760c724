package image

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/records"
)

// MetadataVersion is the name of the feature that all others hang on.
const MetadataVersion = "metadata.version"

// KRaftVersion is the feature that raft keeps for itself; records that name it change no image (KAFKA-18979).
const KRaftVersion = "kraft.version"

// ErrNoPart is wrapped by ChangeOf for a record that this package has no part for, transaction markers included.
var ErrNoPart = errors.New("image: record has no place in the image")

// Part says which part of the image a change belongs to.
type Part uint8

// The parts, in the order in which a snapshot writes them (metadata-bootstrap 7.2).
const (
	PartNone      Part = iota // changes nothing
	PartFeature               // Name, Level
	PartClusterID             // Value
	PartConfig                // Type, Resource, Name, Value
	PartScram                 // Type, Name, Scram
	numParts
)

// String returns the part's name.
func (p Part) String() string {
	switch p {
	case PartNone:
		return "none"
	case PartFeature:
		return "feature"
	case PartClusterID:
		return "cluster-id"
	case PartConfig:
		return "config"
	case PartScram:
		return "scram"
	}
	panic(fmt.Sprintf("image: no part %d", uint8(p)))
}

// Change sets or deletes one entry of an image. It is plain data; the strings are shared and immutable.
type Change struct {
	Part     Part
	Deleted  bool   // the entry is absent afterwards
	Type     int8   // configuration: resource type; SCRAM: mechanism
	Level    int16  // feature level; absent when Deleted
	Resource string // configuration: resource name, "" = default of all brokers
	Name     string // feature, configuration or SCRAM user
	Value    string // configuration value, cluster id
	Scram    *ScramCredential
}

// ScramCredential is the stored form of one user's secret under one mechanism (KIP-900). Immutable once made.
type ScramCredential struct {
	Salt, StoredKey, ServerKey []byte
	Iterations                 int32
}

// ChangeOf fills c with what r does to an image; Part is PartNone when it does nothing. The error wraps ErrNoPart for a
// record that this package does not take.
func ChangeOf(r records.Record, c *Change) error {
	*c = Change{}
	switch m := r.(type) {
	case *records.FeatureLevelRecord:
		if m.Name != KRaftVersion {
			*c = Change{Part: PartFeature, Name: m.Name, Level: m.FeatureLevel, Deleted: m.FeatureLevel == 0}
		}
	case *records.ClusterIdRecord:
		*c = Change{Part: PartClusterID, Value: m.ClusterId}
	case *records.ConfigRecord:
		*c = Change{Part: PartConfig, Type: m.ResourceType, Resource: m.ResourceName, Name: m.Name, Deleted: m.Value == nil}
		if m.Value != nil {
			c.Value = *m.Value
		}
	case *records.UserScramCredentialRecord:
		*c = Change{Part: PartScram, Type: m.Mechanism, Name: m.Name, Scram: &ScramCredential{
			Salt: m.Salt, StoredKey: m.StoredKey, ServerKey: m.ServerKey, Iterations: m.Iterations,
		}}
	case *records.RemoveUserScramCredentialRecord:
		*c = Change{Part: PartScram, Type: m.Mechanism, Name: m.Name, Deleted: true}
	case *records.NoOpRecord, *records.ZkMigrationStateRecord: // read and ignored (metadata-bootstrap 6.1)
	default:
		return fmt.Errorf("%w: %s", ErrNoPart, r.RecordName())
	}
	return nil
}
