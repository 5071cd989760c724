package scenarios

import "github.com/kraftsim/kraftsim/sim/plan"

// fromScenario runs the plans of `run --from`.
const fromScenario = "from/tree"

// calmBootstrap is a run without faults on Kafka's default timers: a leader, a stable bootstrap, and nothing that an operator
// did not ask for in the log.
func (d dice) calmBootstrap(p *plan.Plan) {
	p.StormUs = 8_000_000
	p.Network.LatencyUs, p.Network.JitterUs = 300, 400
	p.Disk.WriteNs, p.Disk.SyncNs, p.Disk.MetadataNs, p.Disk.JitterPercent = 10_000, 500_000, 20_000, 50
}

// drawFrom boots a directory of Kafka's without faults.
func drawFrom(d dice, p *plan.Plan) {
	names := goldenNames()
	if err := d.fillGolden(p, names[d.roll("case", int64(len(names)))]); err != nil {
		panic("scenarios: a golden case in the binary can't be read: " + err.Error())
	}
	d.calmBootstrap(p)
}
