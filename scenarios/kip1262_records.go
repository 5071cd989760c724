package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// kipRecordKind says what a record is.
type kipRecordKind uint8

const (
	recordVersion kipRecordKind = iota + 1
	recordID
	recordBegin
	recordEnd
	recordAbort
)

// decode notes the records of batches that a process wrote into a log.
func (k *kipWitness) decode(h *sim.Host, data []byte) {
	batchesOf(data, func(b record.Batch) {
		from := len(k.seen)
		k.seen = factsOf(k.seen, b)
		for i := from; i < len(k.seen); i++ {
			x := &k.seen[i]
			x.host, x.atNs = int32(h.Index()), k.w.NowNs()
			k.appendStep(h, x)
			if x.kind == recordID {
				k.notes["written"] = 1
			}
		}
	})
}

// factsOf appends the records of a batch that matter.
func factsOf(list []kipRecord, b record.Batch) []kipRecord {
	eachRecord(b, func(offset int64, m records.Record) {
		x := kipRecord{offset: offset, base: b.BaseOffset(), epoch: b.LeaderEpoch()}
		switch m := m.(type) {
		case *records.FeatureLevelRecord:
			if m.Name != features.MetadataVersion {
				return
			}
			x.kind, x.level = recordVersion, m.FeatureLevel
		case *records.ClusterIdRecord:
			x.kind, x.id = recordID, m.ClusterId
		case *records.BeginTransactionRecord:
			x.kind = recordBegin
		case *records.EndTransactionRecord:
			x.kind = recordEnd
		case *records.AbortTransactionRecord:
			x.kind = recordAbort
		default:
			return
		}
		list = append(list, x)
	})
	return list
}

// committed reads the records that matter from the longest log of the cluster, as far as it is committed.
func (k *kipWitness) committed() (list []kipRecord) {
	var best []kipRecord
	longest := int64(-1)
	for _, h := range k.w.Hosts() {
		own, end := k.logOf(h)
		if end > longest {
			best, longest = own, end
		}
	}
	for _, x := range best {
		if x.offset < k.stable.End {
			list = append(list, x)
		}
	}
	return list
}

// logOf reads the records that matter from the log of a host, and where it ends.
func (k *kipWitness) logOf(h *sim.Host) (list []kipRecord, end int64) {
	k.eachBatch(h, func(b record.Batch) { list, end = factsOf(list, b), b.NextOffset() })
	return list, end
}

// eachBatch calls f with each batch of a host's log, as its files have them.
func (k *kipWitness) eachBatch(h *sim.Host, f func(b record.Batch)) {
	var paths []string
	h.Volume().Walk(func(path string, _ []byte) {
		if strings.HasPrefix(path, k.c.hosts[h.Index()].metadataDir+"/") && strings.HasSuffix(path, ".log") {
			paths = append(paths, path)
		}
	})
	slices.Sort(paths)
	for _, path := range paths {
		data, _ := h.Volume().File(path)
		batchesOf(data, f)
	}
}

// eachRecord calls f with each record of a data batch that decodes.
func eachRecord(b record.Batch, f func(offset int64, m records.Record)) {
	if b.IsControl() || b.RecordCount() <= 0 {
		return
	}
	var it record.Iterator
	var r record.Record
	for it.Reset(b); it.Next(&r); {
		if m, _, err := records.Decode(r.Value); err == nil {
			f(r.Offset, m)
		}
	}
}

// count counts the records of a kind.
func count(list []kipRecord, kind kipRecordKind) (n int64) {
	for i := range list {
		if list[i].kind == kind {
			n++
		}
	}
	return n
}

// abortedIDs are the cluster ids in transactions that were aborted.
func abortedIDs(list []kipRecord) (ids []string) {
	var open []string
	for i := range list {
		switch x := &list[i]; x.kind {
		case recordBegin, recordEnd:
			open = nil
		case recordID:
			open = append(open, x.id)
		case recordAbort:
			ids, open = append(ids, open...), nil
		}
	}
	return ids
}

// snapshot reads a snapshot that got its name (T26).
func (k *kipWitness) snapshot(h *sim.Host, v *vdisk.Volume, path string) {
	data, _ := v.File(path)
	var list []kipRecord
	batchesOf(data, func(b record.Batch) { list = factsOf(list, b) })
	level, id := false, false
	for i := range list {
		level = level || list[i].kind == recordVersion && list[i].level >= records.ClusterIdRecordSince
		id = id || list[i].kind == recordID && list[i].id != ""
	}
	if level != id && k.c.hasRecord() && !strings.HasSuffix(path, bootstrapCheckpoint) {
		k.notes["snapshot-half"]++
	}
	x := &k.hosts[h.Index()]
	for i := range x.dirs {
		if id && x.dirs[i].found && !x.dirs[i].props.HasClusterID {
			k.notes["snapshot-before-id"]++
			return
		}
	}
}

// bootstrapCheckpoint ends the name of the file that the format tool writes.
const bootstrapCheckpoint = "/00000000000000000000-0000000000.checkpoint"
