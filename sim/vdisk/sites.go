package vdisk

import "github.com/kraftsim/kraftsim/sim/decide"

// Every site counts what is lost or goes wrong, so that 0 is benign everywhere: no error, base cost, nothing lost.
var (
	siteReadError  = decide.NewSite("disk/read-error", "a read returns EIO", 0)
	siteWriteError = decide.NewSite("disk/write-error", "a write, truncation or change of names returns EIO", 0)
	siteSyncError  = decide.NewSite("disk/sync-error", "an fsync returns EIO and its data stay volatile for ever", 0)
	siteSlowSync   = decide.NewSite("disk/slow-sync", "an fsync takes the slow time", 0)
	siteJitter     = decide.NewSpread("disk/jitter", "nanoseconds on top of the base cost of an operation")
	siteCutOp      = decide.NewSite("disk/cut-op", "the operation at the cut had no effect", 0)
	siteCutWrite   = decide.NewSite("disk/cut-write", "sectors missing at the end of the write at the cut", 0)
	siteLostNames  = decide.NewSite("disk/lost-names", "name changes lost at the end of the metadata journal", 0)
	siteLostSize   = decide.NewSite("disk/lost-size", "size steps of a file lost at the end", 0)
	siteLostName   = decide.NewSite("disk/lost-name", "a change of names is lost, whatever comes before and behind it (posix)", 0)
	siteLostSector = decide.NewSite("disk/lost-sector", "overwrites of a sector lost at the end", 0)
)

// Sites returns the decisions that this package draws, for reference pages and plan validation.
func Sites() []*decide.Site {
	return []*decide.Site{siteReadError, siteWriteError, siteSyncError, siteSlowSync, siteJitter, siteCutOp, siteCutWrite,
		siteLostNames, siteLostName, siteLostSize, siteLostSector, siteFlip, siteStray, siteStrayTo}
}

// Chooser draws decisions. The entity of their names is the volume, and the implementor supplies it: decide.HashString of
// Volume.ID.
type Chooser interface {
	Choose(site *decide.Site, kind, key uint64, n int64) int64
	Chance(site *decide.Site, kind, key uint64, ppm int64) bool
}

// Host is what a handle needs from whoever runs the lane: decisions, and someone to take note of operations.
type Host interface {
	Chooser
	// Issue records an operation that was just executed, and what it costs in nanoseconds of virtual time. Later the
	// host calls Commit for it, or Crash; for NoOp neither. It may call Commit before it returns.
	Issue(v *Volume, op OpID, costNs int64)
}
