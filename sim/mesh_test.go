package sim_test

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// mesh is a protocol that uses everything: three nodes count, tell each other their count over connections and datagrams,
// keep it on disk, and pass work from lane to lane. It promises nothing; it is there to be replayed.
type mesh struct{}

func (mesh) Name() string { return "mesh" }
func (mesh) Doc() string  { return "three nodes count" }

const (
	kindCount = iota + 1
	kindGossip
	kindWork
	kindExtra
)

func (m mesh) Draw(seed uint64) *plan.Plan {
	pick := func(what string, n uint64) int64 { return int64(decide.Combine(seed, decide.HashString(what)) % n) }
	p := &plan.Plan{Format: plan.Format, Scenario: "mesh", Seed: plan.Uint64(seed), StormUs: 60_000,
		Hosts:   []plan.Host{{ID: "n1", Kind: "node", DriftPpm: 300}, {ID: "n2", Kind: "node", OffsetMs: -40}, {ID: "n3", Kind: "node", StartUs: 2_000}},
		Network: plan.Network{LatencyUs: 200, JitterUs: 900, TailPpm: 20_000, TailUs: 8_000, ResetPpm: 10_000},
		Disk: plan.Disk{WriteNs: 3_000, SyncNs: 90_000, MetadataNs: 9_000, JitterPercent: 60, SlowSyncPpm: 50_000, SlowSyncNs: 4 * ms,
			WriteErrorPpm: 2_000, SyncErrorPpm: 2_000},
		Lanes: plan.Lanes{PostJitterUs: 400, WakeJitterUs: 300, SpuriousPpm: 40_000},
	}
	if seed%2 == 0 {
		n := &p.Network
		n.Transport, n.LossPpm, n.DuplicatePpm, n.ReorderPpm, n.ReorderUs = "datagram", 50_000, 30_000, 30_000, 3_000
	}
	host := func(what string) string { return fmt.Sprintf("n%d", 1+pick(what, 3)) }
	act(p, 5+pick("a", 10), "power", "hosts", host("a"), "down", "6ms")
	act(p, 8+pick("b", 10), "cut", "from", host("b"), "to", "n1,n2,n3", "for", "9ms")
	act(p, 12+pick("c", 10), "kill", "host", host("c"), "down", "2ms")
	act(p, 15+pick("d", 10), "pause", "host", host("d"), "for", "7ms")
	act(p, 20+pick("e", 10), "crash-op", "host", host("e"), "n", fmt.Sprint(1+pick("n", 9)), "how", "power", "down", "3ms")
	act(p, 22+pick("f", 10), "clog", "from", host("f"), "to", host("g"), "add", "4ms", "for", "8ms")
	act(p, 25+pick("h", 10), "filter", "from", "n1,n2,n3", "to", host("h"), "kind", "1", "for", "5ms")
	act(p, 30+pick("i", 10), "jump", "host", host("i"), "by", "250ms")
	act(p, 33+pick("j", 10), "stop", "host", host("j"), "down", "4ms")
	act(p, 36+pick("k", 10), "disk-slow", "host", host("k"), "percent", "2000", "for", "6ms")
	act(p, 40+pick("l", 10), "power", "hosts", "n1,n2,n3", "down", "1ms")
	return p
}

func (m mesh) Build(w *sim.World, p *plan.Plan) error {
	w.SetSupervisor(5 * ms)
	d := &meshDuty{least: 40}
	w.Add(d)
	w.AddObligation(d)
	w.SetLiveness(sim.Liveness{SmallestTimeoutNs: 5 * ms, BoundNs: 1_000 * ms})
	for _, h := range w.Hosts() {
		w.Install(h, func() sim.Process { return &meshNode{peers: w.Hosts(), extra: p.Params["extra"] != ""} })
	}
	return nil
}

// meshDuty wants each node to have counted so far.
type meshDuty struct {
	w     *sim.World
	least uint64
	seen  []uint64
}

func (d *meshDuty) Attach(w *sim.World) { d.w, d.seen = w, make([]uint64, len(w.Hosts())) }
func (d *meshDuty) OnProtocol(h *sim.Host, o sim.Observation) {
	if m := o.(msg); m.kind == kindCount {
		d.seen[h.Index()] = m.key
	}
}
func (d *meshDuty) Met() bool {
	for _, n := range d.seen {
		if n < d.least {
			return false
		}
	}
	return true
}
func (d *meshDuty) Waiting() string { return fmt.Sprint("counts are ", d.seen) }

var siteMesh = decide.NewSite("test/mesh", "how much a node counts", 0)

type meshNode struct {
	peers   []*sim.Host
	extra   bool
	count   uint64
	fd      int32
	out     []sim.Conn
	up      []bool
	stopped bool
}

func (n *meshNode) Boot(env *sim.Env) (err error) {
	env.Lanes("main", "disk")
	env.Listen(7, 0)
	n.out, n.up = make([]sim.Conn, len(n.peers)), make([]bool, len(n.peers))
	if err := env.Files().MkdirAll("/data"); err != nil {
		return err
	}
	if n.fd, err = env.Files().Open("/data/count", true); err != nil {
		return err
	}
	var b [8]byte
	if k, _ := env.Files().ReadAt(n.fd, b[:], 0); k == 8 {
		n.count = binary.BigEndian.Uint64(b[:])
	}
	if err := env.Files().SyncDir("/data"); err != nil {
		return err
	}
	if n.extra && env.HostID() == "n1" {
		for _, h := range n.peers {
			if h.ID() != "n1" {
				env.SendTo(h.ID(), 7, msg{kindExtra, 1})
			}
		}
	}
	env.WakeAt(env.MonotonicNs() + 2*ms)
	return nil
}

func (n *meshNode) Input(env *sim.Env, in *sim.Input) error {
	if env.Lane() == 1 {
		return n.store(env, in)
	}
	switch in.Kind {
	case sim.InWake:
		n.tick(env)
	case sim.InConnected, sim.InDisconnected:
		for i, c := range n.out {
			if c == in.Conn {
				n.up[i] = in.Kind == sim.InConnected
				if !n.up[i] {
					n.out[i] = 0
				}
			}
		}
	case sim.InMessage:
		if m := in.Msg.(msg); m.key > n.count && m.kind != kindExtra {
			n.count = m.key
		}
	}
	return nil
}

func (n *meshNode) tick(env *sim.Env) {
	n.count += 1 + uint64(env.Choose(siteMesh, n.count, 3))
	env.Post(1, msg{kindWork, n.count})
	for i, h := range n.peers {
		if h.ID() == env.HostID() {
			continue
		}
		if n.out[i] == 0 {
			n.out[i] = env.Dial(h.ID(), 7)
		} else if n.up[i] {
			env.Send(n.out[i], msg{kindCount, n.count})
		}
		env.SendTo(h.ID(), 7, msg{kindGossip, n.count})
	}
	env.WakeAt(env.MonotonicNs() + 2*ms)
}

func (n *meshNode) store(env *sim.Env, in *sim.Input) error {
	if in.Kind != sim.InPost {
		return nil
	}
	m := in.Msg.(msg)
	if err := env.Files().WriteAt(n.fd, binary.BigEndian.AppendUint64(nil, m.key), 0); err != nil {
		return err
	}
	if err := env.Files().Sync(n.fd); err != nil {
		return err
	}
	env.Observe(msg{kindCount, m.key})
	return nil
}

func (n *meshNode) Stop(env *sim.Env) { n.stopped = true; env.Exit() }
func (n *meshNode) AppendState(b []byte, _ sim.View) []byte {
	return binary.BigEndian.AppendUint64(b, n.count)
}
