package scenarios

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// eachKafka calls f for every scenario of the family and every number of voters that it has, with an engine to run it.
func eachKafka(f func(e *sim.Engine, s *kafkaScenario, voters int64)) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for _, have := range c.Scenarios {
		s, ok := have.(*kafkaScenario)
		if !ok {
			continue
		}
		for _, v := range append([]*kafkaScenario{s}, s.variants...) {
			for voters := v.voters[0]; voters > 0 && voters <= v.voters[1]; voters++ {
				f(e, v, voters)
			}
		}
	}
}

// kafkaSeeds is how many seeds of each scenario and number of voters TestKafkaScenarios runs.
var kafkaSeeds = flag.Int64("kafka.seeds", 4, "seeds of each of Kafka's scenarios and number of voters")

// TestKafkaScenarios plays each scenario with each number of voters, a few seeds with each number of observers: all phases end,
// and nothing breaks.
func TestKafkaScenarios(t *testing.T) {
	eachKafka(func(e *sim.Engine, s *kafkaScenario, voters int64) {
		t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(s.name+" as "+s.as, " as "), voters), func(t *testing.T) {
			for seed := range uint64(*kafkaSeeds) {
				observers := s.observers[0] + int64(seed)%(s.observers[1]-s.observers[0]+1)
				p := s.plan(seed, voters, observers)
				require.NoError(t, plan.Validate(p, Catalogue().Registry))
				r, err := e.Run(p, sim.Options{})
				require.NoError(t, err)
				require.Equal(t, plan.OK, r.Verdict.Outcome, "%s seed %d, %d voters, %d observers: %+v %v", s.name, seed, voters, observers, r.Verdict.Broken, r.Verdict.Waiting)
				require.Equal(t, int64(len(s.script)), r.Verdict.Stats["kafka-phases"])
				require.Positive(t, r.Verdict.Evaluated["kafka-watermark"])
			}
		})
	})
}

// TestPhasesLastAsLongAsThere: 500,000 events of Kafka's simulation, by hand: five nodes are 1,000 polls a second, J = 1 is 500 ticks, and
// leaders append 333 times, or 500 in the steady scenarios. The operator's machine of the dynamic scenarios polls nothing.
func TestPhasesLastAsLongAsThere(t *testing.T) {
	for name, perSecond := range map[string]int64{"kafka/s1": 1833, "kafka/s8": 2000, "kafka/d1": 1833} {
		s := Catalogue().Scenario(name).(*kafkaScenario)
		require.Equal(t, 500_000*1_000_000_000/perSecond, s.phaseBoundNs(5), name)
		p := s.plan(1, 5, 0)
		require.EqualValues(t, int64(len(s.script)+1)*(s.phaseBoundNs(5)/1000+1), p.StormUs, name)
	}
}
