//nodet:room

// Package register is the smallest useful program for the simulator: a register on two machines. The primary n1 takes
// writes, stores them, sends them to the backup n2, and acknowledges when n2 has stored them too. Reads go to the backup.
// It has a planted bug, see Replicate in Input: `go test` finds, shrinks and replays it, and so does the main in cmd.
//
// Read it from the top: message, what crosses the network; replica, the program under test (sim.Process); reads, the one
// promise and the one duty (a checker and a sim.Obligation); scenario, from a seed to a plan and from a plan to a world;
// Catalogue, what commands and tests take. describe.go gives failures their words, canary.go makes the planted bug the canary of
// other catalogues, and register_test.go has the ways to run all that from go test. The line above puts this file under
// cmd/nodet, which refuses what would make two runs of a plan differ.
package register

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

const port, file, resendNs = 1, "/register", 20_000_000
const Write, Replicate, Stored, Read = 1, 2, 3, 4 // kinds of message; Stored and Read are also told to checkers and stories

// message is every message of the protocol: a kind and the register's value.
type message struct {
	kind  uint32
	value int64
}

func (m message) Kind() uint32 { return m.kind }
func (m message) Key() uint64  { return uint64(m.value) }
func (m message) AppendTo(b []byte) []byte {
	return append(append(b, byte(m.kind)), encode(m.value)...)
}
func (m message) String() string {
	return [...]string{"?", "write ", "replicate ", "stored ", "read "}[m.kind] + fmt.Sprint(m.value)
}
func encode(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// replica is the process on either machine.
type replica struct {
	fixed         bool // without the planted bug
	value, stored int64
	fd            int32
}

func (r *replica) Boot(env *sim.Env) (err error) {
	env.Listen(port, 0)
	if r.fd, err = env.Files().Open(file, true); err != nil {
		return err
	}
	b := make([]byte, 8) // stays zero where there is nothing to read
	_, _ = env.Files().ReadAt(r.fd, b, 0)
	r.value = int64(binary.BigEndian.Uint64(b))
	env.WakeAt(env.MonotonicNs() + resendNs) // perhaps n2 never got the last value
	return env.Files().SyncDir("/")
}

func (r *replica) Input(env *sim.Env, in *sim.Input) (err error) {
	m, _ := in.Msg.(message)
	switch {
	case in.Kind == sim.InWake && env.HostID() == "n1", m.kind == Write && m.value > r.value:
		if m.kind == Write {
			err = r.store(env, m.value, true)
		}
		if r.stored < r.value && err == nil {
			env.SendTo("n2", port, message{Replicate, r.value})
			env.WakeAt(env.MonotonicNs() + resendNs)
		}
	case m.kind == Replicate:
		if m.value > r.value {
			err = r.store(env, m.value, r.fixed) // the bug: stored, but not flushed
		}
		env.SendTo("n1", port, message{Stored, m.value})
	case m.kind == Stored && m.value > r.stored:
		r.stored = m.value
		env.Observe(m) // the client has its acknowledgement
	case m.kind == Read:
		env.Observe(message{Read, r.value})
	}
	return err
}

func (r *replica) store(env *sim.Env, value int64, flush bool) error {
	r.value = value
	if err := env.Files().WriteAt(r.fd, encode(value), 0); err != nil || !flush {
		return err
	}
	return env.Files().Sync(r.fd)
}
func (r *replica) Stop(env *sim.Env) { env.Exit() }
func (r *replica) AppendState(b []byte, _ sim.View) []byte {
	return append(append(b, encode(r.value)...), encode(r.stored)...)
}

// reads checks the one promise, that a read sees every write acknowledged before it, and wants one such read in the calm.
type reads struct {
	w                  *sim.World
	acknowledged, last int64
}

func (c *reads) Attach(w *sim.World) { *c = reads{w: w} }
func (c *reads) OnProtocol(h *sim.Host, o sim.Observation) {
	*c.w.Evaluated("acknowledged-survives")++
	if m := o.(message); m.kind == Stored {
		c.acknowledged = max(c.acknowledged, m.value)
	} else if c.last = m.value; m.value < c.acknowledged {
		detail := fmt.Sprintf("%s answered %d although n1 had acknowledged %d", h.ID(), m.value, c.acknowledged)
		c.w.Violate("acknowledged-survives", "stale-read", detail)
	}
}
func (c *reads) Met() bool       { return c.acknowledged > 0 && c.last >= c.acknowledged }
func (c *reads) Waiting() string { return "a client waits for its write to be acknowledged and read" }

// scenario is one writer, one reader, and power losses of the backup.
type scenario struct{ fixed bool }

func (s scenario) Name() string {
	return map[bool]string{false: "register/broken", true: "register/fixed"}[s.fixed]
}
func (s scenario) Doc() string { return "a primary-backup register under power loss" }

func (s scenario) Draw(seed uint64) *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Scenario: s.Name(), Seed: plan.Uint64(seed), StormUs: 400_000,
		Hosts:   []plan.Host{{ID: "n1", Kind: "replica"}, {ID: "n2", Kind: "replica", DriftPpm: 200}},
		Network: plan.Network{Transport: "datagram", LatencyUs: 500, JitterUs: 2_000, LossPpm: 50_000, DuplicatePpm: 20_000},
		Disk:    plan.Disk{WriteNs: 5_000, SyncNs: 400_000, MetadataNs: 5_000}}
	for i := range 1 + seed%4 {
		p.Actions = append(p.Actions, plan.Action{ID: fmt.Sprint("power-", i), Kind: "power",
			AtUs: plan.Int64(decide.Combine(seed, i) % 400_000), Params: plan.Params{"hosts": "n2", "down": "15ms"}})
	}
	return p
}
func (s scenario) Build(w *sim.World, p *plan.Plan) error {
	for _, h := range w.Hosts() {
		w.Install(h, func() sim.Process { return &replica{fixed: s.fixed} })
	}
	check := &reads{}
	w.Add(check)
	w.AddObligation(check)
	w.SetLiveness(sim.Liveness{SmallestTimeoutNs: resendNs, BoundNs: 2_000_000_000})
	for v := int64(1); v <= 300; v++ {
		w.At(v*7_000_000, decide.HashString("client"), uint64(v), func() {
			w.Request(w.Host("n1"), 0, message{Write, v})
			w.Request(w.Host("n2"), 0, message{Read, 0})
		})
	}
	return nil
}

// Catalogue is what the command line and the tests run.
func Catalogue() *sim.Catalogue {
	return &sim.Catalogue{Program: "register", Scenarios: []sim.Scenario{scenario{}, scenario{fixed: true}}, Registry: sim.NewRegistry(), Decode: decodeFile,
		Invariants: []sim.InvariantDoc{{Name: "acknowledged-survives", Doc: "a read sees every write acknowledged before it"}}}
}
