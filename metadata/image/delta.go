package image

import "github.com/kraftsim/kraftsim/metadata/records"

// Delta is a list of changes that are not in the image yet. The zero Delta is empty; Reset keeps its memory.
type Delta struct {
	changes []Change
	parts   uint32 // bit for each Part that has a change
	replays int64
}

// Reset forgets all changes.
func (d *Delta) Reset() { *d = Delta{changes: d.changes[:0]} }

// Replay adds what r does. The error wraps ErrNoPart; nothing is added then.
func (d *Delta) Replay(r records.Record) error {
	var c Change
	if err := ChangeOf(r, &c); err != nil {
		return err
	}
	d.replays++
	d.add(c)
	return nil
}

func (d *Delta) add(c Change) {
	if c.Part == PartNone {
		return
	}
	d.changes = append(d.changes, c)
	d.parts |= 1 << c.Part
}

// Records returns how many records were replayed since Reset, those without effect included.
func (d *Delta) Records() int64 { return d.replays }

// Changes returns the changes in log order; a later one overrides an earlier one. Read only, valid until Reset.
func (d *Delta) Changes() []Change { return d.changes }

// Changed tells whether any change is in the given part.
func (d *Delta) Changed(p Part) bool { return d.parts&(1<<p) != 0 }

// ClusterID returns the cluster id that the delta sets, "" when it sets none.
func (d *Delta) ClusterID() string {
	if !d.Changed(PartClusterID) {
		return ""
	}
	for at := len(d.changes) - 1; at >= 0; at-- {
		if d.changes[at].Part == PartClusterID {
			return d.changes[at].Value
		}
	}
	return ""
}

// FillFull makes d the delta that leads from an empty image to i: what a new publisher is told first.
func (d *Delta) FillFull(i *Image) {
	d.Reset()
	for _, f := range i.features {
		d.add(Change{Part: PartFeature, Name: f.Name, Level: f.Level})
	}
	if i.clusterID != "" {
		d.add(Change{Part: PartClusterID, Value: i.clusterID})
	}
	for _, key := range i.ConfigKeys() {
		d.add(Change{Part: PartConfig, Type: key.Type, Resource: key.Resource, Name: key.Name, Value: i.configs[key]})
	}
	for _, key := range i.ScramKeys() {
		d.add(Change{Part: PartScram, Type: key.Mechanism, Name: key.User, Scram: i.scram[key]})
	}
}

// FinishSnapshot makes d, which holds the records of a snapshot, the delta that leads from i to the snapshot's state: what i
// has and the snapshot does not mention is deleted (metadata-bootstrap 7.2, point 6).
func (d *Delta) FinishSnapshot(i *Image) {
	features := make(map[string]bool)
	configs := make(map[ConfigKey]bool)
	scram := make(map[ScramKey]bool)
	for at := range d.changes {
		switch c := &d.changes[at]; c.Part {
		case PartFeature:
			features[c.Name] = true
		case PartConfig:
			configs[ConfigKey{Type: c.Type, Resource: c.Resource, Name: c.Name}] = true
		case PartScram:
			scram[ScramKey{Mechanism: c.Type, User: c.Name}] = true
		}
	}
	for _, f := range i.features {
		if !features[f.Name] {
			d.add(Change{Part: PartFeature, Name: f.Name, Deleted: true})
		}
	}
	if i.clusterID != "" && !d.Changed(PartClusterID) {
		d.add(Change{Part: PartClusterID, Deleted: true})
	}
	for _, key := range i.ConfigKeys() {
		if !configs[key] {
			d.add(Change{Part: PartConfig, Type: key.Type, Resource: key.Resource, Name: key.Name, Deleted: true})
		}
	}
	for _, key := range i.ScramKeys() {
		if !scram[key] {
			d.add(Change{Part: PartScram, Type: key.Mechanism, Name: key.User, Deleted: true})
		}
	}
}
