package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// noNeedlessElection judges runs in which nothing goes wrong: one election per voter that starts late is plenty.
var noNeedlessElection = sim.InvariantDoc{
	Name: "no-needless-election", Source: "L7 of kraft-protocol 7; KB-11, KB-12",
	Doc: "where the plan has no fault, leaders are elected at most twice, and once more per voter; where it has none that cuts a leader " +
		"off, nobody asks for votes while one lives",
}

// needless is the checker. It counts at the end.
type needless struct {
	w         *sim.World
	voters    int64
	evaluated *int64
}

// Attach is sim.Checker.
func (n *needless) Attach(w *sim.World) { n.w, n.evaluated = w, w.Evaluated(noNeedlessElection.Name) }

// AtEnd is sim.EndChecker.
func (n *needless) AtEnd() {
	*n.evaluated++
	if elections := *n.w.Stat("elections"); elections > 2+n.voters {
		n.w.Violate(noNeedlessElection.Name, "elections", fmt.Sprintf("%d leaders were elected in a run without faults", elections))
	}
}

// faultless reports whether nothing in the plan can hurt a cluster.
func faultless(p *plan.Plan) bool {
	n, d := &p.Network, &p.Disk
	return len(p.Actions) == 0 && n.ResetPpm+n.TailPpm+n.LossPpm == 0 && d.SlowSyncPpm+d.ReadErrorPpm+d.WriteErrorPpm+d.SyncErrorPpm == 0
}
