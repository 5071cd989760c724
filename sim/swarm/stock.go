package swarm

import "github.com/kraftsim/kraftsim/sim/plan"

// stock are the profiles that suit any program of several hosts on streams. They are data: nobody changes them.
var stock = []*Profile{
	{
		Name: "storm", Doc: "every fault of processes, network and disks", StormUs: Range{700_000, 1_600_000}, Actions: Range{4, 14},
		Faults: Weights("kill:20 power:16 power-all:3 crash-op:34 pause:8 cut-one:12 cut-out:16 isolate:14 clog:6 filter:5 " +
			"jump:5 disk-slow:6 disk-error:3 disk-full:2 stop:4 read-only:2 throttle:4"),
		LatencyUs: Range{100, 1_500}, JitterUs: Range{0, 3_000}, TailPercent: 30, ResetPpm: 2_000,
		SyncNs: Range{20_000, 1_500_000}, TimeoutMs: Range{30, 90},
		Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 9_000,
	},
	{
		Name: "light", Doc: "a few crashes and partitions, for scenarios that are about something else", StormUs: Range{400_000, 900_000}, Actions: Range{1, 5},
		Faults:    Weights("kill:20 power:20 crash-op:40 cut-out:10 isolate:10 pause:5"),
		LatencyUs: Range{100, 800}, JitterUs: Range{0, 1_000}, TailPercent: 10, ResetPpm: 500,
		SyncNs: Range{20_000, 800_000}, TimeoutMs: Range{30, 80},
		Lanes: plan.Lanes{PostJitterUs: 50, WakeJitterUs: 100}, PeriodUs: 15_000,
	},
	{
		Name: "lockstep", Doc: "nearly constant latencies: timers and elections that may collide", StormUs: Range{500_000, 1_000_000}, Actions: Range{2, 8},
		Faults:    Weights("kill:30 power:20 crash-op:20 isolate:20 cut-out:10"),
		LatencyUs: Range{300, 600}, JitterUs: Range{0, 2}, SyncNs: Range{20_000, 60_000}, TimeoutMs: Range{30, 60},
		PeriodUs: 20_000,
	},
	{
		Name: "disk", Doc: "crashes inside disk operations, on failing, full and slow disks", StormUs: Range{700_000, 1_400_000}, Actions: Range{5, 14},
		Faults:    Weights("crash-op:60 power:25 power-all:8 disk-error:8 disk-full:6 disk-slow:12 isolate:6 read-only:6"),
		LatencyUs: Range{100, 800}, JitterUs: Range{0, 1_000}, ResetPpm: 500,
		SyncNs: Range{100_000, 6_000_000}, DiskErrorPpm: 60, TimeoutMs: Range{40, 100},
		Lanes: plan.Lanes{PostJitterUs: 200, WakeJitterUs: 300}, PeriodUs: 8_000,
	},
	{
		Name: "network", Doc: "partitions, slow links and resets; processes and disks stay well", StormUs: Range{700_000, 1_500_000}, Actions: Range{4, 14},
		Faults:    Weights("cut-one:20 cut-out:25 isolate:25 clog:15 filter:15 names:5 throttle:12"),
		LatencyUs: Range{100, 2_500}, JitterUs: Range{0, 5_000}, TailPercent: 50, ResetPpm: 20_000,
		SyncNs: Range{20_000, 400_000}, TimeoutMs: Range{30, 90},
		Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 9_000,
	},
	{
		Name: "blackout", Doc: "power losses of several hosts at once", StormUs: Range{800_000, 1_600_000}, Actions: Range{3, 9},
		Faults:    Weights("power:40 power-all:30 crash-op:20 isolate:5 power-rack:10"),
		LatencyUs: Range{100, 1_000}, JitterUs: Range{0, 1_000}, TailPercent: 10, ResetPpm: 500,
		SyncNs: Range{200_000, 4_000_000}, TimeoutMs: Range{30, 90},
		Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 200}, PeriodUs: 8_000,
	},
	{
		Name: "stuck", Doc: "slow and stuck disks", StormUs: Range{800_000, 1_600_000}, Actions: Range{4, 10},
		Faults:    Weights("disk-slow:40 disk-stuck:25 crash-op:15 kill:8 power:8 isolate:8"),
		LatencyUs: Range{100, 800}, JitterUs: Range{0, 1_000}, TailPercent: 10,
		SyncNs: Range{200_000, 5_000_000}, TimeoutMs: Range{40, 100},
		Lanes: plan.Lanes{PostJitterUs: 200, WakeJitterUs: 300}, PeriodUs: 9_000,
	},
}

// StockProfiles returns the profiles that suit any program. Each call makes copies, so that a caller may change what it got.
func StockProfiles() []*Profile {
	list := make([]*Profile, len(stock))
	for i, f := range stock {
		list[i] = f.copy()
	}
	return list
}

// Stock returns a copy of a stock profile. It panics for a name that is none: names of stock profiles stand in programs.
func Stock(name string) *Profile {
	f := Find(stock, name)
	if f == nil {
		panic("swarm: no stock profile is called " + name)
	}
	return f.copy()
}

func (f *Profile) copy() *Profile {
	c := *f
	c.Faults = append([]Fault(nil), f.Faults...)
	return &c
}
