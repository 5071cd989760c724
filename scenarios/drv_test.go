package scenarios

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/simtest"
)

func TestDrive(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	name := os.Getenv("DRV")
	if name == "" { t.Skip() }
	first, _ := strconv.ParseUint(os.Getenv("FIRST"), 10, 64)
	n, _ := strconv.ParseUint(os.Getenv("N"), 10, 64)
	for _, s := range c.Scenarios {
		if name != "all" && s.Name() != name { continue }
		start := time.Now()
		var events, bad, elections, crashes, inh int64
		seen := map[string]int{}
		for seed := first; seed < first+n; seed++ {
			p := s.Draw(seed)
			o := sim.Options{}
			if os.Getenv("TRACE") != "" {
				o.Trace = func(l sim.TraceLine) { fmt.Printf("%9d %6d %-4s.%d %-10s %-9s %s\n", l.AtUs, l.ID, l.Host, l.Boot, l.Lane, l.What, l.Text) }
			}
			r, err := e.Run(p, o)
			if err != nil { t.Fatal(err) }
			events += int64(r.Verdict.Events)
			elections += r.Verdict.Stats["elections"]; crashes += r.Verdict.Stats["crashes"]; inh += r.Verdict.Stats["crashes-in-handler"]
			if os.Getenv("V") != "" { fmt.Println(r.Verdict.Stats, r.Verdict.Sometimes, r.Verdict.Evaluated, r.Verdict.Refused) }
			if r.Verdict.Outcome.Finding() {
				bad++
				fp := r.Verdict.Fingerprint()
				if r.Verdict.Outcome == "stuck" && len(r.Verdict.Waiting) > 0 { fp += r.Verdict.Waiting[0] }
				seen[fp]++
				if seen[fp] <= 1 { fmt.Println(simtest.Explain(p, r.Verdict)) }
			}
		}
		d := time.Since(start)
		fmt.Printf("== %-22s runs %d bad %d events/run %d, %.0f ev/s, %.1f runs/s el %d cr %d in %d\n", s.Name(), n, bad, events/int64(n), float64(events)/d.Seconds(), float64(n)/d.Seconds(), elections, crashes, inh)
		for k, v := range seen { fmt.Println("     ", v, k) }
	}
}
