package dump

import (
	"fmt"
	"strings"
)

// segmentBase returns the base offset in the name of a segment or of one of its indexes; -1 when the name has none.
func segmentBase(name string) int64 {
	text, _, _ := strings.Cut(name, ".")
	base, ok := digits(text)
	if !ok || len(text) != 20 {
		return -1
	}
	return base
}

// dumpSegment reports a segment of a log, and what recovery at start would do to it.
func dumpSegment(f *file) error {
	b := newBatches(f, true)
	base := segmentBase(f.name)
	if base < 0 && f.dir.partition && f.leftover == "" {
		f.damage(-1, "the name is not the base offset with 20 digits: Kafka refuses to start")
	}
	current := base >= 0 && f.leftover == ""
	if current && f.dir.nextBase >= 0 && f.dir.nextBase != base {
		f.warn(-1, "the segment begins at %d, the one before ends at %d", base, f.dir.nextBase)
	}
	if current && f.dir.nextBase < 0 && base > 0 && !f.dir.reaches(base) {
		f.damage(-1, "the log begins at %d and no snapshot reaches that far: Kafka refuses to start", base)
	}
	b.nextOffset = base
	if err := b.walk(); err != nil {
		return err
	}
	b.end()
	if current {
		f.dir.nextBase = b.nextOffset
		f.recovery(b.cutAt)
	}
	return nil
}

// reaches tells whether the log may begin at an offset: what lies below has to be in a snapshot (kraft-protocol 4.7). Other
// logs than that of metadata need none, and of a single file the neighbours are not known.
func (d *directory) reaches(offset int64) bool {
	if !d.partition || d.names == nil {
		return true
	}
	for name := range d.names {
		if at, _, ok := checkpointID(name); ok && at >= offset && strings.HasSuffix(name, ".checkpoint") {
			return true
		}
	}
	return false
}

// recovery notes what opening the directory would do.
func (f *file) recovery(cutAt int64) {
	switch r := f.dir.recovery; {
	case r != nil:
		r.DroppedSegments = append(r.DroppedSegments, f.shown)
	case cutAt >= 0:
		f.dir.recovery = &recoveryLine{Type: "recovery", File: f.shown, CutAt: cutAt, DroppedSegments: []string{}}
	}
}

// segmentPath is the path of the segment that an index belongs to.
func (f *file) segmentPath() (path string, ok bool) {
	base := segmentBase(f.name)
	name := fmt.Sprintf("%020d.log", base)
	if base < 0 || f.leftover != "" || f.dir.names != nil && !f.dir.names[name] {
		return "", false
	}
	return strings.TrimSuffix(f.path, f.name) + name, true
}
