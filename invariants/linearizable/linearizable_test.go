package linearizable

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("rapid.seed", "20261130")
	os.Exit(m.Run())
}

func set(id int64, value string, call, ret, offset int64) Operation {
	return Operation{ID: id, Kind: Set, Key: "k", Value: value, CallNs: call, ReturnNs: ret, Offset: offset, Server: "c1"}
}

func op(id int64, kind Kind, level int32, call, ret, offset int64) Operation {
	return Operation{ID: id, Kind: kind, Key: "k", Level: level, CallNs: call, ReturnNs: ret, Offset: offset, Server: "c1"}
}

func read(id int64, value string, call, ret int64) Operation {
	return Operation{ID: id, Kind: Read, Key: "k", Value: value, CallNs: call, ReturnNs: ret, Offset: -1, Server: "c1"}
}

func TestHistories(t *testing.T) {
	written := []Write{{"k", "a", 5}, {"k", "b", 9}}
	for _, x := range []struct {
		name, want string
		h          History
	}{
		{"nothing", "", History{}},
		{"one after the other", "", History{Operations: []Operation{set(1, "a", 0, 10, 5), set(2, "b", 20, 30, 9)}, Final: []State{{Key: "k", Value: "b"}}}},
		{"offsets against time", "real-time", History{Operations: []Operation{set(1, "a", 0, 10, 9), set(2, "b", 20, 30, 5)}}},
		{"at one time, either way", "", History{Operations: []Operation{set(1, "a", 0, 30, 9), set(2, "b", 10, 20, 5)}, Final: []State{{Key: "k", Value: "a"}}}},
		{"at one time, one offset", "order", History{Operations: []Operation{set(1, "a", 0, 30, 9), set(2, "b", 10, 20, 9)}}},
		{"lost", "order", History{Operations: []Operation{set(1, "a", 0, 10, 5), set(2, "b", 20, 30, 9)}, Final: []State{{Key: "k", Value: "a"}}}},
		{"no answer, happened at the end", "", History{Operations: []Operation{set(1, "a", 0, Open, -1), set(2, "b", 20, 30, 9)}, Final: []State{{Key: "k", Value: "a"}}}},
		{"no answer, never happened", "", History{Operations: []Operation{set(1, "a", 0, Open, -1), set(2, "b", 20, 30, 9)}, Final: []State{{Key: "k", Value: "b"}}}},
		{"a value that nobody wrote", "order", History{Operations: []Operation{set(1, "a", 0, 10, 5)}, Final: []State{{Key: "k", Value: "x"}}}},
		{"created twice", "order", History{Operations: []Operation{op(1, Create, 0, 0, 10, 5), op(2, Create, 0, 20, 30, 9)}}},
		{"created, perhaps deleted, created", "", History{Operations: []Operation{op(1, Create, 0, 0, 10, 5), op(2, Delete, 0, 11, Open, -1), op(3, Create, 0, 20, 30, 9)}}},
		{"no answer to a creation that never was", "", History{Operations: []Operation{op(1, Create, 0, 0, Open, -1)}, Final: []State{{Key: "k"}}}},
		{"no answer to a creation that was", "", History{Operations: []Operation{op(1, Create, 0, 0, Open, -1)}, Final: []State{{Key: "k", Exists: true}}}},
		{"deleted before it was created", "order", History{Operations: []Operation{op(1, Delete, 0, 0, 10, 5)}}},
		{"deleted, and there", "order", History{Operations: []Operation{op(1, Create, 0, 0, 10, 5), op(2, Delete, 0, 20, 30, 9)}, Final: []State{{Key: "k", Exists: true}}}},
		{"raised and lowered", "", History{Operations: []Operation{op(1, Raise, 2, 0, 10, 5), op(2, Lower, 1, 20, 30, 9)}, Final: []State{{Key: "k", Level: 1}}}},
		{"raised below", "order", History{Operations: []Operation{op(1, Raise, 2, 0, 10, 5), op(2, Raise, 1, 20, 30, 9)}}},
		{"lowered from where it began", "", History{Operations: []Operation{op(1, Lower, 1, 0, 10, 5)}, Initial: map[string]int32{"k": 1}}},
		{"lowered above", "order", History{Operations: []Operation{op(1, Lower, 1, 0, 10, 5)}}},
		{"an old read of another process", "", History{Committed: written, Operations: []Operation{set(1, "a", 0, 10, 5), set(2, "b", 20, 30, 9),
			{ID: 3, Kind: Read, Key: "k", Value: "a", CallNs: 40, ReturnNs: 50, Server: "c2"}}}},
		{"an old read after an answer", "read", History{Committed: written, Operations: []Operation{set(1, "a", 0, 10, 5), set(2, "b", 20, 30, 9), read(3, "a", 40, 50)}}},
		{"an old read at the time of the answer", "", History{Committed: written, Operations: []Operation{set(1, "a", 0, 10, 5), set(2, "b", 20, 45, 9), read(3, "a", 40, 50)}}},
		{"reads that go back", "read", History{Committed: written, Operations: []Operation{read(1, "b", 0, 10), read(2, "a", 20, 30)}}},
		{"a read of nothing after something", "read", History{Committed: written, Operations: []Operation{read(1, "a", 0, 10), read(2, "", 20, 30)}}},
		{"a read of what is not committed", "read", History{Committed: written, Operations: []Operation{read(1, "c", 0, 10)}}},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := Check(&x.h, DefaultBounds)
			require.Equal(t, x.want, r.Evidence, r.Detail)
			require.Equal(t, x.want != "", r.Verdict == Illegal)
			require.Equal(t, r, Check(&x.h, DefaultBounds), "the same again")
		})
	}
}

// TestBounds: what is too wide is unknown, and an illegal key beside it is still found.
func TestBounds(t *testing.T) {
	h := History{}
	for i := range int64(6) {
		h.Operations = append(h.Operations, Operation{ID: i, Kind: Create, Key: "wide", CallNs: i, ReturnNs: Open, Offset: -1})
	}
	r := Check(&h, Bounds{OperationsPerKey: 10, ConcurrencyPerKey: 5})
	require.Equal(t, Unknown, r.Verdict)
	require.Contains(t, r.Detail, "wide has 6 operations, 6 of them open")
	require.Equal(t, Unknown, Check(&h, Bounds{OperationsPerKey: 5, ConcurrencyPerKey: 10}).Verdict)
	require.Equal(t, Legal, Check(&h, Bounds{OperationsPerKey: 6, ConcurrencyPerKey: 6}).Verdict)
	h.Operations = append(h.Operations, op(9, Delete, 0, 0, 10, 5))
	require.Equal(t, Illegal, Check(&h, Bounds{OperationsPerKey: 5, ConcurrencyPerKey: 10}).Verdict)
}

// TestWhatHappenedIsLegal: a history made from an order is legal, and illegal when its last acknowledged write is taken out of the end.
func TestWhatHappenedIsLegal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		h, final := History{}, map[string]string{}
		last := map[string]bool{} // whether the last write was acknowledged
		for i := range n {
			at := int64(i)*10 + 5
			o := Operation{Client: int32(i % 4), ID: int64(i), Kind: Set, Key: fmt.Sprintf("k%d", rapid.IntRange(0, 2).Draw(t, "key")), Value: strconv.Itoa(i),
				CallNs: at - rapid.Int64Range(0, 25).Draw(t, "before"), ReturnNs: at + rapid.Int64Range(0, 25).Draw(t, "after"), Offset: at}
			if rapid.IntRange(0, 9).Draw(t, "silent") == 0 {
				o.ReturnNs, o.Offset = Open, -1
			}
			final[o.Key], last[o.Key] = o.Value, o.acknowledged()
			h.Operations = append(h.Operations, o)
		}
		for _, k := range []string{"k0", "k1", "k2"} {
			if v, ok := final[k]; ok {
				h.Final = append(h.Final, State{Key: k, Value: v})
			}
		}
		r := Check(&h, DefaultBounds)
		require.Equal(t, Legal, r.Verdict, r.Detail)
		for i := range h.Final {
			if last[h.Final[i].Key] {
				h.Final[i].Value = ""
				require.Equal(t, Illegal, Check(&h, DefaultBounds).Verdict)
				return
			}
		}
	})
}
