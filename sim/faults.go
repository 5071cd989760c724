package sim

import (
	"slices"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

func actionHash(id string) uint64 { return decide.HashString(id) }

// The ends of what actions may say: a day, and more bytes than any disk here has.
const (
	longestUs = 24 * 3600 * 1_000_000
	mostBytes = 1 << 50
	most      = 1_000_000
)

var (
	fieldHost = plan.Field{Name: "host", Type: plan.HostField, Required: true, Doc: "the host"}
	fieldFrom = plan.Field{Name: "from", Type: plan.HostsField, Required: true, Symbolic: true, Doc: "senders"}
	fieldTo   = plan.Field{Name: "to", Type: plan.HostsField, Required: true, Symbolic: true, Doc: "receivers"}
	fieldFor  = plan.Field{Name: "for", Type: plan.DurationField, Max: longestUs, Doc: "how long it lasts; absent: until the calm"}
	fieldDown = plan.Field{Name: "down", Type: plan.DurationField, Max: longestUs, Doc: "after how long the host starts again; absent: in the calm"}
	fieldPath = plan.Field{Name: "path", Type: plan.TextField, Doc: "only below this path"}

	fieldSuffix  = plan.Field{Name: "suffix", Type: plan.TextField, Doc: "only in files whose names end so"}
	fieldSectors = plan.Field{Name: "sectors", Type: plan.NumberField, Min: 1, Max: most, Doc: "how many, one with each fsync; absent: 1"}
)

// Faults lists the kinds of action that the core itself offers. Scenarios add their own to the registry.
func Faults() []plan.Kind { return append(plainKinds(), aimedKinds()...) }

// aimable are the kinds whose host may be a symbolic target. Damage is not among them: a plan has to tell whose disk it was.
var aimable = []string{"kill", "crash-op", "stop", "pause", "isolate", "disk-error", "disk-full", "disk-slow", "disk-stuck"}

func plainKinds() []plan.Kind {
	host := func(name, doc string, more ...plan.Field) plan.Kind {
		target := fieldHost
		target.Symbolic = slices.Contains(aimable, name)
		return plan.Kind{Name: name, Doc: doc, Fields: append([]plan.Field{target}, more...)}
	}
	percent := plan.Field{Name: "percent", Type: plan.NumberField, Max: most, Required: true, Doc: "cost in per cent of the usual"}
	return []plan.Kind{
		host("kill", "the process dies; the page cache survives", fieldDown),
		{Name: "power", Doc: "power loss of one or several hosts at once, or of a rack; unsynced data may go", Fields: []plan.Field{
			{Name: "hosts", Type: plan.HostsField, Symbolic: true, Doc: "the hosts"},
			{Name: "rack", Type: plan.WordField, Doc: "in place of hosts: all that stand in this rack"}, fieldDown}},
		host("crash-op", "the host dies inside the n-th disk operation to come; a host that is down, in its next boot",
			plan.Field{Name: "n", Type: plan.NumberField, Min: 1, Max: 1_000 * most, Required: true, Doc: "which operation from now on, from 1"},
			plan.Field{Name: "how", Type: plan.WordField, Words: []string{"kill", "power"}, Doc: "kill (default) or power"}, fieldDown,
			plan.Field{Name: "boot", Type: plan.NumberField, Min: 1, Max: most, Doc: "n counts from the beginning of this incarnation of the process; absent: from now"}),
		host("stop", "graceful stop; a process that takes longer than the grace is killed", fieldDown,
			plan.Field{Name: "grace", Type: plan.DurationField, Max: longestUs, Doc: "how long it may take; absent: 1s"}),
		host("wipe", "power loss, and everything below a directory is erased", fieldDown,
			plan.Field{Name: "path", Type: plan.TextField, Doc: "the directory; absent: the whole disk"}),
		host("flip", "bits of the durable bytes flip; latent until read", fieldPath,
			fieldSuffix,
			plan.Field{Name: "first", Type: plan.NumberField, Max: mostBytes, Doc: "from this byte of a file on; absent: 0"},
			plan.Field{Name: "length", Type: plan.NumberField, Min: 1, Max: mostBytes, Doc: "in so many bytes; absent: to the end of the file"},
			plan.Field{Name: "bits", Type: plan.NumberField, Min: 1, Max: maxFlips, Doc: "how many; absent: 1"},
			plan.Field{Name: "cached", Type: plan.WordField, Words: []string{"no", "yes"},
				Doc: "yes: pages in the cache hide it until a power loss; absent: no"}),
		host("swap", "power loss of two hosts, whose disks are exchanged while it lasts", fieldFor, fieldDown,
			plan.Field{Name: "with", Type: plan.HostField, Required: true, Doc: "the other host"}),
		host("start", "starts a host that is down"),
		host("pause", "all lanes stand still", plan.Field{Name: "for", Type: plan.DurationField, Max: longestUs, Required: true, Doc: "how long"}),
		host("jump", "the wall clock jumps", plan.Field{Name: "by", Type: plan.DurationField, Min: -longestUs, Max: longestUs, Required: true, Doc: "by how much, may be negative"}),
		{Name: "cut", Doc: "nothing passes from one set of hosts to another, in that direction", Fields: []plan.Field{fieldFrom, fieldTo, fieldFor}},
		host("isolate", "nothing passes between the host and all others, in both directions", fieldFor),
		{Name: "clog", Doc: "packets take longer in one direction", Fields: []plan.Field{fieldFrom, fieldTo, fieldFor,
			{Name: "add", Type: plan.DurationField, Max: longestUs, Required: true, Doc: "added latency"}}},
		{Name: "filter", Doc: "messages of one kind do not pass (stream: held back with all behind them; datagram: lost)",
			Fields: []plan.Field{fieldFrom, fieldTo, fieldFor,
				{Name: "kind", Type: plan.NumberField, Max: 1<<32 - 1, Required: true, Doc: "message kind"}}},
		host("disk-error", "disk operations fail", fieldPath, fieldFor,
			plan.Field{Name: "on", Type: plan.WordField, Required: true, Words: []string{"read", "write", "sync"}, Doc: "which operations"},
			plan.Field{Name: "ppm", Type: plan.NumberField, Max: most, Doc: "rate per million; absent: all"}),
		host("disk-full", "the disk has little room left", fieldFor,
			plan.Field{Name: "free", Type: plan.NumberField, Max: mostBytes, Required: true, Doc: "bytes left"}),
		host("disk-slow", "disk operations take longer", fieldFor, percent),
		host("disk-stuck", "disk operations that begin do not end before the fault does", fieldPath, fieldFor,
			plan.Field{Name: "on", Type: plan.WordField, Required: true, Words: []string{"read", "write", "sync", "names", "all"},
				Doc: "which operations"}),
		host("names", "the names of a host resolve never, to another host, or late, for connections that are opened", fieldFor,
			plan.Field{Name: "seen", Type: plan.HostsField, Doc: "only by these hosts; absent: by all"},
			plan.Field{Name: "how", Type: plan.WordField, Required: true, Words: []string{"never", "other", "late"}, Doc: "what the resolver does"},
			plan.Field{Name: "to", Type: plan.HostField, Doc: "other: the host that they lead to"},
			plan.Field{Name: "add", Type: plan.DurationField, Max: longestUs, Doc: "late: how long an answer takes; absent: 1s"}),
		host("lost-write", "sectors that an fsync vouches for are not on the platter; latent until read", fieldPath, fieldSuffix, fieldSectors, fieldFor),
		host("misdirected-write", "sectors that an fsync vouches for overwrite others in place of their own; latent until read",
			fieldPath, fieldSuffix, fieldSectors, fieldFor,
			plan.Field{Name: "onto", Type: plan.TextField, Doc: "how the names of the files end on which they land; absent: as suffix"}),
		host("read-only", "the disk is remounted read-only", fieldFor),
		host("restore", "power loss, and the disk is what a copy says that was taken of it earlier", fieldDown,
			plan.Field{Name: "copied", Type: plan.DurationField, Max: longestUs, Required: true, Doc: "when the copy was taken, from the start of the run"}),
		host("clone", "power loss, and a host runs on a copy of another's disk while it lasts", fieldFor, fieldDown,
			plan.Field{Name: "of", Type: plan.HostField, Required: true, Doc: "whose disk is copied"}),
		{Name: "throttle", Doc: "a link carries only so many bytes in a second; what finds its queue full is sent again later (datagram: lost)",
			Fields: []plan.Field{fieldFrom, fieldTo, fieldFor,
				{Name: "bytes_per_second", Type: plan.NumberField, Min: 100, Max: 1 << 40, Required: true, Doc: "the rate"},
				{Name: "queue", Type: plan.NumberField, Min: 1, Max: mostBytes, Doc: "bytes that may wait; absent: 256 KiB"}}},
	}
}

// installFaults registers what the core's kinds do in this run.
func (w *World) installFaults() {
	w.fault("kill", ActionHandler{Do: func(w *World, a *Act) string { return w.actCrash([]*Host{a.Host("host")}, a, false) }})
	w.fault("power", ActionHandler{Do: actPower})
	w.fault("crash-op", ActionHandler{Do: actCrashOp})
	w.installAimed()
	w.fault("stop", ActionHandler{Do: actStop})
	w.fault("wipe", ActionHandler{Do: actWipe})
	w.fault("flip", ActionHandler{Do: actFlip})
	w.handlers["swap"] = ActionHandler{Do: actSwap, Undo: undoSwap}
	w.handlers["names"] = ActionHandler{Do: actNames, Undo: undoNames}
	w.fault("start", ActionHandler{Do: actStart})
	w.fault("pause", ActionHandler{Do: actPause})
	w.fault("jump", ActionHandler{Do: actJump})
	w.fault("cut", ActionHandler{
		Do:   linkAction(func(w *World, a *Act, from, to *Host) { w.net.Cut(from.index, to.index) }),
		Undo: undoLink(func(w *World, a *Act, from, to *Host) { w.net.Mend(w.now, from.index, to.index) })})
	w.fault("isolate", ActionHandler{
		Do:   func(w *World, a *Act) string { return w.eachLink(a, w.net.Cut) },
		Undo: func(w *World, a *Act) { w.eachLink(a, func(from, to int32) { w.net.Mend(w.now, from, to) }) }})
	w.fault("clog", ActionHandler{
		Do:   linkAction(func(w *World, a *Act, from, to *Host) { w.net.Clog(from.index, to.index, a.DurationNs("add", 0)) }),
		Undo: undoLink(func(w *World, a *Act, from, to *Host) { w.net.Clog(from.index, to.index, -a.DurationNs("add", 0)) })})
	w.fault("filter", ActionHandler{
		Do: linkAction(func(w *World, a *Act, from, to *Host) {
			w.net.Filter(int64(a.Index), from.index, to.index, uint32(a.Number("kind", 0)))
		}),
		Undo: func(w *World, a *Act) { w.net.Unfilter(w.now, int64(a.Index)) }})
	w.fault("disk-error", ActionHandler{Rates: true, Do: diskAction(actDiskError), Undo: undoDisk(
		func(v *vdisk.Volume, a *Act) { v.SetErrors(a.Word("path", ""), vdisk.Errors{}) })})
	w.fault("disk-full", ActionHandler{Do: diskAction(actDiskFull), Undo: undoDisk(
		func(v *vdisk.Volume, _ *Act) { v.SetFull(-1) })})
	w.fault("disk-slow", ActionHandler{Do: diskAction(actDiskSlow), Undo: undoDisk(
		func(v *vdisk.Volume, _ *Act) { v.SetSlow(vdisk.Slow{}) })})
	w.installMedia()
	w.fault("throttle", ActionHandler{Do: actThrottle, Undo: func(w *World, a *Act) { w.net.Unthrottle(int64(a.Index)) }})
	w.fault("disk-stuck", ActionHandler{Do: diskAction(w.actDiskStuck), Undo: undoDisk(
		func(v *vdisk.Volume, a *Act) { v.SetStuck(a.Word("path", ""), 0, nil) })})
}

// fault registers a kind of the core's own: what it did is taken back by the calm itself.
func (w *World) fault(kind string, h ActionHandler) {
	h.healed = true
	w.handlers[kind] = h
}

func (w *World) actCrash(hosts []*Host, a *Act, power bool) string {
	if a.Error != nil {
		return ""
	}
	down, any := a.DurationNs("down", -1), false
	if a.Error != nil {
		return ""
	}
	for _, h := range hosts {
		if h.up || power && h.powered && h.boot > 0 {
			any = true
			w.crashHost(h, power, down)
		}
	}
	if !any {
		return "down already"
	}
	return ""
}

func actCrashOp(w *World, a *Act) string {
	h, n, boot := a.Host("host"), a.Number("n", 1), a.Number("boot", 0)
	switch {
	case h == nil || a.Error != nil:
		return ""
	case boot > 0:
		return w.arm(h, int32(boot), n, a.Word("how", "kill") == "power", a.DurationNs("down", -1))
	case h.armed:
		return "armed already"
	case n < 1 || !h.volume.ArmCrash(h.volume.OpsSinceBoot()+n):
		return "n=" + strconv.FormatInt(n, 10) + " names no operation to come"
	}
	h.armed, h.armedPower, h.armedDown = true, a.Word("how", "kill") == "power", a.DurationNs("down", -1)
	return ""
}

func actStop(w *World, a *Act) string {
	h := a.Host("host")
	if h == nil {
		return ""
	}
	if !h.up || h.Booting() || h.pausedUntil != 0 || h.leaving {
		return "not running"
	}
	grace, down := a.DurationNs("grace", stopGraceNs), a.DurationNs("down", -1)
	if a.Error == nil {
		w.stop(h, grace, down)
	}
	return ""
}

const stopGraceNs = 1_000_000_000

// actWipe asks the budget first: what was durable and acknowledged is gone.
func actWipe(w *World, a *Act) string {
	h, down := a.Host("host"), a.DurationNs("down", -1)
	if h == nil || a.Error != nil {
		return ""
	}
	key := w.ReplicaKey(h)
	if why := w.budget.Allow(key); why != "" {
		return why
	}
	w.Wipe(h, a.Word("path", "/"))
	w.budget.Damage(key)
	if down >= 0 {
		w.schedule(w.now+down, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 2)
	}
	return ""
}

func actStart(w *World, a *Act) string {
	h := a.Host("host")
	if h == nil {
		return ""
	}
	if h.up {
		return "up already"
	}
	w.bootHost(h, w.eventID)
	return ""
}

func actPause(w *World, a *Act) string {
	h := a.Host("host")
	if h == nil {
		return ""
	}
	if !h.up || h.pausedUntil != 0 {
		return "down or paused already"
	}
	if d := a.DurationNs("for", 0); a.Error == nil {
		w.pause(h, w.now+d)
	}
	return ""
}

func actJump(w *World, a *Act) string {
	if h := a.Host("host"); h != nil {
		h.clock.wallNs += a.DurationNs("by", 0)
	}
	return ""
}

func linkAction(do func(w *World, a *Act, from, to *Host)) func(w *World, a *Act) string {
	return func(w *World, a *Act) string {
		from, to := a.Hosts("from"), a.Hosts("to")
		if a.Error != nil {
			return ""
		}
		for _, f := range from {
			for _, t := range to {
				if f != t {
					do(w, a, f, t)
				}
			}
		}
		return ""
	}
}

func undoLink(do func(w *World, a *Act, from, to *Host)) func(w *World, a *Act) {
	f := linkAction(do)
	return func(w *World, a *Act) { f(w, a) }
}

// diskAction does something to the volume of an action's host. One fault of a kind and path is on at a time: the end of the
// first would end the second.
func diskAction(do func(v *vdisk.Volume, a *Act)) func(w *World, a *Act) string {
	return func(_ *World, a *Act) string {
		h := a.Host("host")
		if h == nil {
			return ""
		}
		if h.swapped {
			return "its disk is in another host"
		}
		if h.own != nil {
			return "its disk is a clone"
		}
		key := a.diskKey()
		if slices.Contains(h.diskFaults, key) {
			return "such a fault is on already"
		}
		if do(h.volume, a); a.Error == nil {
			h.diskFaults = append(h.diskFaults, key)
		}
		return ""
	}
}

func undoDisk(undo func(v *vdisk.Volume, a *Act)) func(w *World, a *Act) {
	return func(_ *World, a *Act) {
		h := a.Host("host")
		undo(h.volume, a)
		if i := slices.Index(h.diskFaults, a.diskKey()); i >= 0 {
			h.diskFaults = slices.Delete(h.diskFaults, i, i+1)
		}
	}
}

func (a *Act) diskKey() string { return a.Kind + " " + a.Word("path", "") }

func actDiskError(v *vdisk.Volume, a *Act) {
	ppm := a.Number("ppm", million)
	var e vdisk.Errors
	switch a.Word("on", "") {
	case "read":
		e.ReadPpm, e.Read = ppm, ppm >= million
	case "write":
		e.WritePpm, e.Write = ppm, ppm >= million
	case "sync":
		e.SyncPpm, e.Sync = ppm, ppm >= million
	default:
		a.fail("on", "not one of read, write, sync")
	}
	if a.Error == nil {
		v.SetErrors(a.Word("path", ""), e)
	}
}

func actDiskFull(v *vdisk.Volume, a *Act) {
	if free := a.Number("free", 0); a.Error == nil {
		v.SetFull(free)
	}
}

func actDiskSlow(v *vdisk.Volume, a *Act) {
	if p := a.Number("percent", 100); a.Error == nil {
		v.SetSlow(vdisk.Slow{WritePercent: p, SyncPercent: p, NamesPercent: p})
	}
}

// NewRegistry returns a registry that holds the core's faults; scenarios add kinds of their own.
func NewRegistry() *plan.Registry {
	r := &plan.Registry{}
	for _, k := range Faults() {
		r.AddAction(k)
	}
	return r
}

// eachLink does something to every link from and to the host of an action.
func (w *World) eachLink(a *Act, do func(from, to int32)) string {
	h := a.Host("host")
	if h == nil {
		return ""
	}
	for _, o := range w.hosts {
		if o != h {
			do(h.index, o.index)
			do(o.index, h.index)
		}
	}
	return ""
}
