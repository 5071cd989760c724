package vnet

import (
	"cmp"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/sim/decide"
)

// The seeds of rapid are pinned, so that a run of the tests is repeatable.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20266")
	}
	os.Exit(m.Run())
}

type payload struct {
	kind uint32
	key  uint64
}

func (p payload) Kind() uint32 { return p.kind }
func (p payload) Key() uint64  { return p.key }

// arrivals is a Scheduler that keeps what is under way, in order of time.
type arrivals struct {
	n       *Net
	pending []arrival
	now     int64
	names   map[[2]uint64]bool
}

type arrival struct {
	at     int64
	packet int32
}

func (a *arrivals) Schedule(at int64, packet int32, entity, key uint64) {
	a.pending = append(a.pending, arrival{at, packet})
	slices.SortStableFunc(a.pending, func(x, y arrival) int { return cmp.Compare(x.at, y.at) })
	a.names[[2]uint64{entity, key}] = true
}

// until delivers what arrives before a time.
func (a *arrivals) until(at int64) (got []Delivery) {
	for len(a.pending) > 0 && a.pending[0].at <= at {
		p := a.pending[0]
		a.pending = a.pending[1:]
		a.now = p.at
		var d Delivery
		if a.n.Arrive(p.at, p.packet, &d); d.Kind != Nothing {
			got = append(got, d)
		}
	}
	if at < forever {
		a.now = max(a.now, at)
	}
	return got
}

const forever = 1 << 60

func newNet(seed uint64, m Model) (*Net, *arrivals) {
	n, src := &Net{}, &decide.Source{}
	src.Reset(seed, nil, nil)
	a := &arrivals{n: n, names: map[[2]uint64]bool{}}
	n.Reset(m, src, a, []uint64{11, 22, 33})
	for h := range int32(3) {
		n.Boot(h, 1)
		n.Listen(h, 1, 0)
	}
	return n, a
}

func drawModel(t *rapid.T) Model {
	draw := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	return Model{Datagram: true, LatencyNs: draw("latency", 1e6), JitterNs: draw("jitter", 1e7), TailPpm: draw("tail", 1e6),
		TailNs: draw("tail-ns", 1e8), LossPpm: draw("loss", 5e5), DuplicatePpm: draw("duplicate", 1e6)}
}

// A connection gives what was sent on it, all of it and in order, whatever cuts, clogs and filters come and go.
func TestConnectionIsFIFOAndLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, a := newNet(rapid.Uint64().Draw(t, "seed"), drawModel(t))
		c := n.Reserve(0, 1, 0)
		n.Open(0, c, 1, 1, 0)
		require.Equal(t, Opened, a.until(forever)[0].Kind)
		var got []Delivery
		sent := uint64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 8).Draw(t, "step") {
			case 0:
				n.Cut(0, 1)
			case 1:
				n.Mend(a.now, 0, 1)
			case 2:
				n.Clog(0, 1, rapid.Int64Range(-1e8, 1e8).Draw(t, "clog"))
			case 3:
				n.Filter(1, 0, -1, 2)
			case 4:
				n.Unfilter(a.now, 1)
			case 5:
				got = append(got, a.until(a.now+rapid.Int64Range(0, 1e7).Draw(t, "wait"))...)
			default:
				sent++
				n.Send(a.now, c, Client, payload{rapid.Uint32Range(1, 2).Draw(t, "kind"), sent}, 0)
			}
		}
		n.Calm(a.now, 1e6, make([]bool, 3))
		got = append(got, a.until(forever)...)
		require.Len(t, got, int(sent))
		for i, d := range got {
			require.Equal(t, Data, d.Kind)
			require.Equal(t, uint64(i+1), d.Payload.Key())
			require.Equal(t, int32(1), d.To)
		}
	})
}

// Datagrams arrive no more than twice, in the order of sending when no reordering was asked for, and all of them when no
// loss was.
func TestDatagrams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		n, a := newNet(rapid.Uint64().Draw(t, "seed"), m)
		const sent = 40
		for i := range uint64(sent) {
			n.SendDatagram(a.now, 0, 1, 1, payload{1, i}, 0)
			a.now += 1e5
		}
		seen := map[uint64]int{}
		last := uint64(0)
		for _, d := range a.until(forever) {
			key := d.Payload.Key()
			if seen[key]++; seen[key] == 1 {
				require.GreaterOrEqual(t, key, last, "first arrivals are in order")
				last = key
			}
			require.LessOrEqual(t, seen[key], 2)
		}
		require.Equal(t, int64(sent-len(seen)), n.Faults.Losses)
		if m.LossPpm == 0 {
			require.Len(t, seen, sent)
		}
	})
}

// A message to an earlier incarnation never arrives, and its sender learns by a reset.
func TestConnectionsJoinIncarnations(t *testing.T) {
	n, a := newNet(1, Model{LatencyNs: 1_000})
	c := n.Reserve(0, 1, 0)
	n.Open(0, c, 1, 1, 0)
	a.until(1e6)
	n.Down(a.now, 1, false, 0)
	n.Boot(1, 2)
	n.Listen(1, 1, 0)
	n.Send(a.now, c, Client, payload{1, 1}, 0)
	got := a.until(forever)
	require.Len(t, got, 1)
	require.Equal(t, Closed, got[0].Kind)
	require.Equal(t, int32(0), got[0].To)
	_, ok := n.SideOf(c, 0, 1, 0)
	require.False(t, ok, "nothing more can be sent on it")
}

// The packets of a link are named by link and message, never by the slot of a pool.
func TestPacketsAreNamedByWhatTheyAre(t *testing.T) {
	names := func(extra bool) map[[2]uint64]bool {
		n, a := newNet(1, Model{Datagram: true})
		if extra {
			n.SendDatagram(0, 2, 0, 1, payload{9, 9}, 0)
		}
		for i := range uint64(5) {
			n.SendDatagram(0, 0, 1, 1, payload{1, i}, 0)
		}
		return a.names
	}
	require.Len(t, names(false), 5)
	require.Len(t, names(true), 6)
	require.Subset(t, names(true), names(false))
}
