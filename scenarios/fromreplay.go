package scenarios

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// treeReplay replays the records that a start will keep, as the readers of the log do (metadata-bootstrap 7.2), under the most
// that any release can do.
type treeReplay struct {
	t     *storage
	image *image.Image // before the open transaction
	delta image.Delta
	open  bool // a transaction is
}

// replayable refuses a tree with a record that no release can replay, whole batches and checksums notwithstanding. Damage is no
// matter of this: the node cuts it or refuses it with an error of its own.
func (t *storage) replayable() error {
	p := &treeReplay{t: t, image: image.New()}
	p.delta.Reset(p.image)
	segments, snapshots := t.logFiles()
	from := int64(0)
	if len(snapshots) > 0 {
		latest := &snapshots[len(snapshots)-1]
		if _, err := raft.CheckSnapshot(latest.data); err != nil {
			return nil // the node says so
		}
		if _, err := p.file(latest.treeFile, 0, true); err != nil {
			return err
		}
		from = latest.id.Offset
		if t.log.batches == 0 {
			return nil // the log is dropped for it
		}
	}
	for _, s := range segments {
		if whole, err := p.file(s.treeFile, from, false); err != nil || !whole {
			return err
		}
	}
	return nil
}

// file replays the records of a file from an offset on, up to the first bad batch: whole is false when there is one.
func (p *treeReplay) file(f *treeFile, from int64, snapshot bool) (whole bool, err error) {
	var it record.Iterator
	for content := f.data; len(content) > 0; {
		batch, rest, err := record.NextFileBatch(content)
		if err != nil || len(batch) == 0 || batch.Verify() != nil {
			return false, nil // recovery cuts here
		}
		content = rest
		if batch.IsControl() {
			continue
		}
		var raw record.Record
		for it.Reset(batch); it.Next(&raw); {
			if raw.Offset < from {
				continue
			}
			name := "metadata record"
			m, _, err := records.Decode(raw.Value)
			if err == nil {
				name = m.RecordName()
				err = p.record(m, snapshot)
			}
			if err != nil {
				return false, p.t.refuse(f.dir+"/"+f.name, fmt.Sprintf("offset %d: %s", raw.Offset, name),
					"no release can replay it: %v", err)
			}
		}
		if it.Err() != nil {
			return false, nil // for the node
		}
	}
	return true, nil
}

func (p *treeReplay) record(m records.Record, snapshot bool) error {
	if snapshot {
		return p.change(m) // a transaction's marker has no place there
	}
	switch m.(type) {
	case *records.BeginTransactionRecord:
		if p.open {
			return errors.New("it begins a transaction inside another one")
		}
		p.open, p.image = true, p.delta.Apply(image.Provenance{})
		p.delta.Reset(p.image)
	case *records.EndTransactionRecord, *records.AbortTransactionRecord:
		if !p.open {
			return errors.New("no transaction is open")
		}
		p.open = false
		if m.APIKey() == records.AbortTransactionRecordKey {
			p.delta.Reset(p.image)
		}
	default:
		return p.change(m)
	}
	return nil
}

func (p *treeReplay) change(m records.Record) error {
	switch m := m.(type) {
	case *records.FeatureLevelRecord:
		if m.Name != image.KRaftVersion && m.FeatureLevel != 0 && !levelOfSome(m) {
			return fmt.Errorf("%s %d is no level of any of them", m.Name, m.FeatureLevel)
		}
	case *records.ClusterIdRecord:
		if have := p.delta.Image().ClusterID(); m.ClusterId == "" || have != "" && have != m.ClusterId {
			return fmt.Errorf("cluster id %q after %q", m.ClusterId, have)
		}
	}
	return p.delta.Replay(m)
}

// levelOfSome tells whether some release runs with that level of a feature.
func levelOfSome(m *records.FeatureLevelRecord) bool {
	for _, name := range features.Names() {
		rel, err := features.Find(name)
		if err != nil {
			continue
		}
		if lowest, highest, ok := rel.Range(m.Name, true); ok && m.FeatureLevel >= lowest && m.FeatureLevel <= highest {
			return true
		}
	}
	return false
}
