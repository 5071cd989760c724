package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

const (
	statDeposed     = "live-leaders-deposed"
	statUnavailable = "unavailable-us"
	statMeasured    = "measured-us"
)

// PreVoteTasks draws the plans of the comparison of pre-vote on and off: storms, in which nodes are cut off and come back.
func PreVoteTasks(c *sim.Catalogue, first uint64, n int64) []CompareTask {
	return compareTasks(c, []string{"raft/storm-3", "raft/storm-5", "raft/lockstep"}, first, n)
}

// WithPreVote is the plan with or without pre-votes (KIP-996): software that knows no more than version 1 of Vote has none.
func WithPreVote(p *plan.Plan, on bool) *plan.Plan {
	q := p.Clone()
	q.Params["measure"] = "availability"
	for i := range q.Hosts {
		if !on {
			q.Hosts[i].Params["limits"] = "Vote:1"
		}
	}
	return q
}

// PreVoteFigures are what a run is compared by.
type PreVoteFigures struct {
	Elections     int64 `json:"elections"`
	Disruptive    int64 `json:"disruptive_elections"` // that ended the leadership of a live leader that had a majority
	UnavailableUs int64 `json:"unavailable_us"`       // virtual time of the storm in which no leader could commit
	MeasuredUs    int64 `json:"measured_us"`          // from the first commit of a leader to the end of the storm
}

// FiguresOf reads them from a verdict.
func FiguresOf(v *plan.Verdict) PreVoteFigures {
	return PreVoteFigures{Elections: v.Stats["elections"], Disruptive: v.Stats[statDeposed], UnavailableUs: v.Stats[statUnavailable],
		MeasuredUs: v.Stats[statMeasured]}
}

// availability measures for how long nobody could commit. A cluster is available from the moment at which a leader of the newest epoch
// raises its high watermark until that leader leads no more: it died, resigned, or another epoch began.
type availability struct {
	w       *sim.World
	leader  *sim.Host
	epoch   int32
	begun   bool // some leader has committed
	ready   bool // the present leader has
	sinceNs int64

	deposed, unavailable, measured *int64
}

// Attach is sim.Checker.
func (a *availability) Attach(w *sim.World) {
	*a = availability{w: w, epoch: -1, deposed: w.Stat(statDeposed), unavailable: w.Stat(statUnavailable), measured: w.Stat(statMeasured)}
}

// account adds the time since the last change.
func (a *availability) account() {
	now := a.w.NowNs()
	if a.begun {
		*a.measured += (now - a.sinceNs) / 1000
		if !a.ready {
			*a.unavailable += (now - a.sinceNs) / 1000
		}
	}
	a.sinceNs = now
}

// OnProtocol is sim.ProtocolChecker.
func (a *availability) OnProtocol(h *sim.Host, o sim.Observation) {
	e := raftEventOf(o)
	if e == nil || a.w.Calm() {
		return
	}
	switch {
	case e.Kind == raft.RoleChanged && e.Role == raft.Leader:
		a.account()
		if a.ready && a.leader != h && a.leader.Up() && e.Epoch > a.epoch {
			*a.deposed++
		}
		a.leader, a.epoch, a.ready = h, e.Epoch, false
	case e.Kind == raft.RoleChanged && a.leader == h && a.ready:
		a.account()
		if e.Role != raft.Resigned { // a higher epoch ended it, not the loss of its majority
			*a.deposed++
		}
		a.ready = false
	case e.Kind == raft.HighWatermarkAdvanced && e.Role == raft.Leader && a.leader == h && e.Epoch == a.epoch && !a.ready:
		a.account()
		a.begun, a.ready = true, true
	}
}

// OnBoot is sim.LifeChecker.
func (a *availability) OnBoot(*sim.Host) {}

// OnDown is sim.LifeChecker.
func (a *availability) OnDown(h *sim.Host, _ sim.DownKind, _ error) {
	if a.leader == h && a.ready && !a.w.Calm() {
		a.account()
		a.ready = false
	}
}

// OnStep is sim.StepChecker: the storm's end is the last moment that counts.
func (a *availability) OnStep() {
	if a.w.Calm() && a.begun {
		end := min(a.w.NowNs(), int64(a.w.Plan().StormUs)*1000)
		if end > a.sinceNs {
			*a.measured += (end - a.sinceNs) / 1000
			if !a.ready {
				*a.unavailable += (end - a.sinceNs) / 1000
			}
		}
		a.begun = false
	}
}
