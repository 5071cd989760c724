package swarm

import (
	"fmt"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Fill completes an action whose kind is a word of the program's own: a.Kind is the word, and may be changed to the kind that it stands
// for; name is the prefix of the draws. It reports false when nothing comes of it, and true with ok false when it does not know
// the word.
type Fill func(d Dice, p *plan.Plan, a *plan.Action, name string) (known, ok bool)

// Storm draws the storm of a plan whose hosts are there: its length, network, disks, lanes, clocks, starts and faults. What the
// plan has of these is replaced, except that actions are added. more completes words that Fill does not know; nil for none.
func Storm(d Dice, p *plan.Plan, f *Profile, more Fill) {
	p.Profile = f.Name
	p.StormUs = plan.Int64(d.Within("storm-us", f.StormUs))
	Models(d, p, f)
	Clocks(d, p)
	Schedule(d, p, f)
	Actions(d, p, f, more)
}

// Models draws network, disk and lanes.
func Models(d Dice, p *plan.Plan, f *Profile) {
	n, k := &p.Network, &p.Disk
	n.LatencyUs = d.Within("latency", f.LatencyUs)
	n.JitterUs = d.Within("jitter", f.JitterUs)
	if d.Chance("tail", f.TailPercent) {
		n.TailPpm, n.TailUs = d.OneOf("tail-ppm", 2_000, 10_000, 40_000), d.OneOf("tail-us", 5_000, 30_000, 150_000)
	}
	if f.ResetPpm > 0 && n.Transport != "datagram" && d.Chance("reset", 40) {
		n.ResetPpm = d.Between("reset-ppm", 1, f.ResetPpm)
	}
	if f.LossPpm > 0 && n.Transport == "datagram" {
		datagrams(d, n, f.LossPpm)
	}
	k.WriteNs = d.OneOf("write-ns", 1_000, 10_000, 50_000)
	k.MetadataNs = d.OneOf("metadata-ns", 2_000, 20_000, 100_000)
	k.SyncNs = d.Within("sync-ns", f.SyncNs)
	k.JitterPercent = d.OneOf("disk-jitter", 0, 30, 100)
	if d.Chance("slow-sync", 30) {
		k.SlowSyncPpm, k.SlowSyncNs = d.OneOf("slow-ppm", 5_000, 30_000), d.OneOf("slow-ns", 5_000_000, 40_000_000)
	}
	if f.DiskErrorPpm > 0 && d.Chance("disk-errors", 30) {
		k.WriteErrorPpm, k.SyncErrorPpm, k.ReadErrorPpm = f.DiskErrorPpm, f.DiskErrorPpm, f.DiskErrorPpm
	}
	p.Lanes = f.Lanes
	if p.Lanes.SpuriousPpm > 0 && d.Chance("no-spurious", 30) {
		p.Lanes.SpuriousPpm = 0
	}
	if d.Chance("calm-lanes", 20) {
		p.Lanes.PostJitterUs, p.Lanes.WakeJitterUs = 0, p.Lanes.WakeJitterUs/10
	}
}

func datagrams(d Dice, n *plan.Network, most int64) {
	if d.Chance("loss", 60) {
		n.LossPpm = d.Between("loss-ppm", 1, most)
	}
	if d.Chance("duplicate", 40) {
		n.DuplicatePpm = d.Between("duplicate-ppm", 1, most)
	}
	if d.Chance("reorder", 40) {
		n.ReorderPpm, n.ReorderUs = d.Between("reorder-ppm", 1, most), d.OneOf("reorder-us", 500, 5_000, 50_000)
	}
}

// Clocks draws when hosts start and how wrong their clocks are: imperfect by default.
func Clocks(d Dice, p *plan.Plan) {
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.DriftPpm = int32(d.Between(h.ID+"/drift", -300, 300))
		h.OffsetMs = plan.Int64(d.Between(h.ID+"/offset", -40, 40))
		h.StartUs = plan.Int64(d.Between(h.ID+"/start", 0, 30_000))
	}
}

// Schedule draws the scheduler: pct in some plans, order of time in the others.
func Schedule(d Dice, p *plan.Plan, f *Profile) {
	if !d.Chance("pct", f.PCTPercent) {
		return
	}
	p.Scheduler = plan.Scheduler{Policy: "pct", Depth: d.OneOf("pct-depth", 1, 2, 3, 3, 5), Steps: d.OneOf("pct-steps", 200, 1_000, 5_000),
		WindowUs: d.OneOf("pct-window", 500, 2_000, 8_000)}
}

// Actions adds the faults that a seed draws from a profile.
func Actions(d Dice, p *plan.Plan, f *Profile, more Fill) {
	present := f.Present(d)
	if len(present) == 0 || len(p.Hosts) == 0 {
		return
	}
	for i := range d.Within("actions", f.Actions) {
		if a, ok := one(d, p, present, i, more); ok {
			p.Actions = append(p.Actions, a)
		}
	}
}

// one draws one fault.
func one(d Dice, p *plan.Plan, present []Fault, i int64, more Fill) (plan.Action, bool) {
	var total int64
	for _, x := range present {
		total += x.Weight
	}
	name := "action-" + strconv.FormatInt(i, 10)
	at, kind := d.Roll(name, total), ""
	for _, x := range present {
		if at < x.Weight {
			kind = x.Kind
			break
		}
		at -= x.Weight
	}
	a := plan.Action{ID: fmt.Sprintf("%02d-%s", i+1, kind), Kind: kind, AtUs: plan.Int64(When(d, p, name)), Params: plan.Params{}}
	if more != nil {
		if known, ok := more(d, p, &a, name); known {
			return a, ok
		}
	}
	return a, Complete(d, p, &a, name)
}

// earlyUs is how long the beginning of a storm is, in which programs find each other.
const earlyUs = 350_000

// When draws the time of a fault. Half of them come early in the storm: what happens then is what much of a program is about.
func When(d Dice, p *plan.Plan, name string) int64 {
	if d.Chance(name+"/early", 50) {
		return d.Roll(name+"/early-at", max(1, min(int64(p.StormUs), earlyUs)))
	}
	return d.Roll(name+"/at", max(1, int64(p.StormUs)*9/10))
}
