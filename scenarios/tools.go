package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// ToolAnswer is what an operator's tool said in a run.
type ToolAnswer struct {
	Action  string   `json:"action"` // of the plan
	Tool    string   `json:"tool"`   // format, features, or second-process
	Host    string   `json:"host"`   // where it ran, or who answered
	AtUs    int64    `json:"at_us"`
	Refused bool     `json:"refused"`
	Lines   []string `json:"lines"`
}

// tools is the operators' tools of a run: what they said, what the plan declares of that, and how the starts of nodes end that the
// plan declares to be refused.
type tools struct {
	c       *cluster
	answers []ToolAnswer
	calls   []featureCall
	waiting []waiting
	tries   int64
	fresh   []bool   // by host: the format tool was there and the node has not started since
	lost    []bool   // by host: an operator took files away
	refused []bool   // by host: a start was refused as declared
	dropped []string // actions that were refused: no tool ran
	said    *int64
	started *int64
	whole   *int64
}

// toolCheckDocs are the invariants about operators.
var toolCheckDocs = [...]sim.InvariantDoc{
	{Name: "operator-answers", Source: "metadata-bootstrap 1.3, 5.2, 5.9",
		Doc: "An operator's tool does as it is told, or refuses for the reason that the plan declares; a declared answer comes before the run ends."},
	{Name: "declared-starts", Source: "metadata-bootstrap 2.4",
		Doc: "A host whose storage is wrong in a declared way is refused when it starts, for that reason and no other."},
	{Name: "formatted-whole", Source: "metadata-bootstrap 1.6",
		Doc: "A directory with meta.properties is completely formatted, wherever the format tool was cut: its checkpoint came before."},
	whatIf, linearizableDoc, oneProcess,
}

// build makes it ready for a run.
func (t *tools) build(c *cluster, p *plan.Plan) {
	*t = tools{c: c, answers: t.answers[:0], calls: t.calls[:0], waiting: t.waiting[:0], fresh: t.fresh[:0], lost: t.lost[:0], refused: t.refused[:0], dropped: t.dropped[:0]}
	watch := p.Scenario == formatScenario
	for range c.hosts {
		t.refused, t.fresh, t.lost = append(t.refused, false), append(t.fresh, false), append(t.lost, false)
	}
	for i := range c.hosts {
		watch = watch || c.hosts[i].refuses != ""
	}
	for i := range p.Actions {
		watch = watch || p.Actions[i].Params["expect"] != ""
	}
	c.w.Handle("format", sim.ActionHandler{Do: t.formatAction})
	c.w.Handle("lose-files", sim.ActionHandler{Do: t.loseFiles})
	c.w.Handle("features", sim.ActionHandler{Do: t.featuresAction})
	c.w.Handle(secondProcessKind, sim.ActionHandler{Do: t.secondProcess})
	if !watch {
		return
	}
	t.said, t.started, t.whole = c.w.Evaluated(toolCheckDocs[0].Name), c.w.Evaluated(toolCheckDocs[1].Name), c.w.Evaluated(toolCheckDocs[2].Name)
	c.w.Add(t)
}

// answer keeps what a tool said, and compares it with what the plan declares.
func (t *tools) answer(a ToolAnswer, expect string) {
	a.AtUs = t.c.w.NowNs() / 1000
	t.answers = append(t.answers, a)
	text := strings.Join(a.Lines, "; ")
	t.c.w.Note(a.Tool, a.Action+" on "+a.Host+": "+text)
	if expect == "" {
		return
	}
	*t.said++
	if a.Refused == (expect == "ok") || expect != "ok" && !strings.Contains(text, expect) {
		t.c.w.Violate(toolCheckDocs[0].Name, "answer", a.Tool+" of action "+a.Action+" says \""+text+"\", declared is \""+expect+"\"")
	}
}

// Attach implements sim.Checker.
func (t *tools) Attach(*sim.World) {}

// OnBoot implements sim.LifeChecker: a node that starts after the format tool has what the tool writes on a controller, or no
// meta.properties.
func (t *tools) OnBoot(h *sim.Host) {
	i := h.Index()
	if !t.fresh[i] || !t.c.ready[i] || t.lost[i] {
		return
	}
	t.fresh[i] = false
	s := &t.c.hosts[i]
	checkpoint := bootstrap.CheckpointPath(s.metadataDir)
	if s.release.Layout == features.Oct24 {
		checkpoint = bootstrap.Path(s.metadataDir)
	} else if s.kind == kindBroker {
		return
	}
	if _, ran := h.Volume().File(bootstrap.PartitionPath(s.metadataDir) + "/" + quorumstate.FileName); ran {
		return // a log that has snapshots may have cleaned the checkpoint away
	}
	*t.whole++
	_, formatted := h.Volume().File(metaprops.Path(s.metadataDir))
	if _, has := h.Volume().File(checkpoint); formatted && !has {
		t.c.w.Violate(toolCheckDocs[2].Name, "no-checkpoint", s.id+" has meta.properties and no "+checkpoint+" after the format tool was there")
	}
}

// OnDown implements sim.LifeChecker.
func (t *tools) OnDown(h *sim.Host, kind sim.DownKind, err error) {
	s := &t.c.hosts[h.Index()]
	if kind == sim.RefusedToStart && s.refuses != "" && strings.Contains(err.Error(), s.refuses) {
		t.refused[h.Index()] = true
	}
}

// AtEnd implements sim.EndChecker: what was declared has come about.
func (t *tools) AtEnd() {
	for i := range t.c.hosts {
		if s := &t.c.hosts[i]; s.refuses != "" && !s.unserved {
			*t.started++
			if !t.refused[i] {
				t.c.w.Violate(toolCheckDocs[1].Name, "start", s.id+" was never refused with \""+s.refuses+"\"")
			}
		}
	}
	p := t.c.w.Plan()
	for i := range p.Actions {
		if a := &p.Actions[i]; a.Params["expect"] != "" && !t.hasAnswer(a.ID) {
			*t.said++
			t.c.w.Violate(toolCheckDocs[0].Name, "silence", "no tool answered to action "+a.ID)
		}
	}
}

// refuse says why an action can't be, which also tells why no tool answers.
func (t *tools) refuse(a *sim.Act, why string) string {
	if why != "" || a.Error != nil {
		t.dropped = append(t.dropped, a.ID)
	}
	return why
}

func (t *tools) hasAnswer(action string) bool {
	for _, id := range t.dropped {
		if id == action {
			return true
		}
	}
	for i := range t.answers {
		if t.answers[i].Action == action {
			return true
		}
	}
	return false
}

// refusedAsDeclared reports whether a start was refused with what the plan declares of a host.
func (s *settings) refusedAsDeclared(host string, err error) bool {
	for i := range s.hosts {
		if h := &s.hosts[i]; h.id == host && h.refuses != "" {
			return strings.Contains(err.Error(), h.refuses)
		}
	}
	return false
}

// ToolAnswers are what the operators' tools said in the last run of a scenario, on an engine of this catalogue. ok is false for a
// scenario whose nodes have no controllers that tools could ask, such as Kafka's own simulation.
func ToolAnswers(c *sim.Catalogue, name string) (answers []ToolAnswer, ok bool) {
	s, ok := c.Scenario(name).(*scenario)
	if !ok {
		return nil, false
	}
	return append([]ToolAnswer{}, s.cluster.tools.answers...), true
}
