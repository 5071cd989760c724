//nodet:room

// Package transfer is the protocol of docs/sim.md: a sender hands numbered items to a receiver, which must apply each
// exactly once and in order, although messages get lost and machines lose power. Copy the directory and change it:
//
//	go test ./examples/transfer
//
// has no failure; with the receiver of section 7 of that page it has, within a few dozen seeds.
package transfer

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The kinds of message.
const (
	kindItem    = iota + 1 // sender to receiver: item number n
	kindAck                // receiver to sender: n items are applied and durable
	kindApplied            // what the receiver tells its checkers
)

// message is a kind and a number.
type message struct {
	kind   uint32
	number uint64
}

func (m message) Kind() uint32 { return m.kind }
func (m message) Key() uint64  { return m.number }
func (m message) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, m.kind), m.number)
}
func (m message) String() string {
	return [...]string{"?", "item ", "ack ", "applied "}[m.kind] + fmt.Sprint(m.number)
}

const port = 1

// receiver applies items. Its log has a byte for each item that it applied.
type receiver struct {
	fd      int32
	applied uint64
}

func (r *receiver) Boot(env *sim.Env) (err error) {
	if r.fd, err = env.Files().Open("/log", true); err != nil {
		return err
	}
	if err := env.Files().SyncDir("/"); err != nil {
		return err
	}
	size, err := env.Files().Size(r.fd)
	if err != nil {
		return err
	}
	r.applied = uint64(size)
	env.Listen(port, 0)
	return nil
}

func (r *receiver) Input(env *sim.Env, in *sim.Input) error {
	m, ok := in.Msg.(message)
	if !ok {
		return nil // a wake-up for nothing
	}
	if m.number == r.applied+1 {
		if err := env.Files().WriteAt(r.fd, []byte{1}, int64(r.applied)); err != nil {
			return err
		}
		if err := env.Files().Sync(r.fd); err != nil {
			return err
		}
		r.applied++
		env.Observe(message{kindApplied, r.applied})
	}
	env.SendTo(in.From, port, message{kindAck, r.applied})
	return nil
}

func (r *receiver) Stop(env *sim.Env) { env.Exit() }
func (r *receiver) AppendState(b []byte, _ sim.View) []byte {
	return binary.BigEndian.AppendUint64(b, r.applied)
}

// resendNs is how long the sender waits for an acknowledgement.
const resendNs = 10_000_000

// sender keeps sending the first item that is not acknowledged. It forgets everything in a crash, and learns from the
// first acknowledgement where the receiver is.
type sender struct{ acknowledged uint64 }

func (s *sender) Boot(env *sim.Env) error {
	env.Listen(port, 0)
	s.send(env)
	return nil
}

func (s *sender) Input(env *sim.Env, in *sim.Input) error {
	if m, ok := in.Msg.(message); ok {
		if m.number <= s.acknowledged {
			return nil // an old acknowledgement
		}
		s.acknowledged = m.number
	}
	s.send(env)
	return nil
}

func (s *sender) send(env *sim.Env) {
	env.SendTo("receiver", port, message{kindItem, s.acknowledged + 1})
	env.WakeAt(env.MonotonicNs() + resendNs)
}

func (s *sender) Stop(env *sim.Env) { env.Exit() }
func (s *sender) AppendState(b []byte, _ sim.View) []byte {
	return binary.BigEndian.AppendUint64(b, s.acknowledged)
}

// exactlyOnce is the promise: items are applied one by one, and none is applied again after a crash. It is also what must
// come about in the calm: ten more items.
//
// A crash in the middle of the fsync may leave an item on the disk that the receiver never told about. So one item for
// each crash, and no other, may be missing in what the receiver tells.
type exactlyOnce struct {
	w         *sim.World
	applied   uint64
	atCalm    uint64
	crashes   uint64 // of the receiver, since it last told something
	evaluated *int64
}

func (c *exactlyOnce) Attach(w *sim.World) {
	*c = exactlyOnce{w: w, evaluated: w.Evaluated("exactly-once")}
}

func (c *exactlyOnce) OnProtocol(h *sim.Host, o sim.Observation) {
	*c.evaluated++
	next, m := c.applied+1, o.(message)
	if m.number < next || m.number > next+c.crashes {
		c.w.Violate("exactly-once", "not-the-next", fmt.Sprintf("%s applied item %d after item %d", h.ID(), m.number, c.applied))
	}
	c.applied, c.crashes = m.number, 0
	if !c.w.Calm() {
		c.atCalm = m.number
	}
}

// OnBoot is called when a process starts, OnDown when it ends.
func (c *exactlyOnce) OnBoot(*sim.Host) {}
func (c *exactlyOnce) OnDown(h *sim.Host, _ sim.DownKind, _ error) {
	if h.ID() == "receiver" {
		c.crashes++
	}
}

func (c *exactlyOnce) Met() bool { return c.applied >= c.atCalm+10 }
func (c *exactlyOnce) Waiting() string {
	return fmt.Sprintf("the sender waits for item %d", c.applied+1)
}

// Scenario is a transfer in a storm of power losses, kills, pauses and cuts.
type Scenario struct{}

// Name is part of every token and capsule.
func (Scenario) Name() string { return "transfer" }

// Doc is what `list` prints.
func (Scenario) Doc() string { return "items are handed over exactly once" }

// Draw makes the plan of a seed: a pure function.
func (s Scenario) Draw(seed uint64) *plan.Plan {
	pick := func(i, n uint64) int64 { return int64(decide.Combine(seed, i) % n) }
	p := &plan.Plan{Format: plan.Format, Scenario: s.Name(), Seed: plan.Uint64(seed), StormUs: 500_000,
		Hosts: []plan.Host{{ID: "sender", Kind: "sender"}, {ID: "receiver", Kind: "receiver", DriftPpm: 100}},
		Network: plan.Network{Transport: "datagram", LatencyUs: 300, JitterUs: 3_000, LossPpm: 50_000, DuplicatePpm: 50_000,
			ReorderPpm: 50_000, ReorderUs: 20_000},
		Disk:  plan.Disk{WriteNs: 5_000, SyncNs: 500_000, MetadataNs: 5_000, JitterPercent: 100},
		Lanes: plan.Lanes{SpuriousPpm: 10_000},
	}
	for i := range uint64(4) {
		host := [...]string{"sender", "receiver"}[pick(10*i, 2)]
		a := plan.Action{ID: fmt.Sprintf("a%d", i), AtUs: plan.Int64(pick(10*i+1, 500_000))}
		switch pick(10*i+2, 4) {
		case 0:
			a.Kind, a.Params = "power", plan.Params{"hosts": host, "down": "20ms"}
		case 1:
			a.Kind, a.Params = "kill", plan.Params{"host": host, "down": "5ms"}
		case 2:
			a.Kind, a.Params = "pause", plan.Params{"host": host, "for": "40ms"}
		case 3:
			a.Kind, a.Params = "isolate", plan.Params{"host": host, "for": "30ms"}
		}
		p.Actions = append(p.Actions, a)
	}
	return p
}

// Build furnishes the world for a plan.
func (Scenario) Build(w *sim.World, _ *plan.Plan) error {
	for _, h := range w.Hosts() {
		switch h.Kind() {
		case "sender":
			w.Install(h, func() sim.Process { return &sender{} })
		case "receiver":
			w.Install(h, func() sim.Process { return &receiver{} })
		default:
			return fmt.Errorf("plan: host %s: kind %q is neither sender nor receiver", h.ID(), h.Kind())
		}
	}
	check := &exactlyOnce{}
	w.Add(check)
	w.AddObligation(check)
	w.SetLiveness(sim.Liveness{SmallestTimeoutNs: resendNs, BoundNs: 5_000_000_000})
	return nil
}

// Catalogue is what the shells take.
func Catalogue() *sim.Catalogue {
	return &sim.Catalogue{
		Program: "transfer", Scenarios: []sim.Scenario{Scenario{}}, Registry: sim.NewRegistry(),
		Invariants: []sim.InvariantDoc{{Name: "exactly-once", Doc: "each item is applied once, in order"}},
	}
}
