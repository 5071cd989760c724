package scenarios

import "github.com/kraftsim/kraftsim/sim/plan"

// drawTiny is what `explore` is for: three voters and nobody else, constant latencies, a storm that is just long enough for two
// elections. Nothing goes wrong by itself; faults and order of events are the search's. The timers of the voters run out one after the
// other, so that order of time elects c1.
func drawTiny(d dice, p *plan.Plan) {
	controllers(p, 3, 0, 0)
	d.identify(p)
	p.StormUs = 400_000
	p.Network.LatencyUs = 300
	p.Disk.WriteNs, p.Disk.SyncNs, p.Disk.MetadataNs = 5_000, 50_000, 5_000
	set := func(name string, v int64) { p.Params[name] = number(v) }
	set("election_timeout_ms", 50)
	set("fetch_timeout_ms", 50)
	set("request_timeout_ms", 40)
	set("retry_backoff_ms", 5)
	set("election_backoff_max_ms", 50)
	set("append_linger_ms", 0)
	set("fetch_max_wait_ms", 25)
	set("max_idle_interval_ms", 150)
	rareSnapshots(p)
	for i := range p.Hosts {
		p.Hosts[i].StartUs = plan.Int64(5_000 * i)
	}
}
