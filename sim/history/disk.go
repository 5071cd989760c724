package history

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// disk is what a recorder knows of the files of a host, so that it can say what a write holds and what a crash took.
type disk struct {
	files map[string]*file
	names []name        // changes of names that are not durable, in their order
	lost  bool          // a power loss is being told: what is pending after it is nothing
	log   []sim.Decoded // records of all segments, ascending, as told in log edits
	start int64         // of the log, as told
}

// file is the content of one file and what is in it.
type file struct {
	data  []byte
	units []sim.Decoded // End is a position in the file
	// synced is how many bytes an fsync made durable, as far as they were not changed since; told, how many of those were told so. The
	// difference waits for an fsync of the directory that the file's name is in.
	synced, told int64
	wrote        int // event that changed the content or gave the file its name
}

// look reads the files of a host that was not seen before, or on whose disk something happened that no operation tells of.
func (r *recorder) look(e *Event, h *sim.Host) {
	if h == nil {
		return
	}
	d := r.files[e.Host]
	if d != nil && e.Kind == Boot {
		return
	}
	if d == nil {
		d = &disk{}
		r.files[e.Host] = d
	}
	d.files, d.names = map[string]*file{}, nil
	h.Volume().Walk(func(path string, data []byte) {
		f := &file{data: bytes.Clone(data)}
		d.files[path] = f
		if durable, ok := h.Volume().DurableFile(path); ok && bytes.Equal(durable, data) {
			f.synced, f.told = int64(len(data)), int64(len(data))
		}
		r.read(path, f, 0)
	})
	d.edit(e)
}

// disk applies a committed operation, and says what it means.
func (r *recorder) disk(e *Event, t *sim.TraceLine) {
	d, op := r.files[e.Host], t.Disk
	if d == nil {
		r.look(e, t.Of)
		d = r.files[e.Host]
	}
	f := d.files[op.Path]
	if f == nil {
		f = &file{}
	}
	if telling := op.Kind == vdisk.OpReset || op.Kind == vdisk.OpVanish; d.lost && !telling {
		d.names, d.lost = nil, false
	} else {
		d.lost = telling
	}
	switch op.Kind {
	case vdisk.OpMkdir, vdisk.OpCreate, vdisk.OpRename, vdisk.OpRemove:
		d.changeName(op)
	}
	switch op.Kind {
	case vdisk.OpCreate, vdisk.OpWrite, vdisk.OpTruncate:
		d.files[op.Path] = f
		r.write(e, f, op)
	case vdisk.OpReset:
		d.files[op.Path] = f
		r.reset(e, f, op, d.nameless(op.Path))
	case vdisk.OpRename:
		delete(d.files, op.Path)
		d.files[op.To] = f
		r.read(op.To, f, 0)
		e.say(f)
	case vdisk.OpSync:
		f.synced = min(op.Size, int64(len(f.data)))
		e.flushed(f, d.nameless(op.Path), op.Path)
	case vdisk.OpSyncDir:
		for _, path := range d.syncNames(op.Path, r.posix) {
			e.flushed(d.files[path], nil, path)
		}
	case vdisk.OpRemove:
		delete(d.files, op.Path)
	case vdisk.OpVanish:
		e.Kind, e.Weight, e.Text = Lost, Turning, "the name "+op.Path+" is lost"
		e.Claim = &sim.Claim{Topic: sim.TopicLost, Clause: "loses the file " + short(op.Path)}
		if n := len(f.units); n > 0 && f.units[0].Offset >= 0 {
			e.Claim.From, e.Claim.To = f.units[0].Offset, f.units[n-1].Offset+1
			e.Claim.Clause += " with " + span(e.Claim.From, e.Claim.To-1)
		} else if n > 0 {
			e.Claim.Clause += " (" + f.units[0].Text + ")"
		}
		if n := d.nameless(op.Path); n != nil {
			e.Claim.Clause += ", " + n.why(op.Path)
		}
		delete(d.files, op.Path)
	}
	if f := d.files[op.Path]; f != nil && op.Kind != vdisk.OpSync {
		f.wrote = len(r.history.Events)
	}
	if f := d.files[op.To]; f != nil && op.Kind == vdisk.OpRename {
		f.wrote = len(r.history.Events)
	}
	d.edit(e)
}

// unflushed lists the small files whose newest content is not durable, by host and path.
func (r *recorder) unflushed() (list []Unflushed) {
	for host, d := range r.files {
		if d == nil {
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(d.files)) {
			f := d.files[path]
			if len(f.units) != 1 || f.units[0].Offset >= 0 {
				continue
			}
			u := Unflushed{Host: int32(host), Seq: int32(f.wrote), Path: short(path), Text: f.units[0].Text,
				Named: d.nameless(path) == nil, Whole: f.synced == int64(len(f.data))}
			if !u.Named || !u.Whole {
				list = append(list, u)
			}
		}
	}
	return list
}

func (r *recorder) write(e *Event, f *file, op *vdisk.Op) {
	from := min(op.Offset, int64(len(f.data)))
	switch op.Kind {
	case vdisk.OpCreate:
		return
	case vdisk.OpTruncate:
		from = min(op.Size, int64(len(f.data)))
		f.data = append(f.data[:from], make([]byte, op.Size-from)...)
	default:
		if end := op.Offset + int64(len(op.Data)); end > int64(len(f.data)) {
			f.data = append(f.data, make([]byte, end-int64(len(f.data)))...)
		}
		copy(f.data[op.Offset:], op.Data)
	}
	before := len(f.units)
	f.synced, f.told = min(f.synced, from), min(f.told, from)
	r.read(op.Path, f, from)
	if len(f.units) > 0 {
		e.Weight = Detail
		e.say(f)
		if n := len(f.units) - before; n > 0 && f.units[before].Offset >= 0 {
			e.Text += fmt.Sprintf(": records %d to %d", f.units[before].Offset, f.units[len(f.units)-1].Offset)
		}
	}
}

// reset is what a power loss left of a file; pending is how the file got its name, nil when that was durable.
func (r *recorder) reset(e *Event, f *file, op *vdisk.Op, pending *name) {
	if bytes.Equal(f.data, op.Data) {
		e.Text = op.Path + " lost nothing"
		return
	}
	before := slices.Clone(f.units)
	kept := common(f.data, op.Data)
	f.data = append(f.data[:kept], op.Data[kept:]...)
	r.read(op.Path, f, kept)
	synced := f.synced
	f.synced, f.told = int64(len(f.data)), int64(len(f.data))
	e.Kind, e.Weight = Lost, Turning
	same := 0
	for same < min(len(before), len(f.units)) && before[same] == f.units[same] {
		same++
	}
	gone := before[same:]
	why := ""
	if len(gone) > 0 {
		why = lostBecause(op.Path, gone, synced, pending)
	}
	switch {
	case len(gone) > 0 && gone[0].Offset >= 0:
		e.Text = span(gone[0].Offset, gone[len(gone)-1].Offset) + " lost from " + short(op.Path)
		e.Claim = &sim.Claim{Topic: sim.TopicLost, From: gone[0].Offset, To: gone[len(gone)-1].Offset + 1, Epoch: gone[0].Epoch,
			Clause: "loses " + span(gone[0].Offset, gone[len(gone)-1].Offset) + ", " + why}
	case len(gone) > 0 && len(f.units) > same:
		e.Text = fmt.Sprintf("%s is back at: %s; lost: %s", short(op.Path), f.units[same].Text, gone[0].Text)
		e.Claim = &sim.Claim{Topic: sim.TopicLost, Epoch: gone[0].Epoch,
			Clause: fmt.Sprintf("loses what it had written to %s (%s), %s", short(op.Path), gone[0].Text, why)}
	case len(gone) > 0:
		e.Text = fmt.Sprintf("%s is lost: %s", short(op.Path), gone[0].Text)
		e.Claim = &sim.Claim{Topic: sim.TopicLost, Epoch: gone[0].Epoch,
			Clause: fmt.Sprintf("loses the content of %s (%s), %s", short(op.Path), gone[0].Text, why)}
	default:
		e.Text = fmt.Sprintf("%s lost its last %d bytes of %d", short(op.Path), int64(len(f.data))-kept, len(f.data))
		e.Weight = Detail
	}
}

// read decodes a file from the first unit that a change at a position may have touched.
func (r *recorder) read(path string, f *file, from int64) {
	if r.catalogue.Decode == nil {
		return
	}
	keep := len(f.units)
	for keep > 0 && (f.units[keep-1].End > from || f.units[keep-1].Offset < 0) {
		keep--
	}
	f.units = f.units[:keep]
	at := int64(0)
	if keep > 0 {
		at = f.units[keep-1].End
	}
	for _, u := range r.catalogue.Decode(path, f.data[at:]) {
		u.End += at
		f.units = append(f.units, u)
	}
}

// edit tells how the log of the host differs from what was told.
func (d *disk) edit(e *Event) {
	var paths []string
	for path, f := range d.files {
		if len(f.units) > 0 && f.units[0].Offset >= 0 {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var now []sim.Decoded
	for _, path := range paths {
		now = append(now, d.files[path].units...)
	}
	if len(now) > 0 && now[0].Offset > d.start && len(d.log) > 0 && now[0].Offset > d.log[0].Offset {
		d.start = now[0].Offset
		e.Log = append(e.Log, LogEdit{Do: "start", Offset: d.start})
		for len(d.log) > 0 && d.log[0].Offset < d.start {
			d.log = d.log[1:]
		}
	}
	same := 0
	for same < min(len(now), len(d.log)) && alike(&now[same], &d.log[same]) {
		same++
	}
	if same < len(d.log) {
		e.Log = append(e.Log, LogEdit{Do: "truncate", Offset: d.log[same].Offset})
	}
	for i := same; i < len(now); i++ {
		u := &now[i]
		e.Log = append(e.Log, LogEdit{Do: "append", Offset: u.Offset, Epoch: u.Epoch, Text: u.Text})
	}
	d.log = now
}

func alike(a, b *sim.Decoded) bool {
	return a.Offset == b.Offset && a.Epoch == b.Epoch && a.Text == b.Text
}

// say adds what a small file says.
func (e *Event) say(f *file) {
	if len(f.units) == 1 && f.units[0].Offset < 0 {
		e.Text += ": " + f.units[0].Text
		e.Weight = Detail
	}
}

func common(a, b []byte) int64 {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return int64(n)
}

func short(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// flushed says which records of a log an fsync made durable. pending is how the file got its name, nil when that is durable: of a log whose
// name is not, a power loss takes the records, flushed or not.
func (e *Event) flushed(f *file, pending *name, path string) {
	var fresh []sim.Decoded
	for _, u := range f.units {
		if u.Offset >= 0 && u.End > f.told && u.End <= f.synced {
			fresh = append(fresh, u)
		}
	}
	if pending == nil {
		f.told = f.synced
	}
	if len(fresh) == 0 {
		return
	}
	first, last := fresh[0].Offset, fresh[len(fresh)-1].Offset
	e.Weight = Detail
	e.Claim = &sim.Claim{Topic: sim.TopicFlush, From: first, To: last + 1, Epoch: fresh[0].Epoch,
		Clause: fmt.Sprintf("flushes its log up to offset %d", last)}
	if pending != nil {
		e.Text += fmt.Sprintf(": records %d to %d are flushed, in a file whose name is not", first, last)
		e.Claim.Topic = sim.TopicNameless
		e.Claim.Clause += " in " + short(path) + ", and not the directory that names it"
		return
	}
	e.Text += fmt.Sprintf(": records %d to %d are durable", first, last)
}

// lostBecause says why a power loss took what was in a file: which flush was missing, or that none was.
func lostBecause(path string, gone []sim.Decoded, synced int64, pending *name) string {
	switch {
	case pending != nil && (pending.kind == vdisk.OpRename || gone[0].End <= synced):
		return pending.why(path)
	case gone[len(gone)-1].End <= synced:
		return "although it was flushed"
	}
	return "not flushed"
}

// span is a range of offsets in words.
func span(first, last int64) string {
	if first == last {
		return fmt.Sprintf("offset %d", first)
	}
	return fmt.Sprintf("offsets %d to %d", first, last)
}
