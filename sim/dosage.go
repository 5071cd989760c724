package sim

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// Dosage is how often crashes struck each place of the program that changes a disk. A program names its places (Catalogue.Sites), and a
// checker of its own counts them in the verdict's statistics, under names that SiteStat makes; campaigns sum them up.

// SiteDoc is a place at which the program under test changes a disk.
type SiteDoc struct {
	Name string // by purpose, "segment fsync": letters, digits and . _ - / and spaces
	Doc  string
	// Parts: a crash during the operation may leave a part of it. All others are whole or not there, which is as before or as after them.
	Parts bool
}

// When a crash strikes, in relation to an operation.
const (
	SiteBefore = "before" // it was the next of its handler
	SiteDuring = "during" // it was in progress
	SiteAfter  = "after"  // it was the last that the host had done
)

// sitePrefix begins the names of these statistics.
const sitePrefix = "site "

// SiteStat is the name of the counter of crashes at a site.
func SiteStat(site, when string) string { return sitePrefix + site + " " + when }

// IsSiteStat reports whether a statistic is such a counter, which a reader of one run does not miss.
func IsSiteStat(name string) bool { return strings.HasPrefix(name, sitePrefix) }

// tellWhere tells the checkers at which operations a crash strikes.
func (w *World) tellWhere(h *Host) {
	for i := range h.lanes {
		l := &h.lanes[i]
		for k := l.next; k < len(l.journal); k++ {
			f := &l.journal[k]
			if f.kind != effectDisk {
				continue
			}
			op, begun := h.volume.Op(vdisk.OpID(f.num)), f.from <= w.now
			for _, c := range w.onCrash {
				if op != nil {
					c.OnCrashAt(h, op, begun)
				}
			}
			if !begun {
				break
			}
		}
	}
}
