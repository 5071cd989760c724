package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// kipCase is a case of metadata-bootstrap 4.10 as data: how a plan sets it up, in which variants the table gives an outcome, when it
// counts as reached, and what must not be seen then. reached and wrong judge from what left the processes: files, messages, answers to
// clients, and how processes ended (kip1262_witness.go). A case that a run does not reach has not passed in it.
type kipCase struct {
	id       string // t01
	doc      string
	variants []string
	draw     func(d dice, p *plan.Plan)
	reached  func(k *kipWitness) bool
	// wrong returns a fixed word and a sentence for what contradicts the table, "" for nothing.
	wrong func(k *kipWitness) (evidence, detail string)
	// allows reports whether a process may end like this.
	allows func(k *kipWitness, host string, refused bool, err error) bool
	// hopeless says why nobody can ever be elected; nil: somebody can.
	hopeless func(k *kipWitness) string
	due      int64 // of a million runs, the least that reach the case
}

// The variants in which a case has an outcome.
var (
	everyVariant  = []string{"released", "final-mar", "final-apr", "draft"}
	kipVariants   = []string{"final-mar", "final-apr", "draft"} // with the record
	writeVariants = []string{"final-apr", "draft"}              // a leader may lack an id
)

// KIPVariants lists the variants of the metadata bootstrap, oldest text first.
func KIPVariants() []string { return []string{"released", "final-mar", "final-apr", "draft"} }

const (
	caseParam   = "case"
	kipFamily   = "kip1262/"
	kipCaseName = "kip1262-case"
)

var kipCaseDoc = sim.InvariantDoc{
	Name:   kipCaseName,
	Source: "KIP-1262; metadata-bootstrap 4.10, T1 to T34",
	Doc:    "A case of the table ends as the table says for the variant. Evidence is the number of the case and a word.",
}

// kipCases is the whole table.
func kipCases() []kipCase {
	return slices.Concat(casesOfFiles(), casesOfLostFiles(), casesOfLeaders(), casesOfNoID(), casesOfUpgrades(), casesOfOtherUpgrades(),
		casesOfNodes(), casesOfPlaceholder(), casesOfCutFormat(), casesOfFormatted(), casesOfIdentity(), casesOfClusters())
}

// kipScenarios are the scenarios kip1262/t01 and so on, in the order of the table.
func kipScenarios() (list []*scenario) {
	cases := kipCases()
	slices.SortStableFunc(cases, func(a, b kipCase) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	for i := range cases {
		c := &cases[i]
		list = append(list, &scenario{name: kipFamily + c.id, doc: c.doc, draw: func(d dice, p *plan.Plan) {
			p.Params[caseParam] = c.id
			p.Params["variant"] = d.pick("variant", c.variants...)
			c.draw(d, p)
		}})
	}
	return list
}

// findCase returns a case by its id, nil when there is none.
func findCase(id string) *kipCase {
	cases := kipCases()
	for i := range cases {
		if cases[i].id == id {
			return &cases[i]
		}
	}
	return nil
}

// kipSometimes is what campaigns must reach.
func kipSometimes() (docs []sim.SometimesDoc) {
	for _, c := range kipCases() {
		docs = append(docs, sim.SometimesDoc{Name: c.sometimes(), Scenario: kipFamily + c.id, DuePerMillion: c.due, Doc: "the case is reached: " + c.doc})
	}
	return docs
}

func (c *kipCase) sometimes() string { return kipCaseName + "-" + c.id }

// applies reports whether the table gives the case an outcome in a variant.
func (c *kipCase) applies(variant string) bool { return slices.Contains(c.variants, variant) }

// kipProfile is a light storm: the cases bring their own fault.
var kipProfile = swarm.Profile{
	Name: "kip", Doc: "a light storm around a case that brings its own fault", StormUs: swarm.Range{300_000, 700_000}, Actions: swarm.Range{0, 3},
	Faults:    swarm.Weights("kill:30 power:10 crash-op:30 cut-out:10 isolate:10 pause:5"),
	LatencyUs: swarm.Range{100, 800}, JitterUs: swarm.Range{0, 1_000}, TailPercent: 10, ResetPpm: 500,
	SyncNs: swarm.Range{20_000, 800_000}, TimeoutMs: swarm.Range{30, 60},
	Lanes: plan.Lanes{PostJitterUs: 50, WakeJitterUs: 100}, PeriodUs: 15_000,
}

// cast is who takes part in a case.
type cast struct {
	voters, observers, brokers int
	dynamic                    bool
	second                     int    // voters of another cluster in the network
	unformatted                string // kinds of hosts that nobody formats: controller, observer, broker, comma separated
}

// base draws what all cases have: hosts, ids, network, disks, a light storm, writes.
func (d dice) base(p *plan.Plan, c cast, f *swarm.Profile) {
	controllers(p, c.voters, c.observers, c.brokers)
	if c.dynamic {
		p.Params["quorum"] = "dynamic"
	}
	d.identify(p)
	kinds := plan.Params{"kinds": c.unformatted}.List("kinds")
	for i := range p.Hosts {
		if slices.Contains(kinds, p.Hosts[i].Kind) {
			p.Hosts[i].Params["format"] = "none"
		}
	}
	d.second(p, c.second)
	if slices.Contains(kinds, kindController) {
		for i := range p.Hosts {
			if p.Hosts[i].Params["cluster"] == secondName {
				p.Hosts[i].Params["format"] = "none"
			}
		}
	}
	rareSnapshots(p)
	d.storm(p, f)
	d.writes(p, f)
	if c.second > 0 {
		w := p.Workload[0]
		w.ID, w.Params = w.ID+"-"+secondName, w.Params.Clone()
		w.Params["cluster"] = secondName
		p.Workload = append(p.Workload, w)
	}
	d.kipChoices(p)
}

// kipChoices draws the open points that any case can be run with both ways.
func (d dice) kipChoices(p *plan.Plan) {
	for _, c := range [][2]string{{"new_id", "adopted"}, {"missing_id", "tolerant"}, {"id_order", "tell-first"}, {"id_file_version", "2"}} {
		if d.chance("choice/"+c[0], 25) {
			p.Params[c[0]] = c[1]
		}
	}
}

// host returns a host of a plan by its id.
func hostIn(p *plan.Plan, id string) *plan.Host {
	for i := range p.Hosts {
		if p.Hosts[i].ID == id {
			return &p.Hosts[i]
		}
	}
	panic("scenarios: no host " + id + " in the plan")
}

// act adds an action of a case.
func act(p *plan.Plan, id, kind string, atUs int64, params ...string) {
	a := plan.Action{ID: id, Kind: kind, AtUs: plan.Int64(atUs), Params: plan.Params{}}
	for i := 0; i+1 < len(params); i += 2 {
		a.Params[params[i]] = params[i+1]
	}
	p.Actions = append(p.Actions, a)
}

// writesID reports whether the run's variant lets a leader without an id write one.
func (k *kipWitness) writesID() bool {
	return k.c.variant == controller.Draft || k.c.variant == controller.FinalApr
}

// kipCaseIDs lists the ids of all cases.
func kipCaseIDs() (ids []string) {
	for _, c := range kipCases() {
		ids = append(ids, c.id)
	}
	slices.Sort(ids)
	return ids
}
