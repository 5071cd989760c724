package image

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrLoss is wrapped when an image holds what its own metadata.version cannot express (metadata-bootstrap 7.2): an
// error for a real snapshot, since the data would be gone.
var ErrLoss = errors.New("image: not representable at this metadata.version")

// AppendRecords appends the records that recreate the image, in the order in which Kafka writes a snapshot:
// metadata.version, the other features, the cluster id, configurations, SCRAM credentials (metadata-bootstrap 7.2).
// Where the original follows a hash map the order here is ascending.
func (i *Image) AppendRecords(dst []records.Record) ([]records.Record, error) {
	if i.mv != 0 {
		dst = append(dst, &records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: i.mv})
	}
	for _, f := range i.features {
		if f.Name != MetadataVersion {
			dst = append(dst, &records.FeatureLevelRecord{Name: f.Name, FeatureLevel: f.Level})
		}
	}
	if i.clusterID != "" {
		dst = append(dst, &records.ClusterIdRecord{ClusterId: i.clusterID})
	}
	for _, key := range i.ConfigKeys() {
		value := i.configs[key]
		dst = append(dst, &records.ConfigRecord{
			ResourceType: key.Type, ResourceName: key.Resource, Name: key.Name, Value: &value,
		})
	}
	for _, key := range i.ScramKeys() {
		c := i.scram[key]
		dst = append(dst, &records.UserScramCredentialRecord{
			Name: key.User, Mechanism: key.Mechanism, Salt: c.Salt, StoredKey: c.StoredKey, ServerKey: c.ServerKey,
			Iterations: c.Iterations,
		})
	}
	for _, r := range dst {
		if i.mv < r.Since() {
			return dst, fmt.Errorf("%w %d: %s needs %d", ErrLoss, i.mv, r.RecordName(), r.Since())
		}
	}
	return dst, nil
}

// AppendTo appends the canonical bytes of the content: counts and entries in ascending order. Two images are equal
// exactly when these bytes are. Provenance is left out; it has an AppendTo of its own.
func (i *Image) AppendTo(buf []byte) []byte {
	buf = record.AppendInt32(buf, int32(len(i.features)))
	for _, f := range i.features {
		buf = record.AppendInt16(record.AppendCompactString(buf, f.Name), f.Level)
	}
	buf = record.AppendCompactString(buf, i.clusterID)
	buf = record.AppendInt32(buf, int32(len(i.configs)))
	for _, key := range i.ConfigKeys() {
		buf = record.AppendCompactString(record.AppendInt8(buf, key.Type), key.Resource)
		buf = record.AppendCompactString(record.AppendCompactString(buf, key.Name), i.configs[key])
	}
	buf = record.AppendInt32(buf, int32(len(i.scram)))
	for _, key := range i.ScramKeys() {
		c := i.scram[key]
		buf = record.AppendCompactString(record.AppendInt8(buf, key.Mechanism), key.User)
		buf = record.AppendCompactBytes(record.AppendCompactBytes(buf, c.Salt), c.StoredKey)
		buf = record.AppendInt32(record.AppendCompactBytes(buf, c.ServerKey), c.Iterations)
	}
	return buf
}

// AppendTo appends the offset and the epoch.
func (p Provenance) AppendTo(buf []byte) []byte {
	return record.AppendInt32(record.AppendInt64(buf, p.Offset), p.Epoch)
}

// AppendTo appends the canonical bytes of a change.
func (c *Change) AppendTo(buf []byte) []byte {
	buf = record.AppendBool(record.AppendInt8(buf, int8(c.Part)), c.Deleted)
	buf = record.AppendInt16(record.AppendInt8(buf, c.Type), c.Level)
	buf = record.AppendCompactString(record.AppendCompactString(buf, c.Resource), c.Name)
	buf = record.AppendCompactString(buf, c.Value)
	if c.Scram == nil {
		return append(buf, 0)
	}
	return record.AppendInt64(append(buf, 1), int64(hashScram(ScramKey{Mechanism: c.Type, User: c.Name}, c.Scram)))
}
