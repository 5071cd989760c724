package vnet

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Packets take each latency of a table as often as its weight says, and no other.
func TestWeightedLatency(t *testing.T) {
	const packets = 6000
	n, a := newNet(7, Model{Datagram: true, ReorderPpm: 1, LatencyNs: 1_000_000, JitterNs: 500_000, Weights: []int64{1, 0, 3, 2}})
	count := map[int64]int{}
	for k := range uint64(packets) {
		n.SendDatagram(0, 0, 1, 1, payload{1, k}, 0)
	}
	for _, p := range a.pending {
		count[p.at]++
	}
	require.Len(t, count, 3)
	for at, share := range map[int64]int{1_000_000: 1, 2_000_000: 3, 2_500_000: 2} {
		require.InDelta(t, packets*share/6, count[at], packets/30, "%d", at)
	}
}

// What is dropped is gone, both transports; what is not passes, and the connection lives on.
func TestDrop(t *testing.T) {
	n, a := newNet(7, Model{LatencyNs: 1_000_000})
	id := n.Reserve(0, 1, 0)
	n.Open(0, id, 1, 1, 0)
	require.Len(t, a.until(10_000_000), 1)
	n.Drop(0, 1, func(p Payload) bool { return p.Kind() == 2 })
	for kind := range uint32(4) {
		n.Send(a.now, id, Client, payload{kind, 5}, 0)
		n.SendDatagram(a.now, 0, 1, 1, payload{kind, 6}, 0)
	}
	got := map[uint32]int{}
	for _, d := range a.until(20_000_000) {
		require.Equal(t, Data, d.Kind)
		got[d.Payload.Kind()]++
	}
	require.Equal(t, map[uint32]int{0: 2, 1: 2, 3: 2}, got)
	require.Equal(t, int64(2), n.Faults.Dropped)
	n.Drop(0, 1, nil)
	n.Send(a.now, id, Client, payload{2, 7}, 0)
	require.Len(t, a.until(30_000_000), 1)
}
