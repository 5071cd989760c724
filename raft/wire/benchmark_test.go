package wire

import (
	"testing"

	"github.com/kraftsim/kraftsim/raft"
)

// BenchmarkFetch is one round of the message that dominates: normalize, encode into a reused buffer, decode.
func BenchmarkFetch(b *testing.B) {
	m := full(raft.KindFetchRequest)
	buf := make([]byte, 0, 4096)
	b.Run("normalize", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Normalize(m, 18)
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = AppendBody(buf, m, 18)
		}
	})
	body, _ := Encode(m, 18)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Decode(raft.KindFetchRequest, 18, body)
		}
	})
}
