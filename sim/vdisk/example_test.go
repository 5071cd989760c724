package vdisk_test

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// host draws decisions from a source and completes every operation at once.
type host struct {
	vdisk.Immediate
	src    decide.Source
	entity uint64
}

func (h *host) Choose(site *decide.Site, kind, key uint64, n int64) int64 {
	return h.src.Choose(site, h.entity, kind, key, n)
}

func (h *host) Chance(site *decide.Site, kind, key uint64, ppm int64) bool {
	return h.src.Chance(site, h.entity, kind, key, ppm)
}

// The classic mistake: a file is replaced by rename without an fsync before. Some power losses leave an empty file.
func Example() {
	seen := map[string]bool{}
	for seed := range uint64(50) {
		v := vdisk.NewVolume("n1:/data", vdisk.Model{})
		v.Load("/data/state", []byte("old"))
		h := &host{entity: v.Entity()}
		h.src.Reset(seed, nil, nil)

		files := v.Handle(h)
		fd, _ := files.Open("/data/state.tmp", true)
		_ = files.WriteAt(fd, []byte("new"), 0)
		_ = files.Rename("/data/state.tmp", "/data/state")
		v.Crash(vdisk.PowerLoss, nil, h)

		data, _ := v.File("/data/state")
		seen[string(data)] = true
	}
	fmt.Println("old:", seen["old"], "new:", seen["new"], "empty:", seen[""])
	// Output: old: true new: true empty: true
}
