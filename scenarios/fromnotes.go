package scenarios

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// FromNotes is what an operator should know of a tree beside how its node does: Kafka takes it without a word.
type FromNotes struct {
	Warnings []string `json:"warnings"` // one line each; never nil
	Cut      *LogCut  `json:"cut,omitempty"`
}

// LogCut is what the start of the node drops from the end of its log (formats 9.3). The tree itself keeps it.
type LogCut struct {
	File        string `json:"file"`     // segment with the first bad batch
	Position    int64  `json:"position"` // of that batch, bytes
	Reason      string `json:"reason"`
	Bytes       int64  `json:"bytes"`        // dropped, later segments included
	EndOffset   int64  `json:"end_offset"`   // first offset that is lost: the log ends there then
	RecordsLost int64  `json:"records_lost"` // by the headers behind the cut that can be read; -1: none can
}

// ExaminedPlanFrom makes the plan of PlanFrom and examines the tree as whoever sends it would like to have it examined. Records
// that no release can replay are an error about the input that names file, offset and record: to run them would show that a node
// stops, as it must, and read like a defect. What only the chosen release refuses is still left to the node.
func ExaminedPlanFrom(tree fs.FS, seed uint64, o FromOptions) (*plan.Plan, *FromNotes, error) {
	p := newPlanFrom(seed)
	d := dice{seed: seed}
	b, err := d.fillFrom(p, tree, "", o)
	if err != nil {
		return nil, nil, err
	}
	if err := b.t.replayable(); err != nil {
		return nil, nil, err
	}
	d.calmBootstrap(p)
	notes := &FromNotes{Warnings: []string{}}
	notes.cut(b.t)
	notes.voterLists(b)
	return p, notes, nil
}

// voterLists compares the voters that quorum-state remembers with those of the run. With a static quorum the file has the list
// of the node's last start. Majorities of different lists need not overlap: here is the time to repair it.
func (n *FromNotes) voterLists(b *fromBuilder) {
	name := path.Join(b.t.metadataDir(), bootstrap.PartitionDir, quorumstate.FileName)
	content, found := b.t.file(b.t.metadataDir(), bootstrap.PartitionDir+"/"+quorumstate.FileName)
	if !found {
		return
	}
	var stored struct {
		CurrentVoters []struct {
			VoterID int32 `json:"voterId"`
		} `json:"currentVoters"`
	}
	if json.Unmarshal(content, &stored) != nil || len(stored.CurrentVoters) == 0 {
		return // version 1 keeps no list; a file that cannot be read stops the node
	}
	var remembered, used []int32
	for _, v := range stored.CurrentVoters {
		remembered = append(remembered, v.VoterID)
	}
	for i := range b.set {
		used = append(used, b.set[i].nodeID)
	}
	slices.Sort(remembered)
	slices.Sort(used)
	if remembered = slices.Compact(remembered); slices.Equal(remembered, used) {
		return
	}
	advice := "give --voters as in controller.quorum.voters; where the files of the nodes differ, repair that before a restart"
	if b.t.dynamic() {
		advice = "the voter set of the log counts"
	}
	n.Warnings = append(n.Warnings, fmt.Sprintf("%s: currentVoters: the node last ran with the voters %s, this run has %s: majorities of two lists need not overlap; %s",
		path.Join(b.t.where, name), idList(remembered), idList(used), advice))
}

func idList(ids []int32) string {
	var words []string
	for _, id := range ids {
		words = append(words, number(int64(id)))
	}
	return strings.Join(words, ",")
}

// cut opens a copy of the log as the node will. A log that cannot be opened is for the node to refuse.
func (n *FromNotes) cut(t *storage) {
	dir := "/" + path.Join(t.metadataDir(), bootstrap.PartitionDir)
	volume := vdisk.NewVolume("examined", vdisk.Model{})
	for i := range t.files {
		f := &t.files[i]
		if f.dir == t.metadataDir() && strings.HasPrefix(f.name, bootstrap.PartitionDir+"/") {
			volume.Load("/"+path.Join(f.dir, f.name), f.data)
		}
	}
	l, err := raftlog.Open(volume.Handle(vdisk.Immediate{}), dir, raftlog.Config{})
	if err != nil {
		return
	}
	r := l.Recovered()
	if r.BytesCut > 0 {
		n.Cut = &LogCut{File: path.Join(t.where, dir[1:], fmt.Sprintf("%020d.log", r.BadSegment)), Position: r.BadPosition, Reason: r.Reason,
			Bytes: r.BytesCut, EndOffset: r.EndAfter, RecordsLost: -1}
		lost := "no header behind that can be read, so nothing tells how many records are lost"
		if r.EndBefore >= 0 {
			n.Cut.RecordsLost = max(0, r.EndBefore-r.EndAfter)
			lost = fmt.Sprintf("records lost by what headers say: %d", n.Cut.RecordsLost)
		}
		n.Warnings = append(n.Warnings, fmt.Sprintf("%s: position %d: %s: the start cuts %d bytes here, the log then ends at offset %d; %s",
			n.Cut.File, r.BadPosition, r.Reason, r.BytesCut, r.EndAfter, lost))
	}
	if r.TruncatedToSnapshot && t.log.segments {
		n.Warnings = append(n.Warnings, fmt.Sprintf("%s: the latest snapshot is ahead of the log: the start drops the log in its favour and goes on at offset %d",
			path.Join(t.where, dir[1:]), r.EndAfter))
	}
}
