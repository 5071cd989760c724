package scenarios

import (
	"bytes"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

const (
	secondProcessKind = "second-process"
	saysLocked        = "a directory is in use by another process"
)

var oneProcess = sim.InvariantDoc{Name: "one-process", Source: "KAFKA-14557; formats 9",
	Doc: "While a process lives, no second one gets past the lock of its directories, and the attempt changes nothing on the disk. Evidence is " +
		"not-refused or changed."}

func secondProcessAction() plan.Kind {
	host := fieldNode
	host.Symbolic = true
	return plan.Kind{Name: secondProcessKind, Doc: "a second process starts on the directories of a node that runs, and ends again",
		Fields: []plan.Field{host, fieldExpect}}
}

// secondProcess starts the node of a host once more, beside the one that runs, with the same configuration on the same disk: the steps from
// identity to the opening of log and quorum-state, then its end. It speaks to nobody. It takes no time and meets no error but those
// that an action forces, so that only the lock is between the two.
func (t *tools) secondProcess(w *sim.World, a *sim.Act) string {
	h := a.Host("host")
	if h == nil || a.Error != nil {
		return ""
	}
	n := nodeOf(h)
	switch {
	case t.c.hosts[h.Index()].kind == kindOperator:
		return t.refuse(a, "no node is there")
	case !h.Up() || n == nil:
		return t.refuse(a, "no node runs there: nothing is locked")
	case h.Booting():
		return t.refuse(a, "it is starting")
	}
	volume := h.Volume()
	before := volume.AppendState(nil)
	handle := volume.Handle(vdisk.Immediate{})
	passed, err := t.c.startBeside(handle, n.h, w.NowNs()/million)
	handle.Drop()
	*w.Evaluated(oneProcess.Name)++
	said := "it starts"
	if err != nil {
		said = err.Error()
	}
	switch {
	case !bytes.Equal(before, volume.AppendState(nil)):
		w.Violate(oneProcess.Name, "changed", "a second process on the directories of "+h.ID()+" changed the disk: "+said)
	case passed:
		w.Violate(oneProcess.Name, "not-refused", "a second process on the directories of "+h.ID()+" was not kept out: "+said)
	}
	t.answer(ToolAnswer{Action: a.ID, Tool: secondProcessKind, Host: h.ID(), Refused: err != nil, Lines: []string{said}}, a.Params["expect"])
	return ""
}

// startBeside takes the steps of node.Boot that touch the disk. passed tells that none before the opening of the log refused it.
func (c *cluster) startBeside(disk files.Locker, h *hostSettings, nowMs int64) (passed bool, err error) {
	who, err := startup.Run(disk, c.startupConfig(h, nowMs, plainIdentities{}))
	if err != nil {
		return false, err
	}
	replica := raft.New(c.raftConfig(h, who), raft.Deps{
		Files: disk, Dir: bootstrap.PartitionPath(h.metadataDir), Transport: mute{}, Chooser: plainTimeouts{},
	})
	return true, replica.Open(nowMs)
}

// mute is the transport of who speaks to nobody.
type mute struct{}

func (mute) Dial(string, uint16) int64 { return 0 }
func (mute) Send(int64, raft.Message)  {}
func (mute) CloseConn(int64)           {}

// plainIdentities and plainTimeouts draw without decisions.
type (
	plainIdentities struct{}
	plainTimeouts   struct{}
)

func (plainIdentities) Choose(_ format.Site, key uint64, n int64) int64 {
	return int64(decide.Combine(key, 1)>>1) % n
}
func (plainTimeouts) Choose(raft.Site, uint64, int64) int64 { return 0 }
