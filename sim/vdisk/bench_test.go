package vdisk

import "testing"

// benchLane commits with a delay of one operation, like a world between whose events a lane runs on.
type benchLane struct {
	Immediate
	last OpID
}

func (b *benchLane) Issue(v *Volume, op OpID, _ int64) {
	if b.last != NoOp {
		v.Commit(b.last)
	}
	b.last = op
}

// One append of 200 bytes and its fsync, issued and committed; a new file each MiB.
func BenchmarkAppendSync(b *testing.B) {
	v := NewVolume("v", Model{})
	v.Load("/x", nil)
	h := v.Handle(&benchLane{})
	fd, _ := h.Open("/x", false)
	p := make([]byte, 200)
	offset := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		if offset > 1<<20 {
			offset = 0
			_ = h.Truncate(fd, 0)
		}
		_ = h.WriteAt(fd, p, offset)
		_ = h.Sync(fd)
		offset += 200
	}
}

// The quorum-state dance: create a temporary file, write, fsync, rename, SyncDir.
func BenchmarkReplaceFile(b *testing.B) {
	v := NewVolume("v", Model{})
	v.Load("/d/quorum-state", nil)
	h := v.Handle(&benchLane{})
	p := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		fd, _ := h.Open("/d/quorum-state.tmp", true)
		_ = h.WriteAt(fd, p, 0)
		_ = h.Sync(fd)
		_ = h.Close(fd)
		_ = h.Rename("/d/quorum-state.tmp", "/d/quorum-state")
		_ = h.SyncDir("/d")
	}
}

func BenchmarkPowerLoss(b *testing.B) {
	v := NewVolume("v", Model{})
	l := newLane(1)
	l.commit = true
	p := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		v.Reset(Model{})
		v.Load("/x", nil)
		h := v.Handle(l)
		fd, _ := h.Open("/x", false)
		for i := range int64(50) {
			_ = h.WriteAt(fd, p, i*200)
		}
		v.Crash(PowerLoss, nil, l)
	}
}
