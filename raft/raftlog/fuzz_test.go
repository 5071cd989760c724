package raftlog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

// FuzzOpen opens any bytes as a segment: the start refuses them or cuts, and a second start finds nothing left to cut.
func FuzzOpen(f *testing.F) {
	good := append(batch(0, 1, 2), batch(2, 3, 1)...)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		files := newFiles()
		files.WriteFile(dir+"/00000000000000000000.log", b)
		l, err := raftlog.Open(files, dir, raftlog.Config{SegmentBytes: 100})
		if err != nil {
			require.ErrorIs(t, err, raftlog.ErrDirectory)
			return
		}
		valid, _ := record.Recover(b)
		require.Equal(t, int64(len(b))-valid, l.Recovered().BytesCut)
		fill(t, l, max(l.LastEpoch(), 0)+1)
		end := l.EndOffset()
		require.NoError(t, l.Close())
		l = open(t, files, raftlog.Config{})
		require.Zero(t, l.Recovered().BytesCut)
		require.Equal(t, end, l.EndOffset())
	})
}

// FuzzEpochCheckpoint starts with any text as leader-epoch-checkpoint.
func FuzzEpochCheckpoint(f *testing.F) {
	f.Add("0\n1\n1 0\n")
	f.Add("0\n2\n1 0\n3 99\n")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		files := newFiles()
		files.WriteFile(dir+"/leader-epoch-checkpoint", []byte(text))
		files.WriteFile(dir+"/00000000000000000000.log", batch(0, 1, 2))
		l, err := raftlog.Open(files, dir, raftlog.Config{})
		if err != nil {
			require.ErrorIs(t, err, raftlog.ErrDirectory)
			return
		}
		require.EqualValues(t, 1, l.LastEpoch())
		require.Equal(t, "0\n1\n1 0\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
	})
}

// FuzzFileName starts with a file of any name in the directory.
func FuzzFileName(f *testing.F) {
	f.Add("00000000000000000002.log")
	f.Add("00000000000000000000-0000000000.checkpoint")
	f.Add("00000000000000000000-0000000000-1.checkpoint.part")
	f.Add("bootstrap.checkpoint.deleted")
	f.Fuzz(func(t *testing.T, name string) {
		for i := range len(name) {
			if name[i] == '/' || name[i] == 0 {
				return
			}
		}
		if name == "" || name == "." || name == ".." {
			return
		}
		files := newFiles()
		files.WriteFile(dir+"/"+name, nil)
		l, err := raftlog.Open(files, dir, raftlog.Config{})
		if err != nil {
			require.ErrorIs(t, err, raftlog.ErrDirectory)
			return
		}
		require.Equal(t, l.StartOffset(), l.EndOffset())
		require.NoError(t, l.Close())
		_, err = raftlog.Open(files, dir, raftlog.Config{})
		require.NoError(t, err)
	})
}
