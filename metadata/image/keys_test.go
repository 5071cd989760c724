package image

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/image/ordered"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Lower prefixes mean lower keys, for every kind of key. The values are few, so that pairs have beginnings in common.
func TestPrefixesAreInOrder(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'b', 'é', 0, 0x7f}), 0, 12, -1)
	number := rapid.SampledFrom([]int32{-1 << 31, -2, -1, 0, 1, 7, 1<<31 - 1})
	id := rapid.Custom(func(t *rapid.T) (u record.UUID) {
		for _, at := range []int{0, 3, 4, 7, 8, 15} {
			u[at] = rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}).Draw(t, "byte")
		}
		return u
	})
	small := rapid.SampledFrom([]int8{-128, -1, 0, 1, 2, 127})
	rapid.Check(t, func(t *rapid.T) {
		partition := func(name string) PartitionKey { return PartitionKey{id.Draw(t, name), number.Draw(t, name)} }
		requirePrefix(t, func(n string) PartitionKey { return partition(n) })
		requirePrefix(t, func(n string) memberKey { return memberKey{number.Draw(t, n), partition(n)} })
		requirePrefix(t, func(n string) ConfigKey { return ConfigKey{small.Draw(t, n), text.Draw(t, n), text.Draw(t, n)} })
		requirePrefix(t, func(n string) ScramKey { return ScramKey{small.Draw(t, n), text.Draw(t, n)} })
		requirePrefix(t, func(n string) QuotaKey { return QuotaKey{QuotaEntity(text.Draw(t, n)), text.Draw(t, n)} })
		requirePrefix(t, func(n string) idKey { return idKey(number.Draw(t, n)) })
		requirePrefix(t, func(n string) textKey { return textKey(text.Draw(t, n)) })
		requirePrefix(t, func(n string) uuidKey { return uuidKey(id.Draw(t, n)) })
	})
}

func requirePrefix[K ordered.Key[K]](t *rapid.T, draw func(name string) K) {
	a, b := draw("a"), draw("b")
	if a.Prefix() < b.Prefix() {
		require.Negative(t, a.Compare(b))
	}
	if b.Prefix() < a.Prefix() {
		require.Positive(t, a.Compare(b))
	}
}
