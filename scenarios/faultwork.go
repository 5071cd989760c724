//nodet:room

package scenarios

import (
	"errors"
	"strconv"
	"syscall"
	"time"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// clockErrorNs is the largest backward step plus the longest pause that the plan has, and the longest that a slow disk may keep a
// thread: bounds that speak of timers grow by it.
func clockErrorNs(p *plan.Plan) int64 {
	var back, pause int64
	for i := range p.Actions {
		a := &p.Actions[i]
		switch a.Kind {
		case "jump":
			back += max(0, -parseNs(a.Params["by"]))
		case "pause":
			pause += parseNs(a.Params["for"])
		}
	}
	return back + pause + stallNs(p) + p.Scheduler.WindowUs*1000 // what a scheduler holds back is late like a thread that stands still
}

// stallNs is how long the disk operations of one turn may take where the plan slows disks down: a handful of writes and two syncs.
func stallNs(p *plan.Plan) (worst int64) {
	d := &p.Disk
	turn := (2*d.SyncNs + 8*(d.WriteNs+d.MetadataNs)) * (100 + d.JitterPercent) / 100
	if d.SlowSyncPpm > 0 {
		worst = 2 * d.SlowSyncNs
	}
	for i := range p.Actions {
		a := &p.Actions[i]
		switch a.Kind {
		case "disk-slow":
			percent, _ := strconv.ParseInt(a.Params["percent"], 10, 64)
			worst = max(worst, (turn+2*d.SlowSyncNs*min(d.SlowSyncPpm, 1))*percent/100)
		case "disk-stuck":
			worst = max(worst, parseNs(a.Params["for"]))
		}
	}
	return worst
}

func parseNs(s string) int64 {
	d, _ := time.ParseDuration(s)
	return int64(d)
}

// allowStop says which errors a process may end with, because a fault in the plan causes them (the declared outcome of disk
// errors is: stop).
func (s *settings) allowStop(p *plan.Plan) func(host string, refused bool, err error) bool {
	replaced, swapped, rots := false, false, flips(p) || strays(p)
	readOnly := false
	readErrors := p.Disk.ReadErrorPpm > 0
	diskErrors := readErrors || p.Disk.WriteErrorPpm+p.Disk.SyncErrorPpm > 0
	for i := range p.Actions {
		a := &p.Actions[i]
		readErrors = readErrors || a.Kind == "disk-error" && a.Params["on"] == "read"
		diskErrors = diskErrors || a.Kind == "disk-error" || a.Kind == "disk-full" // a slow or stuck disk fails nothing
		replaced = replaced || a.Kind == "replace-disk"
		swapped = swapped || a.Kind == "swap" || a.Kind == "clone"
		readOnly = readOnly || a.Kind == "read-only"
	}
	return func(host string, refused bool, err error) bool {
		if refused && s.refusedAsDeclared(host, err) {
			return true
		}
		if replaced && errors.Is(err, raft.ErrInconsistentLeader) {
			return true // who still takes the node for the leader that it was before its disk went contradicts it
		}
		if swapped && errors.Is(err, metaprops.ErrNodeID) || rots && errors.Is(err, record.ErrCorrupt) {
			return true // a node refuses the disk of another, and hands no damaged batch to its state machine
		}
		if readOnly && (errors.Is(err, syscall.EROFS) || errors.Is(err, metaprops.ErrMetadataDirFailed)) {
			return true
		}
		return diskErrors && (errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC)) ||
			readErrors && (errors.Is(err, metaprops.ErrNoneValid) || errors.Is(err, metaprops.ErrMetadataDirFailed))
	}
}
