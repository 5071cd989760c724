package scenarios

import (
	"errors"
	"slices"
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

// allowStop says which errors a process may end with, because a fault that has struck causes them. That the plan has the fault is not
// enough: the disk of that very host has failed an operation, a disk was exchanged, a bit has flipped.
func (c *cluster) allowStop(host string, refused bool, err error) bool {
	if refused && c.refusedAsDeclared(host, err) {
		return true
	}
	happened := func(kinds ...string) bool {
		return slices.ContainsFunc(kinds, func(kind string) bool { return *c.w.Stat("fault-" + kind) > 0 })
	}
	h := c.w.Host(host)
	if h == nil {
		return false
	}
	d := h.Volume().Struck()
	switch {
	case errors.Is(err, syscall.EIO):
		return d.ReadErrors+d.WriteErrors+d.SyncErrors > 0
	case errors.Is(err, syscall.ENOSPC):
		return d.NoSpace > 0
	case errors.Is(err, syscall.EROFS):
		return d.ReadOnly > 0
	case errors.Is(err, metaprops.ErrNoneValid):
		return d.ReadErrors > 0
	case errors.Is(err, metaprops.ErrMetadataDirFailed):
		return d.ReadErrors > 0 || d.ReadOnly > 0
	case errors.Is(err, metaprops.ErrNodeID):
		return happened("swap", "clone") // a node refuses the disk of another
	case errors.Is(err, record.ErrCorrupt):
		return happened("flip", "lost-write", "misdirected-write") // it hands no damaged batch to its state machine
	case errors.Is(err, raft.ErrInconsistentLeader):
		return happened("replace-disk") // who still takes the node for the leader that it was before its disk went contradicts it
	}
	return false
}
