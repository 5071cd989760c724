package scenarios

import (
	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// kafkaCluster is the nodes of one world of Kafka's own simulation. A scenario keeps one and builds it anew for each run.
type kafkaCluster struct {
	cluster
	play           play
	checkers       *invariants.Suite
	appendMs       int64 // pause between two appends of a leader,
	appendJitterMs int64 // plus less than that
	discoveryMs    int64 // raft.Config.DiscoveryIntervalMs
	snapshots      bool  // the counters make them
}

// build furnishes a world: identities on the disks, nodes, checkers, and the play.
func (k *kafkaCluster) build(w *sim.World, p *plan.Plan, s *kafkaScenario) error {
	replicas := *p // without the operator's machine, which comes last
	for n := len(replicas.Hosts); n > 0 && replicas.Hosts[n-1].Kind == kindOperator; n-- {
		replicas.Hosts = replicas.Hosts[:n-1]
	}
	settings, err := readSettings(&replicas)
	if err != nil {
		return err
	}
	r := &reader{where: "params", params: p.Params}
	k.appendMs, k.appendJitterMs = r.number("append_ms", 2), r.number("append_jitter_ms", 3)
	k.discoveryMs = r.number("discovery_interval_ms", 0)
	k.snapshots = r.word("snapshots", "true", "true", "false") == "true"
	k.play.victim = r.number("victim", 0)
	if r.err != nil {
		return r.err
	}
	k.settings, k.w, k.scriptedPower = settings, w, s.power
	k.greets = false // no connection of that simulation does
	k.memory.reset()
	checkpoint := k.checkpoint(w.Hosts()[0].WallMs())
	for i, h := range w.Hosts() {
		if i >= len(settings.hosts) {
			w.Install(h, func() sim.Process { return &operator{asker: &k.play, answerNs: answerNs} })
			continue
		}
		e := &settings.hosts[i]
		props := metaprops.Properties{Version: metaprops.V1, HasClusterID: true, ClusterID: e.clusterID, HasNodeID: true, NodeID: e.nodeID,
			HasDirectoryID: true, DirectoryID: e.directoryID}
		h.Volume().Load(e.metadataDir+"/"+metaprops.FileName, props.AppendTo(nil, h.WallMs()))
		h.Volume().LoadDir(k.partition(h))
		if checkpoint != nil && e.kind == kindController {
			h.Volume().Load(bootstrap.CheckpointPath(e.metadataDir), checkpoint)
		}
		w.Install(h, func() sim.Process { return &counterNode{node: node{c: &k.cluster, h: e}, k: k} })
	}
	w.SetLiveness(sim.Liveness{SmallestTimeoutNs: settings.smallestTimeoutNs(), BoundNs: settings.calmBoundNs(p)})
	k.playFrom(w, s)
	w.Add(&k.play)
	k.prompt.build(&k.cluster, p)
	config := settings.checkerConfig(p)
	config.AllowStop = k.allowStop
	if k.checkers == nil {
		k.checkers = invariants.New(config)
	}
	k.checkers.Configure(config)
	w.Add(k.checkers)
	k.declare(p)
	return nil
}

// checkpoint is the 0-0.checkpoint of the voters at kraft.version 1, nil at 0.
func (k *kafkaCluster) checkpoint(nowMs int64) []byte {
	if !k.dynamic {
		return nil
	}
	set := &record.VotersRecord{}
	for i := range k.hosts {
		if e := &k.hosts[i]; e.kind == kindController {
			set.Voters = append(set.Voters, record.VoterEntry{VoterID: e.nodeID, VoterDirectoryID: e.directoryID, MaxSupportedVersion: 1,
				Endpoints: []record.VoterEndpoint{{Name: k.listener, Host: e.name, Port: e.port}}})
		}
	}
	c := bootstrap.Checkpoint{HasKRaftVersion: true, KRaftVersion: 1, Voters: set}
	return c.AppendTo(nil, bootstrap.Times{HeaderMs: nowMs, DataMs: nowMs, FooterMs: nowMs})
}

// partition is the directory of a host's log.
func (k *kafkaCluster) partition(h *sim.Host) string {
	return k.hosts[h.Index()].metadataDir + "/__cluster_metadata-0"
}

// playFrom makes the play ready for a run.
func (k *kafkaCluster) playFrom(w *sim.World, s *kafkaScenario) {
	a := &k.play
	a.k, a.w, a.name, a.script, a.boundNs = k, w, s.name, s.script, s.phaseBoundNs(int64(len(k.hosts)))
	a.nodes, a.index, a.operator = a.nodes[:0], a.index[:0], nil
	voters := int32(0)
	for i, h := range w.Hosts() {
		if i >= len(k.hosts) {
			a.index, a.operator = append(a.index, -1), h
			continue
		}
		e := &k.hosts[i]
		a.index = append(a.index, int32(len(a.nodes)))
		a.nodes = append(a.nodes, shown{h: h, id: e.nodeID, voter: e.kind == kindController, leader: -1})
		if e.kind == kindController {
			voters++
		}
	}
	a.checks.lossy, a.checks.stable, a.checks.dynamic = s.lossy, s.stable, k.dynamic
	a.checks.attach(w, voters)
	if s.before != nil {
		s.before(a)
	}
}

// phaseBoundNs is how long a phase may take: as long as 500,000 events of Kafka's simulation last, where each node polls every 5 ms,
// the router ticks every 2 + (J-1)/2 ms and the leaders append every 3 ms on average, every 2 ms in the steady scenarios. An operator
// is no node there.
func (s *kafkaScenario) phaseBoundNs(nodes int64) int64 {
	appends := int64(333)
	if s.steady {
		appends = 500
	}
	perSecond := nodes*200 + 2000/(3+s.routerMs) + appends
	return 500_000 * 1_000_000_000 / perSecond
}

// drop makes messages from one node to another vanish; nil ends it.
func (p *play) drop(from, to int32, drops func(m raft.Message) bool) {
	if drops == nil {
		p.w.Drop(p.byID(from).h, p.byID(to).h, nil)
		return
	}
	p.w.Drop(p.byID(from).h, p.byID(to).h, func(m sim.Message) bool {
		x, ok := m.(raft.Message)
		return ok && drops(x)
	})
}

// byID returns a node by its node id.
func (p *play) byID(id int32) *shown {
	for i := range p.nodes {
		if p.nodes[i].id == id {
			return &p.nodes[i]
		}
	}
	panic("scenarios: a script speaks of node " + number(int64(id)) + ", which is not there")
}
