package raftlog_test

import (
	"testing"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

// BenchmarkAppendFollower appends one batch a round, as a steady fetch does, on a disk that costs nothing.
func BenchmarkAppendFollower(b *testing.B) {
	l := open(b, newFiles(), raftlog.Config{SegmentBytes: 1 << 20})
	buf := batch(0, 1, 2)
	b.ReportAllocs()
	for b.Loop() {
		setBase(buf, l.EndOffset())
		if n, err := l.AppendFollower(buf, 1); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkRead reads the last batch of a log of ten thousand.
func BenchmarkRead(b *testing.B) {
	out := make([]byte, 4096)
	l := open(b, memfiles.New(), raftlog.Config{Alloc: func(n int) []byte { return out[:n] }})
	for range 10000 {
		fill(b, l, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Read(l.EndOffset()-1, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}

// setBase changes the base offset of a batch, which its checksum does not cover.
func setBase(b record.Batch, base int64) { copy(b, record.AppendInt64(nil, base)) }
