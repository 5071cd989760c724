package image

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrLoss is wrapped when an image holds what the metadata.version it is written at cannot express (metadata-bootstrap 7.2):
// an error for a real snapshot, since the data would be gone.
var ErrLoss = errors.New("image: not representable at this metadata.version")

// featureLevelSince is the lowest metadata.version that a record can name: 3.3-IV0, which brought the record.
const featureLevelSince int16 = 4

// WriteOptions says how an image becomes records.
type WriteOptions struct {
	// MetadataVersion decides which records and which of their versions are written. It is what the snapshot will say is
	// in force, whatever the image says.
	MetadataVersion int16
	// Loss is told in a few words of each thing that cannot be written at that version. Nil, or an error from it, ends
	// the writing with ErrLoss.
	Loss func(what string) error
}

func (o *WriteOptions) lose(what string) error {
	var cause error
	if o.Loss != nil {
		if cause = o.Loss(what); cause == nil {
			return nil
		}
		return fmt.Errorf("%w %d: %s: %w", ErrLoss, o.MetadataVersion, what, cause)
	}
	return fmt.Errorf("%w %d: %s", ErrLoss, o.MetadataVersion, what)
}

// Versioned is a record and the version that it is to be encoded with.
type Versioned struct {
	Record  records.Record
	Version int16
}

// Write hands the records that recreate the image to sink, in the order in which Kafka writes a snapshot (metadata-bootstrap
// 7.2): metadata.version, the other features; cluster id, brokers, controllers; each topic followed by its partitions;
// configurations; client quotas; producer ids; access control entries; SCRAM credentials; delegation tokens. Where the
// original follows a hash map the order here is ascending. Sink may keep the records; they share memory with the image.
func (i *Image) Write(o *WriteOptions, sink func(r records.Record, version int16) error) error {
	w := writer{o: o, sink: sink}
	i.writeFeatures(&w)
	i.writeCluster(&w)
	i.writeTopics(&w)
	for key, value := range i.Configs() {
		w.write(&records.ConfigRecord{ResourceType: key.Type, ResourceName: key.Resource, Name: key.Name, Value: &value}, 0)
	}
	for key, value := range i.Quotas() {
		w.write(&records.ClientQuotaRecord{Entity: key.Entity.Parts(), Key: key.Name, Value: value}, 0)
	}
	if i.producerID != noProducerID {
		w.write(&records.ProducerIdsRecord{BrokerId: -1, BrokerEpoch: -1, NextProducerId: i.producerID}, 0)
	}
	for a := range i.ACLs() {
		w.write(a.toRecord(), 0)
	}
	if w.has(records.UserScramCredentialRecordSince, i.scram.Len() > 0, "SCRAM credentials") {
		for key, c := range i.Scrams() {
			w.write(c.toRecord(key), 0)
		}
	}
	if w.has(records.DelegationTokenRecordSince, i.tokens.Len() > 0, "delegation tokens") {
		for t := range i.Tokens() {
			w.write(t.toRecord(), 0)
		}
	}
	return w.err
}

// writer keeps the first error; after it nothing is written.
type writer struct {
	o    *WriteOptions
	sink func(r records.Record, version int16) error
	err  error
}

func (w *writer) write(r records.Record, version int16) {
	if w.err == nil {
		w.err = w.sink(r, version)
	}
}

// has tells whether there is something that can be written; what cannot is lost.
func (w *writer) has(since int16, some bool, what string) bool {
	if !some || w.err != nil {
		return false
	}
	if w.o.MetadataVersion >= since {
		return true
	}
	w.err = w.o.lose(what)
	return false
}

func (i *Image) writeFeatures(w *writer) {
	if !w.has(featureLevelSince, len(i.features) > 0, "feature levels") {
		return
	}
	if i.mv != 0 {
		w.write(&records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: w.o.MetadataVersion}, 0)
	}
	for _, f := range i.features {
		if f.Name != MetadataVersion {
			w.write(&records.FeatureLevelRecord{Name: f.Name, FeatureLevel: f.Level}, 0)
		}
	}
}

func (i *Image) writeCluster(w *writer) {
	if w.has(records.ClusterIdRecordSince, i.clusterID != "", "the cluster id") {
		w.write(&records.ClusterIdRecord{ClusterId: i.clusterID}, 0)
	}
	for b := range i.Brokers() {
		r, version, err := b.toRecord(w.o)
		if err != nil && w.err == nil {
			w.err = err
		}
		w.write(r, version)
	}
	if w.has(records.RegisterControllerRecordSince, i.controllers.Len() > 0, "controller registrations") {
		for c := range i.Controllers() {
			w.write(c.toRecord(), 0)
		}
	}
}

func (i *Image) writeTopics(w *writer) {
	for t := range i.TopicsByID() {
		if w.err != nil {
			return
		}
		w.write(&records.TopicRecord{Name: t.Name, TopicId: t.ID}, 0)
		for number, p := range i.Partitions(t.ID) {
			r, version, err := p.toRecord(PartitionKey{t.ID, number}, w.o)
			if err != nil && w.err == nil {
				w.err = err
			}
			w.write(r, version)
		}
	}
}

// Records returns what Write writes at the image's own metadata.version, where every loss is an error.
func (i *Image) Records() ([]Versioned, error) {
	var list []Versioned
	err := i.Write(&WriteOptions{MetadataVersion: i.mv}, func(r records.Record, version int16) error {
		list = append(list, Versioned{r, version})
		return nil
	})
	return list, err
}

// AppendFrames appends what Write writes at the image's own metadata.version, encoded: the content of a snapshot. Every loss is
// an error. Nobody writes to the frames afterwards, so they may be kept; they share large pieces of memory.
func (i *Image) AppendFrames(dst [][]byte) ([][]byte, error) {
	var chunk []byte
	room := firstChunk
	err := i.Write(&WriteOptions{MetadataVersion: i.mv}, func(r records.Record, version int16) error {
		if err := r.Check(version); err != nil {
			return err
		}
		if cap(chunk)-len(chunk) < frameRoom {
			chunk, room = make([]byte, 0, room), chunkBytes
		}
		start := len(chunk)
		chunk = records.Append(chunk, r, version)
		dst = append(dst, chunk[start:len(chunk):len(chunk)])
		return nil
	})
	return dst, err
}

const (
	firstChunk = 1 << 10 // the image of a cluster without topics
	chunkBytes = 4 << 10
	frameRoom  = 256 // a longer frame costs a copy of its chunk
)

// canonicalLevel has every record and every field.
const canonicalLevel int16 = 1<<15 - 1

// AppendTo appends the canonical bytes of the content. Two images are equal exactly when these bytes are. Provenance is left
// out; it has an AppendTo of its own.
func (i *Image) AppendTo(buf []byte) []byte {
	buf = record.AppendInt16(buf, i.mv)
	_ = i.Write(&WriteOptions{MetadataVersion: canonicalLevel}, func(r records.Record, version int16) error {
		start := len(buf)
		buf = records.Append(record.AppendInt32(buf, 0), r, version)
		copy(buf[start:start+4], record.AppendInt32(nil, int32(len(buf)-start-4)))
		return nil
	})
	return buf
}
