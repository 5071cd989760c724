package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// Dosage: how often crashes struck each place in raft and metadata that changes a disk. A place goes by its purpose, the file and the
// operation, and a crash strikes before it (it was the next operation of a handler), during it, or after it (it was the last that the host
// had done). A place that no crash of a large campaign strikes is one whose recovery nobody has tested.

// diskSites lists the places, by file.
func diskSites() []sim.SiteDoc {
	replaced := []string{"create", "write", "fsync", "rename"}
	var list []sim.SiteDoc
	for _, f := range []struct {
		file, doc  string
		operations []string
	}{
		{"segment", "the metadata log", []string{"create", "write", "fsync", "truncate", "rename", "remove"}},
		{"quorum-state", "epoch and vote, by way of a temporary file", replaced},
		{"leader-epoch-checkpoint", "where epochs begin, by way of a temporary file", replaced},
		{"partition.metadata", "the topic id, by way of a temporary file", replaced},
		{"snapshot", "a checkpoint of the image, by way of a .part file", []string{"create", "write", "fsync", "rename", "remove"}},
		{"meta.properties", "the identity of a directory, by way of a temporary file", replaced},
		{"bootstrap.checkpoint", "what the format tool leaves for the first leader", replaced},
		{"partition directory", "names of the metadata log and its snapshots", []string{"mkdir", "fsync"}},
		{"log directory", "names of what the format tool makes", []string{"mkdir", "fsync"}},
	} {
		for _, op := range f.operations {
			// Of the writes these may reach beyond a sector. A write within one is whole or not there (vdisk R8), as an fsync and a change of
			// names are (R1, R2).
			parts := op == "write" && (f.file == "segment" || f.file == "snapshot" || f.file == "bootstrap.checkpoint")
			list = append(list, sim.SiteDoc{Name: f.file + " " + op, Doc: f.doc, Parts: parts})
		}
	}
	return list
}

// siteOf names the place of an operation, "" for one that is no call of raft or metadata.
func siteOf(kind vdisk.Kind, path string) string {
	op := map[vdisk.Kind]string{vdisk.OpCreate: " create", vdisk.OpWrite: " write", vdisk.OpSync: " fsync", vdisk.OpSyncFailed: " fsync",
		vdisk.OpTruncate: " truncate", vdisk.OpRename: " rename", vdisk.OpRemove: " remove", vdisk.OpMkdir: " mkdir", vdisk.OpSyncDir: " fsync"}[kind]
	if op == "" {
		return ""
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	if kind == vdisk.OpMkdir || kind == vdisk.OpSyncDir {
		if name == bootstrap.PartitionDir {
			return "partition directory" + op
		}
		return "log directory" + op
	}
	whole := name
	for _, suffix := range []string{".tmp", ".part", ".deleted"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if kind == vdisk.OpTruncate && whole != name { // what an earlier life left is written over
		op = " write"
	}
	switch {
	case strings.HasSuffix(name, ".log"):
		return "segment" + op
	case name == quorumstate.FileName || name == "leader-epoch-checkpoint" || name == "partition.metadata" || name == metaprops.FileName:
		return name + op
	case strings.HasSuffix(name, ".checkpoint") && kind != vdisk.OpRemove &&
		(name == bootstrap.FileName || strings.HasPrefix(name, strings.TrimSuffix(bootstrap.CheckpointName, ".checkpoint"))):
		return "bootstrap.checkpoint" + op // its part has a number behind the name
	case strings.HasSuffix(name, ".checkpoint"):
		return "snapshot" + op
	}
	return ""
}

// stormFamily are the storms whose dosage is a share of their runs.
const stormFamily = "raft/storm"

// leaderChanges is how often a storm changes the leader that was elected first.
const leaderChanges = 2

// stormSometimes is the dosage of storms: one that disturbs nothing shows nothing.
func stormSometimes() []sim.SometimesDoc {
	return []sim.SometimesDoc{
		{Name: "two-leader-changes", Scenario: stormFamily, DuePerMillion: 500_000, SharePerMillion: 500_000, Doc: "after its first leader a cluster elects two more, or more; in half of the runs at least"},
		{Name: "crash-inside-a-handler", Scenario: stormFamily, DuePerMillion: 200_000, SharePerMillion: 200_000,
			Doc: "a process dies in the middle of what it does to a disk; in a fifth of the runs at least"},
	}
}

// dosage is the checker.
type dosage struct {
	w       *sim.World
	known   []string
	last    []lastOp // by host
	changes *int64   // conditions
	inside  *int64
}

// lastOp is the last operation that a host has done in this life.
type lastOp struct {
	kind vdisk.Kind
	path string
}

// Attach is sim.Checker.
func (d *dosage) Attach(w *sim.World) {
	d.w = w
	if d.known == nil {
		for _, s := range diskSites() {
			d.known = append(d.known, s.Name)
		}
	}
	d.last = append(d.last[:0], make([]lastOp, len(w.Hosts()))...)
	d.changes, d.inside = w.Sometimes("two-leader-changes"), w.Sometimes("crash-inside-a-handler")
}

// AtEnd is sim.EndChecker.
func (d *dosage) AtEnd() {
	if *d.w.Stat("elections") > leaderChanges {
		*d.changes++
	}
}

// OnDisk is sim.DiskChecker.
func (d *dosage) OnDisk(h *sim.Host, _ *vdisk.Volume, op *vdisk.Op) {
	if op.Kind != vdisk.OpReset && op.Kind != vdisk.OpVanish {
		d.last[h.Index()] = lastOp{op.Kind, op.Path}
	}
}

// OnDiskCrash is sim.DiskChecker.
func (d *dosage) OnDiskCrash(*sim.Host, *vdisk.Volume) {}

// OnCrashAt is sim.CrashChecker.
func (d *dosage) OnCrashAt(h *sim.Host, op *vdisk.Op, begun bool) {
	*d.inside++
	if begun {
		d.count(op.Kind, op.Path, sim.SiteDuring)
	} else {
		d.count(op.Kind, op.Path, sim.SiteBefore)
	}
}

// OnBoot is sim.LifeChecker.
func (d *dosage) OnBoot(h *sim.Host) { d.last[h.Index()] = lastOp{} }

// OnDown is sim.LifeChecker.
func (d *dosage) OnDown(h *sim.Host, kind sim.DownKind, _ error) {
	if at := d.last[h.Index()]; kind == sim.Killed || kind == sim.PowerLost {
		d.count(at.kind, at.path, sim.SiteAfter)
	}
}

func (d *dosage) count(kind vdisk.Kind, path string, when string) {
	if site := siteOf(kind, path); slices.Contains(d.known, site) {
		*d.w.Stat(sim.SiteStat(site, when))++
	}
}
