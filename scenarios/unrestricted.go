package scenarios

import (
	"maps"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// The family unrestricted/*: storms without a fault budget, with every class of fault, several damaged voters at once, and parts of a node
// that no storm within the budget damages. What comes of it is judged by the table of declared outcomes, see outcomes.go. The runs are
// small, since there have to be many.

const unrestrictedFamily = "unrestricted/"

func unrestrictedScenarios() []*scenario {
	return []*scenario{
		{name: "media/lost-write", doc: "drives that lose sectors", draw: drawMedium("lost-write")},
		{name: "media/misdirected-write", doc: "drives that put sectors elsewhere", draw: drawMedium("misdirected-write")},
		{name: "media/restore", doc: "disks that become old copies of themselves", draw: drawMedium("restore")},
		{name: "media/clone", doc: "nodes on copies of the disks of others", draw: drawMedium("clone")},
		{name: "media/read-only", doc: "disks that are remounted read-only", draw: drawMedium("read-only")},
		{name: unrestrictedFamily + "static", doc: "static voters under every fault without a budget: only declared outcomes", draw: drawUnrestricted(false)},
		{name: unrestrictedFamily + "dynamic", doc: "voters from a 0-0.checkpoint under every fault without a budget: only declared outcomes", draw: drawUnrestricted(true)},
		{name: unrestrictedFamily + "flips", doc: "bits of one kind of file flip, and nothing else: only declared outcomes", draw: drawDamage("flip")},
		{name: unrestrictedFamily + "lost", doc: "sectors of one kind of file are lost, and nothing else: only declared outcomes", draw: drawDamage("lost-write")},
		{name: unrestrictedFamily + "misdirected", doc: "sectors of one kind of file go astray, and nothing else: only declared outcomes",
			draw: drawDamage("misdirected-write")},
	}
}

var unrestrictedProfile = swarm.Profile{
	Name: "unrestricted", Doc: "every fault there is, for plans without a fault budget", StormUs: swarm.Range{150_000, 350_000}, Actions: swarm.Range{2, 8},
	Faults: swarm.Weights("kill:10 power:16 power-all:6 power-rack:3 crash-op:20 stop:2 pause:3 jump:2 cut-one:3 cut-out:5 isolate:6 clog:2 filter:2 throttle:3 " +
		"names:2 disk-slow:2 disk-stuck:2 disk-error:6 disk-full:3 read-only:4 flip:30 lost-write:16 misdirected-write:16 restore:8 clone:4 swap:4 wipe:8"),
	PresentPercent: 45,
	LatencyUs:      swarm.Range{100, 800}, JitterUs: swarm.Range{0, 800}, TailPercent: 10, ResetPpm: 1_000,
	SyncNs: swarm.Range{20_000, 600_000}, DiskErrorPpm: 200, TimeoutMs: swarm.Range{20, 45},
	Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 200, SpuriousPpm: 100}, PeriodUs: 6_000,
}

// drawDamage lets one class of damage strike one part of a node, again and again, and ends processes so that somebody reads it: what comes of
// each row of the table by itself.
func drawDamage(kind string) func(d dice, p *plan.Plan) {
	return func(d dice, p *plan.Plan) {
		controllers(p, 3, 0, int(d.roll("brokers", 2)))
		if d.chance("dynamic", 50) {
			p.Params["quorum"] = "dynamic"
		}
		d.identify(p)
		p.Unrestricted = true
		part := d.pick("part", damagedParts(kind)...)
		f := unrestrictedProfile
		f.Actions, f.DiskErrorPpm, f.ResetPpm = swarm.Range{0, 0}, 0, 0
		set := func(name string, values ...int64) { p.Params[name] = number(d.oneOf(name, values...)) }
		if slices.Contains([]string{".checkpoint", ".deleted", ".part"}, part) || part == ".log-header" && kind == "misdirected-write" {
			set("snapshot_max_bytes", 200, 600)
			set("retention_bytes", 1, 1_000)
			p.Params["clean_interval_ms"], p.Params["delete_delay_ms"] = "20", "60000"
		}
		set("segment_bytes", 300, 1_000)
		d.stormOf(p, &f)
		d.writes(p, &f)
		for i := range d.between("times", 1, 3) {
			d.damageOf(p, "damage-"+number(i), kind, part)
		}
	}
}

// damagedParts are the parts of a node that a class of damage strikes, by words of damageOf. A file is renamed to .deleted when its content was
// flushed long ago, so no write to one can be lost; what stays behind of a snapshot under its first name can.
func damagedParts(kind string) []string {
	last := ".deleted"
	if kind == "lost-write" {
		last = ".part"
	}
	return []string{".log", ".log-header", "quorum-state", ".checkpoint", "0-0.checkpoint", "meta.properties", "epoch-checkpoint", "partition.metadata", last}
}

// writtenAs is the end of the name that a file has while it is flushed: small files and snapshots are renamed after that.
func writtenAs(suffix string) string {
	switch suffix {
	case ".log", ".deleted":
		return suffix
	case ".checkpoint":
		return ".part"
	}
	return suffix + ".tmp"
}

// damageOf strikes a part of a host, and restarts the host a while later. What may cost a start and nothing else strikes all of them at once.
func (d dice) damageOf(p *plan.Plan, name, kind, part string) {
	hosts := []string{p.Hosts[d.roll(name+"/host", 3)].ID}
	if part == "partition.metadata" {
		hosts = hostIDs(p, kindController)
	}
	at := d.between(name+"/at", int64(p.StormUs)/5, int64(p.StormUs)*3/4)
	params := plan.Params{}
	switch part {
	case "0-0.checkpoint":
		params["suffix"] = d.pick(name+"/bootstrap", "bootstrap.checkpoint", "00000000000000000000-0000000000.checkpoint")
	case ".log-header":
		params["suffix"] = ".log"
	default:
		params["suffix"] = part
	}
	if kind == "flip" {
		params["bits"] = number(d.oneOf(name+"/bits", 1, 1, 3))
		params["cached"] = "yes"
		if part == ".log-header" {
			params["length"] = "16"
		}
	} else if params["sectors"] = "1"; kind == "misdirected-write" {
		params["onto"], params["suffix"] = params["suffix"], ".log" // a sector of the log lands there: that is what is flushed all the time
		if part == ".log-header" {
			params["suffix"] = ".part" // a batch that is whole, with an offset that does not belong
		}
	} else {
		at = d.lostWrite(p, name, part, hosts[0], params)
	}
	for _, host := range hosts {
		params := maps.Clone(params)
		params["host"] = host
		p.Actions = append(p.Actions, plan.Action{ID: name + "-" + kind + "-" + host, AtUs: plan.Int64(at), Kind: kind, Params: params})
	}
	p.Actions = append(p.Actions,
		plan.Action{ID: name + "-power", AtUs: plan.Int64(min(at+d.oneOf(name+"/later", 5_000, 40_000, 100_000), int64(p.StormUs)-1)), Kind: "power",
			Params: plan.Params{"hosts": strings.Join(hosts, ","), "down": micros(d.oneOf(name+"/down", 1_000, 20_000))}})
}

// lostWrite completes a lost write to a part of a host, and says when it begins. Small files and snapshots have another name while they are
// flushed. The format tool writes the checkpoints of a bootstrap, so it runs on that disk; a snapshot stays behind under its first name where
// the power goes between its fsync and that of the directory.
func (d dice) lostWrite(p *plan.Plan, name, part, host string, params plan.Params) (at int64) {
	at = d.oneOf(name+"/first", 0, 1) * d.roll(name+"/early", int64(p.StormUs)/2)
	switch part {
	case "0-0.checkpoint":
		params["suffix"] = "bootstrap.checkpoint.tmp"
		if p.Params["quorum"] == "dynamic" {
			params["suffix"] = "-0.checkpoint.part"
		}
		i := slices.IndexFunc(p.Hosts, func(h plan.Host) bool { return h.ID == host })
		p.Hosts[i].Params["format"], p.Hosts[i].StartUs = "full", max(p.Hosts[i].StartUs, 2_000)
		return 0
	case ".part":
		params["suffix"], params["sectors"] = ".part", "100"
		for i := range int64(4) {
			crash := name + "-crash-" + number(i)
			p.Actions = append(p.Actions, plan.Action{ID: crash, AtUs: plan.Int64(at + 1 + d.roll(crash, int64(p.StormUs)-at-1)), Kind: "crash-op",
				Params: plan.Params{"host": host, "n": number(1 + d.roll(crash+"/n", 12)), "how": "power", "down": "1ms"}})
		}
	default:
		params["suffix"] = writtenAs(params["suffix"])
	}
	return at
}

func drawUnrestricted(dynamic bool) func(d dice, p *plan.Plan) {
	return func(d dice, p *plan.Plan) {
		controllers(p, int(d.oneOf("voters", 1, 2, 3, 3, 3)), 0, int(d.roll("brokers", 2)))
		if dynamic {
			p.Params["quorum"] = "dynamic"
		}
		d.identify(p)
		d.inRacks(p, 2)
		p.Unrestricted = true
		set := func(name string, values ...int64) { p.Params[name] = number(d.oneOf(name, values...)) }
		set("snapshot_max_bytes", 200, 600, 20<<20)
		set("segment_bytes", 300, 1_000, 1<<30)
		d.stormOf(p, &unrestrictedProfile)
		if d.chance("lawless", 25) {
			d.lawless(p)
		} else if d.chance("keep", 30) {
			p.Disk.FailedSync = "keep"
		}
		d.writes(p, &unrestrictedProfile)
	}
}

// damagedFiles are the names that damage aims at, more often than their bytes are many.
var damagedFiles = []string{".log", ".log", ".log", "quorum-state", ".checkpoint", ".checkpoint", "meta.properties", "leader-epoch-checkpoint", "partition.metadata", ""}

// fillDamage completes the words of damage that only plans without a budget draw like that.
func fillDamage(d swarm.Dice, p *plan.Plan, a *plan.Action, name string) (known, ok bool) {
	host := p.Hosts[d.Roll(name+"/host", int64(len(p.Hosts)))].ID
	down := micros(d.OneOf(name+"/down", 1_000, 15_000, 60_000))
	switch a.Kind {
	case "flip":
		a.Params["host"], a.Params["suffix"] = host, d.Pick(name+"/suffix", damagedFiles...)
		a.Params["bits"] = number(d.OneOf(name+"/bits", 1, 1, 1, 3))
		if d.Chance(name+"/cached", 30) {
			a.Params["cached"] = "yes"
		}
		if a.Params["suffix"] == ".log" && d.Chance(name+"/header", 15) {
			a.Params["length"] = "16"
		}
	case "wipe":
		a.Params["host"], a.Params["down"] = host, down
		a.Params["path"] = d.Pick(name+"/path", "/", "/data/dir0/__cluster_metadata-0", "/data/dir0/__cluster_metadata-0")
	case "swap":
		a.Params["host"], a.Params["down"] = host, down
		a.Params["for"] = micros(d.OneOf(name+"/for", 20_000, 60_000))
		a.Params["with"] = p.Hosts[d.Roll(name+"/with", int64(len(p.Hosts)))].ID
		return true, a.Params["with"] != host
	default:
		return false, false
	}
	if a.Params["suffix"] == "" {
		delete(a.Params, "suffix")
	}
	return true, true
}
