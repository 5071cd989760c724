package scenarios

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// members is what a run has about registered nodes beside the nodes themselves.
type members struct {
	c            *cluster
	suite        *invariants.Suite
	unregistered []bool // by host: an operator wanted its registration gone
	sessions     sessionCheck
	log          *invariants.Members
	topics       memberTopics
}

// memberKinds are the operator's steps.
func memberKinds() []plan.Kind {
	return []plan.Kind{{Name: "unregister", Doc: "an operator has the registration of a node removed, by the active controller of the moment", Fields: []plan.Field{fieldNode}},
		{Name: "leave", Doc: "an operator tells a broker to end, and waits for its controlled shutdown as long as it takes; it starts again in the calm", Fields: []plan.Field{fieldNode}},
		{Name: "directory-fails", Doc: "a log directory of a broker goes offline, not the one of the metadata log; after a restart it is back", Fields: []plan.Field{fieldNode}}}
}

// build makes it ready for a run.
func (m *members) build(c *cluster) {
	*m = members{c: c, unregistered: m.unregistered[:0], sessions: m.sessions, log: m.log, topics: memberTopics{c: c, wishes: m.topics.wishes[:0]}}
	for range c.hosts {
		m.unregistered = append(m.unregistered, false)
	}
	c.w.Handle("unregister", sim.ActionHandler{Do: m.unregister})
	c.w.Handle("leave", sim.ActionHandler{Do: m.leave})
	c.w.Handle("directory-fails", sim.ActionHandler{Do: m.directoryFails})
	if !c.settings.members.register {
		return
	}
	if m.log == nil {
		m.log = invariants.NewMembers()
	}
	m.sessions.c = c
	for _, s := range c.suite {
		if suite, ok := s.(*invariants.Suite); ok {
			m.suite = suite
		}
	}
	c.w.Add(m.log, &m.sessions)
	c.w.AddObligation(&memberStanding{c})
	c.w.AddObligation(&shutdownEnds{c})
}

func (m *members) unregister(_ *sim.World, a *sim.Act) string {
	h, at := a.Host("host"), m.c.work.active(0)
	switch {
	case h == nil || m.c.hosts[h.Index()].kind == kindOperator:
		return "host=" + a.Params["host"] + " is no member"
	case at == nil:
		return "no controller is active"
	}
	e, kind := &m.c.hosts[h.Index()], controller.UnregisterController
	if e.kind == kindBroker {
		kind = controller.UnregisterBroker
		m.unregistered[h.Index()] = true
	}
	m.c.work.submit(at, controller.Op{Kind: kind, NodeID: e.nodeID})
	return ""
}

// exempt reports whether nothing is owed to a member: another one has its id, the cluster has gone beyond its software, its requests are
// refused for its cluster id, or it has none and no record that could tell it.
func (m *members) exempt(host int) bool {
	e, h := &m.c.hosts[host], m.c.w.Hosts()[host]
	if m.suite.Refused(h) || m.suite.Nameless(h) {
		return true
	}
	for i := range m.c.hosts {
		if i != host && m.c.hosts[i].nodeID == e.nodeID {
			return true
		}
	}
	img := nodeOf(m.c.work.active(0)).control.Image()
	for _, f := range img.Features() {
		if low, high, known := e.release.Range(f.Name, e.unstable); !known || f.Level < low || f.Level > high {
			return true
		}
	}
	return false
}

// displaced finds a broker that a registration of a former process of its pushed out: that request was late, and a registration
// makes no session before its first heartbeat, so the new one did not protect itself. The process goes on with an epoch that
// nobody takes, until somebody starts it again.
func (m *members) displaced() string {
	at := m.c.work.active(0)
	if at == nil || !m.c.settings.members.register {
		return ""
	}
	img := nodeOf(at).control.Image()
	for i, h := range m.c.w.Hosts() {
		n := m.c.ops.running(h)
		if n == nil || n.member == nil || n.member.life == nil || n.member.life.Epoch() < 0 {
			continue
		}
		own, b := n.member.life.IncarnationID(), img.Broker(m.c.hosts[i].nodeID)
		if b != nil && b.Epoch > n.member.life.Epoch() && bytes.Equal(b.IncarnationID[:8], own[:8]) && bytes.Compare(b.IncarnationID[8:], own[8:]) < 0 {
			return h.ID() + " was pushed out by a late registration of its former process"
		}
	}
	return ""
}

// drawBrokers is a cluster whose members come and go: storms over controllers and brokers, sessions that run out, graceful ends, disks
// that are lost, two processes of one id, registrations that are removed, features that some member does not support.
func drawBrokers(d dice, p *plan.Plan) {
	controllers(p, 3, 0, int(d.between("brokers", 2, 4)))
	dynamic := d.chance("dynamic", 40)
	if dynamic {
		p.Params["quorum"] = "dynamic"
	}
	if p.Params["level"] = d.pick("level", "", "", "4.4-IV2", "4.0", "3.7", "3.6", "3.3"); p.Params["level"] == "" {
		delete(p.Params, "level")
	}
	d.identify(p)
	for i := range p.Hosts {
		d.twoDirs(&p.Hosts[i], false)
	}
	rareSnapshots(p)
	if d.chance("snapshots", 30) { // registrations have to be in them, too
		p.Params["snapshot_max_bytes"] = number(d.between("snapshot-bytes", 2_000, 20_000))
	}
	d.storm(p, &stormProfile)
	if p.Params["snapshot_batch_bytes"] != "" {
		p.Params["snapshot_append_records"] = "8" // what is appended at once has to fit into a batch
	}
	d.sessions(p)
	d.memberSteps(p, dynamic)
	d.bearable(p, &stormProfile)
	if d.chance("topics", 80) {
		p.Workload = append(p.Workload, plan.Workload{ID: "topics", Kind: topicsKind().Name, Params: plan.Params{"period": micros(d.between("topics-period", 15_000, 60_000))}})
	}
	d.upgrade(p, []int64{17, 22, 30, 33})
	d.periodic(p)
	d.remote(p, 60, 4)
}

// sessions draws the periods of members: sessions that a pause or an election may outlast.
func (d dice) sessions(p *plan.Plan) {
	session := d.between("session-ms", 150, 600)
	for _, name := range [...]string{"fetch_max_bytes", "listener_max_bytes", "max_batch_records"} {
		delete(p.Params, name) // a commit takes longer than half a session where each record is a Fetch of its own
	}
	p.Params["members"] = "register"
	p.Params["broker_session_timeout_ms"] = number(session)
	p.Params["broker_heartbeat_interval_ms"] = number(max(1, session/d.between("beats", 3, 8)))
}

// memberSteps adds what happens to members alone.
func (d dice) memberSteps(p *plan.Plan, dynamic bool) {
	brokers := hostIDs(p, kindBroker)
	at := func(name string) plan.Int64 {
		return plan.Int64(d.between(name+"/at", 150_000, int64(p.StormUs)-20_000))
	}
	for i := range d.between("steps", 1, 6) {
		name := fmt.Sprintf("m%02d", i+1)
		a := plan.Action{ID: name + "-", AtUs: at(name), Params: plan.Params{"host": brokers[d.roll(name+"/who", int64(len(brokers)))]}}
		down := micros(d.oneOf(name+"/down", 2_000, 40_000, 300_000))
		switch kind := d.pick(name+"/kind", "stop", "stop", "kill", "unregister", "replace-disk"); {
		case kind == "stop":
			a.Kind, a.Params["grace"], a.Params["down"] = kind, micros(d.oneOf(name+"/grace", 5_000, 400_000)), down
		case kind == "replace-disk" && !dynamic || kind == "kill":
			a.Kind, a.Params["down"] = "kill", down
		case kind == "unregister":
			a.Kind = kind
		default:
			a.Kind, a.Params["down"] = kind, down
		}
		a.ID += a.Kind
		p.Actions = append(p.Actions, a)
	}
	if d.chance("gone", 30) { // a broker that dies and does not come back, now and then together with the leader that would have fenced it
		gone, from := brokers[d.roll("gone-who", int64(len(brokers)))], int64(p.StormUs)-d.between("gone-before", 5_000, 300_000)
		p.Actions = append(p.Actions, plan.Action{ID: "gone-kill", Kind: "kill", AtUs: plan.Int64(from), Params: plan.Params{"host": gone}})
		p.Params["calm_without"] = gone
		if d.chance("gone-leader", 60) {
			for i := range 3 {
				p.Actions = append(p.Actions, plan.Action{ID: fmt.Sprintf("gone-isolate-%d", i+1), Kind: "kill", AtUs: plan.Int64(from + 1_000 + 100*int64(i)),
					Params: plan.Params{"host": p.Hosts[i].ID, "down": micros(1_000 + 2_000*int64(i))}})
			}
		}
	}
	if d.chance("leave", 25) { // nobody kills it when its shutdown takes long
		at := int64(p.StormUs) - d.between("leave/before", 1_000, 200_000)
		p.Actions = append(p.Actions, plan.Action{ID: "leave", Kind: "leave", AtUs: plan.Int64(at), Params: plan.Params{"host": brokers[d.roll("leave/who", int64(len(brokers)))]}})
	}
	if d.chance("late-directory", 25) {
		who := brokers[d.roll("late-directory/who", int64(len(brokers)))]
		hostIn(p, who).Params["dirs"] = "2"
		p.Actions = append(p.Actions, plan.Action{ID: "late-directory", Kind: "directory-fails", AtUs: at("late-directory"), Params: plan.Params{"host": who}})
	}
	if d.chance("stranger", 5) {
		p.Hosts = append(p.Hosts, plan.Host{ID: "stranger", Kind: kindBroker, StartUs: at("stranger"), Params: plan.Params{
			"node_id": "299", "cluster_id": d.otherID(), "directory_id": d.uuid("stranger/directory-id").String()}})
	}
	if d.chance("former", 6) {
		d.formerProcess(p, brokers[len(brokers)-1])
		return
	}
	if d.chance("twin", 20) {
		p.Hosts = append(p.Hosts, plan.Host{ID: "twin", Kind: kindBroker, StartUs: at("twin"), Params: plan.Params{
			"node_id": p.Hosts[len(p.Hosts)-1].Params["node_id"], "twin": "true", "directory_id": d.uuid("twin/directory-id").String()}})
	}
	// One whose software does not go beyond 4.0. Below 3.7-IV0 nobody asks for the ranges of controllers, and an upgrade kills the old
	// ones (metadata-bootstrap 5.2, check 5): not here.
	if old := d.pick("old", kindBroker, kindController, "", ""); old == kindBroker || old == kindController && p.Params["level"] == "3.7" {
		if dynamic {
			return
		}
		for i := range p.Hosts {
			if h := &p.Hosts[i]; h.Kind == old && strings.HasPrefix(p.Params["level"], "3.") {
				h.Release = "4.0"
				return
			}
		}
	}
}

// formerProcess is a broker whose place another process takes while it is cut off, which goes on with heartbeats of the epoch that it had, and dies:
// the session of that epoch runs out while the process that is registered now is well.
func (d dice) formerProcess(p *plan.Plan, of string) {
	session := d.between("former/session-ms", 120, 200)
	p.Params["broker_session_timeout_ms"], p.Params["broker_heartbeat_interval_ms"] = number(session), number(session/6)
	cut := d.between("former/at", 250_000, 350_000)
	taken := cut + session*1_400 + 60_000
	p.StormUs = max(p.StormUs, plan.Int64(taken+session*1_600+200_000))
	p.Hosts = append(p.Hosts, plan.Host{ID: "twin", Kind: kindBroker, StartUs: plan.Int64(cut + 20_000), Params: plan.Params{
		"node_id": hostIn(p, of).Params["node_id"], "twin": "true", "directory_id": d.uuid("twin/directory-id").String()}})
	p.Actions = append(p.Actions,
		plan.Action{ID: "former-isolate", Kind: "isolate", AtUs: plan.Int64(cut), Params: plan.Params{"host": of, "for": micros(taken - cut)}},
		plan.Action{ID: "former-kill", Kind: "kill", AtUs: plan.Int64(taken + 60_000), Params: plan.Params{"host": of, "down": micros(session*1_600 + 150_000)}})
}
