// Package register is the smallest useful program for the simulator: a register on two machines. The primary n1 takes
// writes, stores them, sends them to the backup n2, and acknowledges when n2 has stored them too. Reads go to either.
//
// It has a planted bug: see Replicate in Input. `go test` finds it, shrinks it and replays it.
package register

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

const port, file, resendNs = 1, "/register", 20_000_000

type kind uint32

const (
	Write kind = iota + 1
	Replicate
	Stored
	Read
)

// message is every message of the protocol: a kind and the register's value.
type message struct {
	kind  kind
	value int64
}

func (m message) Kind() uint32   { return uint32(m.kind) }
func (m message) Key() uint64    { return uint64(m.value) }
func (m message) String() string { return fmt.Sprintf("%s %d", [...]string{"?", "write", "replicate", "stored", "read"}[m.kind], m.value) }
func (m message) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(m.kind)), uint64(m.value))
}

// replica is the process on either machine.
type replica struct {
	Fixed         bool // without the planted bug
	value, stored int64
	fd            int32
}

func (r *replica) Boot(env *sim.Env) (err error) {
	env.Listen(port, 0)
	if r.fd, err = env.Files().Open(file, true); err != nil {
		return err
	}
	if err := env.Files().SyncDir("/"); err != nil {
		return err
	}
	var b [8]byte
	if n, _ := env.Files().ReadAt(r.fd, b[:], 0); n == 8 {
		r.value = int64(binary.BigEndian.Uint64(b[:]))
	}
	if env.HostID() == "n1" && r.value > 0 {
		env.WakeAt(env.MonotonicNs() + resendNs) // perhaps n2 never got it
	}
	return nil
}

func (r *replica) Input(env *sim.Env, in *sim.Input) error {
	m, _ := in.Msg.(message)
	switch {
	case in.Kind == sim.InWake || m.kind == Write && m.value > r.value:
		if in.Kind == sim.InLocal {
			if err := r.store(env, m.value, true); err != nil {
				return err
			}
		}
		if r.stored < r.value {
			env.SendTo("n2", port, message{Replicate, r.value})
			env.WakeAt(env.MonotonicNs() + resendNs)
		}
	case m.kind == Replicate:
		if m.value > r.value {
			if err := r.store(env, m.value, r.Fixed); err != nil { // the bug: stored, but not flushed
				return err
			}
		}
		env.SendTo("n1", port, message{Stored, m.value})
	case m.kind == Stored && m.value > r.stored:
		r.stored = m.value
		env.Observe(message{Stored, m.value}) // the client has its acknowledgement
	case m.kind == Read:
		env.Observe(message{Read, r.value})
	}
	return nil
}

func (r *replica) store(env *sim.Env, value int64, flush bool) error {
	r.value = value
	if err := env.Files().WriteAt(r.fd, binary.BigEndian.AppendUint64(nil, uint64(value)), 0); err != nil || !flush {
		return err
	}
	return env.Files().Sync(r.fd)
}

func (r *replica) Stop(env *sim.Env) { env.Exit() }
func (r *replica) AppendState(b []byte, _ sim.View) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, uint64(r.value)), uint64(r.stored))
}

// reads checks the one promise: a read sees every write that was acknowledged before.
type reads struct {
	w            *sim.World
	acknowledged int64
	last         int64
}

func (c *reads) Attach(w *sim.World) { *c = reads{w: w} }
func (c *reads) OnProtocol(h *sim.Host, o sim.Observation) {
	switch m := o.(message); m.kind {
	case Stored:
		c.acknowledged = max(c.acknowledged, m.value)
	case Read:
		if c.last = m.value; m.value < c.acknowledged {
			c.w.Violate("acknowledged-survives", "stale-read", fmt.Sprintf("%s answered %d although %d was acknowledged", h.ID(), m.value, c.acknowledged))
		}
	}
}
func (c *reads) Met() bool       { return c.acknowledged > 0 && c.last >= c.acknowledged }
func (c *reads) Waiting() string { return "a client waits for its write to be acknowledged and read" }

// Scenario is one writer, one reader, and power losses of the backup.
type Scenario struct{ Fixed bool }

func (s Scenario) Name() string {
	if s.Fixed {
		return "register/fixed"
	}
	return "register/broken"
}
func (s Scenario) Doc() string { return "a primary-backup register under power loss" }

func (s Scenario) Draw(seed uint64) *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Scenario: s.Name(), Seed: plan.Uint64(seed), StormUs: 400_000,
		Hosts:   []plan.Host{{ID: "n1", Kind: "replica"}, {ID: "n2", Kind: "replica", DriftPpm: 200}},
		Network: plan.Network{Transport: "datagram", LatencyUs: 500, JitterUs: 2_000, LossPpm: 50_000, DuplicatePpm: 20_000},
		Disk:    plan.Disk{WriteNs: 5_000, SyncNs: 400_000, MetadataNs: 5_000}}
	for i := range 1 + seed%4 {
		at := decide.Combine(seed, i) % 400_000
		p.Actions = append(p.Actions, plan.Action{ID: fmt.Sprintf("power-%d", i), AtUs: plan.Int64(at), Kind: "power",
			Params: plan.Params{"hosts": "n2", "down": "15ms"}})
	}
	return p
}

func (s Scenario) Build(w *sim.World, p *plan.Plan) error {
	n1, n2 := w.Host("n1"), w.Host("n2")
	if n1 == nil || n2 == nil {
		return fmt.Errorf("plan: hosts: the register needs n1 and n2")
	}
	for _, h := range w.Hosts() {
		w.Install(h, func() sim.Process { return &replica{Fixed: s.Fixed} })
	}
	check := &reads{}
	w.Add(check)
	w.AddObligation(check)
	w.SetLiveness(sim.Liveness{SmallestTimeoutNs: resendNs, BoundNs: 2_000_000_000})
	client := decide.HashString("client")
	var write func(v int64)
	write = func(v int64) {
		w.Request(n1, 0, message{Write, v})
		w.Request(n2, 0, message{Read, 0})
		w.At(w.NowNs()+7_000_000, client, uint64(v), func() { write(v + 1) })
	}
	w.At(1_000_000, client, 0, func() { write(1) })
	return nil
}

// Catalogue is what the command line and the tests run.
func Catalogue() *sim.Catalogue {
	return &sim.Catalogue{Program: "register", Scenarios: []sim.Scenario{Scenario{}, Scenario{Fixed: true}}, Registry: sim.NewRegistry(),
		Invariants: []sim.InvariantDoc{{Name: "acknowledged-survives", Doc: "a read sees every write acknowledged before it"}}}
}
