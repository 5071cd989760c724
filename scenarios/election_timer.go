package scenarios

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// electionTimerBound judges how long a voter waits that knows neither leader nor vote. It looks at quorum-state and at Vote requests.
var electionTimerBound = sim.InvariantDoc{
	Name: "election-timer", Source: "KIP-595; kraft-protocol 1.2, 1.4 (inheritance of the election timer)",
	Doc: "Where the plan says so (params.election_timer), a voter whose quorum-state has neither a leader nor a vote asks for votes within twice " +
		"the election timeout, however many higher epochs others show it meanwhile.",
}

// electionTimer is the checker. Plans that have it keep clocks and disks quiet.
type electionTimer struct {
	w         *sim.World
	evaluated *int64
	boundNs   int64
	waits     []waitingVoter // by host
}

// waitingVoter is since when a host has had neither leader nor vote in its quorum-state, in one process life; 0: it has, or is no voter.
type waitingVoter struct {
	voter   bool
	boot    int32
	sinceNs int64
}

// timerSlackNs is what disks, lanes and clocks of such plans may add.
const timerSlackNs = 60 * million

func newElectionTimer(s *settings) *electionTimer {
	t := &electionTimer{boundNs: 2*s.timeouts.election*million + timerSlackNs}
	for i := range s.hosts {
		t.waits = append(t.waits, waitingVoter{voter: s.hosts[i].kind == kindController})
	}
	return t
}

// Attach is sim.Checker.
func (t *electionTimer) Attach(w *sim.World) {
	t.w, t.evaluated = w, w.Evaluated(electionTimerBound.Name)
}

// OnDisk is sim.DiskChecker.
func (t *electionTimer) OnDisk(h *sim.Host, v *vdisk.Volume, op *vdisk.Op) {
	x := &t.waits[h.Index()]
	if !x.voter || op.Kind != vdisk.OpRename || !strings.HasSuffix(op.To, "/quorum-state") {
		return
	}
	data, _ := v.File(op.To)
	none := bytes.Contains(data, []byte(`"leaderId":-1`)) && bytes.Contains(data, []byte(`"votedId":-1`))
	switch {
	case !none:
		x.sinceNs = 0
	case x.sinceNs == 0 || x.boot != h.Boot():
		x.sinceNs, x.boot = t.w.NowNs(), h.Boot()
	}
}

// OnDiskCrash is sim.DiskChecker.
func (t *electionTimer) OnDiskCrash(h *sim.Host, _ *vdisk.Volume) { t.waits[h.Index()].sinceNs = 0 }

// OnSend is sim.SendChecker.
func (t *electionTimer) OnSend(from, _ *sim.Host, m sim.Message) {
	x := &t.waits[from.Index()]
	if x.sinceNs == 0 || x.boot != from.Boot() {
		return
	}
	*t.evaluated++
	if waited := t.w.NowNs() - x.sinceNs; waited > t.boundNs {
		t.w.Violate(electionTimerBound.Name, "late", fmt.Sprintf("%s has known neither a leader nor a vote for %d ms and has not asked for votes; an election "+
			"timer takes %d ms at most", from.ID(), waited/million, (t.boundNs-timerSlackNs)/million))
		x.sinceNs = 0
	}
	if _, ok := m.(*raft.VoteRequest); ok {
		x.sinceNs = 0
	}
}

// drawChased lets a voter with an old log chase one that could be elected. One of three is cut off, and misses what the others write; as
// it comes back another one is killed. Their software has no pre-votes, so that the one with the old log raises its epoch whenever its
// timer runs out, and the other adopts it: if that began its timer anew, either might be first for ever.
func drawChased(d dice, p *plan.Plan) {
	controllers(p, 3, 0, int(d.roll("brokers", 2)))
	d.identify(p)
	d.quiet(p, 44)
	delete(p.Params, "quiet")
	p.Params["election_timer"] = "judged"
	for i := range p.Hosts {
		p.Hosts[i].Params["limits"] = "Vote:1"
	}
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "150ms"}})
	for i := range int64(3) {
		name := "chase-" + number(i)
		old := d.roll(name+"/old", 3)
		back := quietFromUs + i*12_000_000 + d.between(name+"/for", 2_500_000, 4_000_000)
		p.Actions = append(p.Actions,
			plan.Action{ID: fmt.Sprintf("i%d-isolate", i+1), AtUs: plan.Int64(quietFromUs + i*12_000_000), Kind: "isolate", Params: plan.Params{
				"host": p.Hosts[old].ID, "for": micros(back - quietFromUs - i*12_000_000)}},
			plan.Action{ID: fmt.Sprintf("k%d-kill", i+1), AtUs: plan.Int64(back - d.roll(name+"/before", 200_000)), Kind: "kill", Params: plan.Params{
				"host": p.Hosts[(old+1+d.roll(name+"/killed", 2))%3].ID, "down": "5s"}})
	}
}
