package scenarios

import (
	"slices"
	"strconv"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The family operator/*: what operators of KRaft clusters asked in public, each as a scenario with rows. A row is one way to play the
// question, with the answer that is expected; it is judged from bytes, messages, ends of processes and answers at the end of the
// storm, in which nothing fails but what the row says. docs/operators.md tells the questions; `simrun run operator/u12` prints the table.

// operatorCase is a question.
type operatorCase struct {
	id   string // u12
	doc  string
	rows []operatorRow
}

// operatorRow is one way to play it.
type operatorRow struct {
	name   string
	expect string
	draw   func(d dice, p *plan.Plan)
	// judge says what was seen, and a fixed word when that is not what is expected.
	judge func(o *operatorWitness) (seen, evidence string)
	// allows reports whether a process may end like this; nil: none may.
	allows func(host string, refused bool, err error) bool
	// keepAtUs is when the committed batches are noted that must not get lost; 0: never.
	keepAtUs int64
	// restartNs is when a process that ended by itself is started again; 0: after two election timeouts.
	restartNs int64
	// mends is what the operator does at the end, so that the calm finds a cluster that can go on; nil: nothing.
	mends func(o *operatorWitness)
}

const (
	operatorFamily = "operator/"
	whatIfParam    = "what_if"
	rowParam       = "row"
	wholeParam     = "row_size"
)

var whatIf = sim.InvariantDoc{
	Name: "what-if", Source: "operator-cases U-01 to U-28",
	Doc: "A question of an operator, played in one of its ways, has the answer that docs/operators.md gives. Evidence is the number of the " +
		"question and a word.",
}

// operatorCases is the whole list, in the order of its numbers.
func operatorCases() []operatorCase {
	return slices.Concat(operatorIdentityCases(), operatorStartCases(), operatorQuorumCases(), operatorMemberCases(), operatorLossCases(), operatorReleaseCases(),
		operatorSecondCases())
}

// operatorScenarios are the scenarios operator/u01 and so on.
func operatorScenarios() (list []*scenario) {
	cases := operatorCases()
	for i := range cases {
		c := &cases[i]
		list = append(list, &scenario{name: operatorFamily + c.id, doc: c.doc, draw: func(d dice, p *plan.Plan) {
			drawRow(d, p, c, &c.rows[d.roll(rowParam, int64(len(c.rows)))])
		}})
	}
	return list
}

// drawRow draws a row of a question.
func drawRow(d dice, p *plan.Plan, c *operatorCase, r *operatorRow) {
	p.Params[whatIfParam], p.Params[rowParam] = c.id, r.name
	r.draw(d, p)
	p.Params[wholeParam] = rowSize(p)
}

// rowSize tells a plan that is whole from one that shrinking made smaller, and that need not answer anything.
func rowSize(p *plan.Plan) string {
	return strconv.Itoa(len(p.Hosts)) + "+" + strconv.Itoa(len(p.Actions))
}

// findRow returns the row of a plan, nil when it has none.
func findRow(p *plan.Plan) (*operatorCase, *operatorRow) {
	if p.Params[whatIfParam] == "" {
		return nil, nil
	}
	cases := operatorCases()
	for i := range cases {
		for k := range cases[i].rows {
			if cases[i].id == p.Params[whatIfParam] && cases[i].rows[k].name == p.Params[rowParam] {
				return &cases[i], &cases[i].rows[k]
			}
		}
	}
	return nil, nil
}

// operatorParameters are those of plan.params.
func operatorParameters() []plan.Field {
	var ids []string
	for _, c := range operatorCases() {
		ids = append(ids, c.id)
	}
	return judged(
		wordField(whatIfParam, "question of an operator whose answer is judged, u01 to u28, or second-process; absent: none", ids...),
		textField(rowParam, "in which way the question is played, a row of its table"),
		textField(wholeParam, "hosts and actions of the whole row: a smaller plan answers nothing"),
	)
}

// stage draws what all rows have: a network and disks without surprises, timers that leave time for many elections, and a client.
func (d dice) stage(p *plan.Plan, stormMs int64) {
	d.identify(p)
	p.StormUs = plan.Int64(stormMs * 1000)
	p.Network.LatencyUs, p.Network.JitterUs = d.between("latency", 100, 400), d.between("jitter", 50, 600)
	p.Disk.WriteNs, p.Disk.SyncNs, p.Disk.MetadataNs, p.Disk.JitterPercent = 10_000, d.between("sync-ns", 50_000, 500_000), 20_000, 50
	for _, v := range [][2]string{{"election_timeout_ms", "50"}, {"fetch_timeout_ms", "100"}, {"request_timeout_ms", "100"}, {"retry_backoff_ms", "10"},
		{"election_backoff_max_ms", "50"}, {"append_linger_ms", "0"}, {"fetch_max_wait_ms", "25"}, {"max_idle_interval_ms", "20"}} {
		p.Params[v[0]] = v[1]
	}
	rareSnapshots(p)
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.DriftPpm = int32(d.between(h.ID+"/drift", -100, 100))
		if h.StartUs == 0 {
			h.StartUs = plan.Int64(d.between(h.ID+"/start", 0, 30_000))
		}
	}
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "15ms"}})
}
