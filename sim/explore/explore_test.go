package explore_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/explore"
	"github.com/kraftsim/kraftsim/sim/plan"
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}

// The toy: three voters, two candidates. A candidate asks the others for their votes, and leads with two of three, its own included. A voter
// grants one vote, writes it down and answers. The bug: it answers first, and the write may be lost when it dies in between.
const (
	kindAsk = iota + 1
	kindVote
	kindLeads
)

type msg struct {
	kind uint32
	key  uint64
}

func (m msg) Kind() uint32 { return m.kind }
func (m msg) Key() uint64  { return m.key }
func (m msg) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, m.kind), m.key)
}
func (m msg) String() string { return [...]string{"?", "ask", "vote", "leads"}[m.kind] }

type voter struct {
	id, votes uint64
	votedFor  uint64
	fd        int32
	hasty     bool // with the bug
	lazy      bool // with another one: a vote is written and not flushed
	leads     bool
}

var names = []string{"v1", "v2", "v3"}

func (v *voter) Boot(env *sim.Env) (err error) {
	if v.fd, err = env.Files().Open("/vote", true); err != nil {
		return err
	}
	b := []byte{0}
	_, _ = env.Files().ReadAt(v.fd, b, 0)
	v.votedFor = uint64(b[0])
	if err := env.Files().SyncDir("/"); err != nil {
		return err
	}
	env.Listen(1, 0)
	if v.id < 3 && v.votedFor == 0 {
		env.WakeAt(env.MonotonicNs() + int64(v.id)*10_000_000)
	}
	return nil
}

func (v *voter) store(env *sim.Env, whom uint64) error {
	if err := env.Files().WriteAt(v.fd, []byte{byte(whom)}, 0); err != nil {
		return err
	}
	if v.lazy {
		return nil
	}
	return env.Files().Sync(v.fd)
}

func (v *voter) Input(env *sim.Env, in *sim.Input) error {
	m, _ := in.Msg.(msg)
	switch {
	case in.Kind == sim.InWake && v.votedFor == 0:
		v.votedFor, v.votes = v.id, 1
		if err := v.store(env, v.id); err != nil {
			return err
		}
		for i, name := range names {
			if uint64(i+1) != v.id {
				env.SendTo(name, 1, msg{kindAsk, v.id})
			}
		}
	case m.kind == kindAsk && v.votedFor == 0:
		v.votedFor = m.key
		if v.hasty {
			env.SendTo(in.From, 1, msg{kindVote, v.id})
			return v.store(env, m.key)
		}
		if err := v.store(env, m.key); err != nil {
			return err
		}
		env.SendTo(in.From, 1, msg{kindVote, v.id})
	case m.kind == kindVote && v.votedFor == v.id:
		if v.votes++; v.votes >= 2 && !v.leads {
			v.leads = true
			env.Observe(msg{kindLeads, v.id})
		}
	}
	return nil
}
func (v *voter) Stop(env *sim.Env) { env.Exit() }
func (v *voter) AppendState(b []byte, _ sim.View) []byte {
	leads := byte(0)
	if v.leads {
		leads = 1
	}
	return append(b, byte(v.votedFor), byte(v.votes), leads)
}

type oneLeader struct {
	w      *sim.World
	leader uint64
}

func (c *oneLeader) Attach(w *sim.World) { *c = oneLeader{w: w} }
func (c *oneLeader) OnProtocol(_ *sim.Host, o sim.Observation) {
	m := o.(msg)
	if c.leader != 0 && c.leader != m.key {
		c.w.Violate("one-leader", "two", "two lead")
	}
	c.leader = m.key
}

type election struct{ hasty, lazy bool }

func (e election) Name() string { return "election" }
func (e election) Doc() string  { return "a toy" }
func (e election) Draw(seed uint64) *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Scenario: "election", Seed: plan.Uint64(seed), StormUs: 60_000,
		Network: plan.Network{Transport: "datagram", LatencyUs: 100}, Disk: plan.Disk{WriteNs: 1_000, SyncNs: 5_000, MetadataNs: 1_000}}
	for _, id := range names {
		p.Hosts = append(p.Hosts, plan.Host{ID: id, Kind: "voter"})
	}
	return p
}
func (e election) Build(w *sim.World, _ *plan.Plan) error {
	for i, h := range w.Hosts() {
		w.Install(h, func() sim.Process { return &voter{id: uint64(i + 1), hasty: e.hasty, lazy: e.lazy} })
	}
	w.Add(&oneLeader{})
	return nil
}

func engine(hasty bool) (*sim.Engine, *plan.Plan) {
	return engineOf(election{hasty: hasty})
}

func engineOf(e election) (*sim.Engine, *plan.Plan) {
	return sim.NewEngine(&sim.Catalogue{Program: "toy", Scenarios: []sim.Scenario{e}, Registry: sim.NewRegistry(),
		Invariants: []sim.InvariantDoc{{Name: "one-leader"}}}), e.Draw(1)
}

func search(t *testing.T, hasty bool, b explore.Bounds) *explore.Report {
	t.Helper()
	e, p := engine(hasty)
	r, err := explore.New(e, p, b).Run(nil)
	require.NoError(t, err)
	require.True(t, r.Complete)
	t.Log(r.Text())
	return r
}

// The planted bug needs one death of the voter between answer and write. Without a fault there is none to be found, and without the bug
// there is nothing to be found with one either: over every schedule.
func TestFindsAPlantedBugAndProvesItsAbsence(t *testing.T) {
	b := explore.Bounds{Depth: 10, Deviations: -1, Faults: 1}
	require.Empty(t, search(t, false, b).Findings)
	none := b
	none.Faults = 0
	require.Empty(t, search(t, true, none).Findings)
	r := search(t, true, b)
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	require.Equal(t, "violation/one-leader/two", f.Fingerprint)
	require.True(t, slices.ContainsFunc(f.Choices, func(c string) bool { return strings.HasSuffix(c, ", its operation lost") }))
	e, _ := engine(true) // what was found is a plan like any other
	v, err := e.Run(f.Plan, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, f.Fingerprint, v.Verdict.Fingerprint())
	text, err := plan.Encode(f.Plan)
	require.NoError(t, err)
	read, err := plan.Decode(text)
	require.NoError(t, err)
	require.Equal(t, f.Plan, read)
}

// The reductions change how much is run, and not what is found.
func TestReductionsLoseNothing(t *testing.T) {
	for _, hasty := range []bool{false, true} {
		for depth := int64(1); depth <= 5; depth++ {
			b := explore.Bounds{Depth: depth, Deviations: -1, Faults: 1}
			reduced := search(t, hasty, b)
			b.Plain = true
			plain := search(t, hasty, b)
			require.Equal(t, len(plain.Findings) > 0, len(reduced.Findings) > 0, "depth %d", depth)
			require.LessOrEqual(t, reduced.Runs, plain.Runs)
			require.Zero(t, plain.Known+plain.Asleep)
		}
	}
}

// A bound on deviations from order of time reaches deeper with fewer runs.
func TestDeviations(t *testing.T) {
	r := search(t, true, explore.Bounds{Depth: 30, Deviations: 2, Faults: 1})
	require.Len(t, r.Findings, 1)
	require.Contains(t, r.Covered, "at most 2 deviations")
	zero := search(t, true, explore.Bounds{Depth: 30, Deviations: 0, Faults: 0})
	require.Equal(t, int64(1), zero.Leaves+zero.Known, "order of time is one schedule")
}

// A search that is stopped after any run, saved, and loaded elsewhere ends with the same counts.
func TestASavedSearchGoesOnWhereItWas(t *testing.T) {
	b := explore.Bounds{Depth: 8, Deviations: -1, Faults: 1}
	want := search(t, true, b)
	file := filepath.Join(t.TempDir(), "search")
	e, p := engine(true)
	s := explore.New(e, p, b)
	rounds := 0
	for !s.Report().Complete {
		until := s.Report().Runs + 37
		_, err := s.Run(func(r *explore.Report) bool { return r.Runs >= until })
		require.NoError(t, err)
		require.NoError(t, s.Save(file))
		e, p = engine(true)
		s, err = explore.Load(file, e, p, b)
		require.NoError(t, err)
		rounds++
	}
	require.Greater(t, rounds, 3)
	require.Equal(t, want, s.Report())
}

func TestLoadRefusesWhatIsNoSearchOfThis(t *testing.T) {
	b := explore.Bounds{Depth: 3, Deviations: -1}
	e, p := engine(true)
	s := explore.New(e, p, b)
	_, err := s.Run(func(r *explore.Report) bool { return r.Runs >= 3 })
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "search")
	require.NoError(t, s.Save(file))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, bad := range map[string][]byte{"cut": data[:len(data)-1], "head": data[:20], "none": {}, "changed": append(append([]byte{}, data[:len(data)-1]...), data[len(data)-1]^1)} {
		bad1 := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(bad1, bad, 0o600))
		_, err := explore.Load(bad1, e, p, b)
		require.ErrorIs(t, err, explore.ErrState, name)
	}
	other := b
	other.Depth++
	_, err = explore.Load(file, e, p, other)
	require.ErrorContains(t, err, "other bounds")
	_, err = explore.Load(filepath.Join(dir, "missing"), e, p, b)
	require.True(t, errors.Is(err, os.ErrNotExist))
	require.Error(t, s.Save(filepath.Join(dir, "no", "folder")))
	require.NoDirExists(t, filepath.Join(dir, "no"))
	// What a program left that was killed while it saved is gone with the next one.
	ended := exec.Command("true")
	require.NoError(t, ended.Run())
	host, err := os.Hostname()
	require.NoError(t, err)
	half := filepath.Join(dir, fmt.Sprintf(".%s.unfinished-%s-%d-1", filepath.Base(file), host, ended.Process.Pid))
	require.NoError(t, os.WriteFile(half, data[:9], 0o600))
	require.NoError(t, s.Save(file))
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func FuzzLoad(f *testing.F) {
	b := explore.Bounds{Depth: 4, Deviations: -1}
	e, p := engine(true)
	s := explore.New(e, p, b)
	if _, err := s.Run(func(r *explore.Report) bool { return r.Runs >= 5 }); err != nil {
		f.Fatal(err)
	}
	file := filepath.Join(f.TempDir(), "search")
	if err := s.Save(file); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "search")
		require.NoError(t, os.WriteFile(file, data, 0o600))
		if s, err := explore.Load(file, e, p, b); err == nil {
			require.NotNil(t, s.Report())
		}
	})
}

func TestAPlanThatCannotRun(t *testing.T) {
	e, p := engine(true)
	p.Hosts = nil
	_, err := explore.New(e, p, explore.Bounds{Depth: 3, Deviations: -1}).Run(nil)
	require.ErrorIs(t, err, plan.ErrInput)
}

// What is written and not flushed survives every death of a process, and no loss of power: only with those the bug is found, at once or
// in the plan of the finding, and without the bug there is nothing to be found with them.
func TestOnlyALossOfPowerShowsAVoteThatIsNotFlushed(t *testing.T) {
	find := func(lazy bool, b explore.Bounds) *explore.Report {
		e, p := engineOf(election{lazy: lazy})
		r, err := explore.New(e, p, b).Run(nil)
		require.NoError(t, err)
		require.True(t, r.Complete)
		return r
	}
	b := explore.Bounds{Depth: 10, Deviations: -1, Faults: 1}
	kills := find(true, b)
	require.Empty(t, kills.Findings)
	require.NotContains(t, kills.Covered, "power")
	b.Power = true
	require.Empty(t, find(false, b).Findings)
	r := find(true, b)
	require.Len(t, r.Findings, 1)
	require.Contains(t, r.Covered, "losses of power among them")
	require.Greater(t, r.States, int64(0))
	f := r.Findings[0]
	require.Equal(t, "violation/one-leader/two", f.Fingerprint)
	require.True(t, slices.ContainsFunc(f.Choices, func(c string) bool { return strings.HasPrefix(c, "power ") }))
	e, _ := engineOf(election{lazy: true})
	v, err := e.Run(f.Plan, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, f.Fingerprint, v.Verdict.Fingerprint())
	for depth := int64(1); depth <= 4; depth++ { // the reductions lose nothing with them either
		b.Depth, b.Plain = depth, false
		reduced := find(true, b)
		b.Plain = true
		require.Equal(t, len(find(true, b).Findings) > 0, len(reduced.Findings) > 0, "depth %d", depth)
	}
}
