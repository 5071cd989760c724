package shrink

import (
	"maps"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// grains are the steps of times that people like, in microseconds, the coarsest first.
var grains = [...]int64{1_000_000, 100_000, 10_000, 1_000, 100}

// shortestGapUs is the gap between two actions below which there is nothing to gain for a reader.
const shortestGapUs = 20_000

// time makes times short and round: the end of the storm, the gaps between actions, the parameters that are durations.
func (s *search) time() {
	s.stormEnd()
	s.gaps()
	s.roundAll()
	for i := range s.best.Actions {
		s.roundAction(i)
	}
	for i := range s.best.Actions {
		s.parameters(i)
	}
	s.stormEnd()
}

// stormEnd ends the storm soon after the evidence, or after the last action where the evidence is a calm that did not bring what it must.
func (s *search) stormEnd() {
	last := int64(0)
	for i := range s.best.Actions {
		last = max(last, int64(s.best.Actions[i].AtUs))
	}
	end, known := s.evidenceAt()
	if known && end < s.best.StormUs {
		for _, g := range grains[1:4] {
			storm := up(max(int64(end), last)+1, g)
			if storm == int64(s.best.StormUs) || s.try(s.withStorm(storm)) {
				return
			}
		}
		return
	}
	for _, g := range grains[:3] {
		storm := up(last+1, g)
		if storm == int64(s.best.StormUs) {
			return
		}
		if storm < int64(s.best.StormUs) && s.try(s.withStorm(storm)) {
			return
		}
	}
	for range maxHalvings {
		if half := up(int64(s.best.StormUs)/2, 100_000); half <= last || half >= int64(s.best.StormUs) || !s.try(s.withStorm(half)) {
			break
		}
	}
	for _, g := range grains[:3] {
		storm := up(int64(s.best.StormUs), g)
		if storm > max(int64(s.best.StormUs)*5/4, 100_000) { // rounding is not to make a run much longer
			continue
		}
		if storm == int64(s.best.StormUs) || s.try(s.withStorm(storm)) {
			return
		}
	}
}

func (s *search) withStorm(us int64) *plan.Plan {
	candidate := s.best.Clone()
	candidate.StormUs = plan.Int64(us)
	return candidate
}

// up rounds to the next multiple, nearest to the nearest one.
func up(us, grain int64) int64      { return (us + grain - 1) / grain * grain }
func nearest(us, grain int64) int64 { return (us + grain/2) / grain * grain }

// gaps shortens the time before each action, everything behind it coming so much earlier, to a quarter or a half while that works.
func (s *search) gaps() {
	s.inOrder()
	for i := range s.best.Actions {
		for range maxHalvings {
			before := int64(0)
			if i > 0 {
				before = int64(s.best.Actions[i-1].AtUs)
			}
			gap := int64(s.best.Actions[i].AtUs) - before
			if gap <= shortestGapUs || !s.earlier(i, gap-gap/4) && !s.earlier(i, gap/2) {
				break
			}
		}
	}
}

// inOrder sorts the actions by time; their places in the plan mean nothing.
func (s *search) inOrder() { s.best.Actions = s.best.InOrder() }

// earlier moves action i, all behind it and the end of the storm.
func (s *search) earlier(i int, byUs int64) bool {
	times := s.times()
	for k := i; k < len(times); k++ {
		times[k] -= byUs
	}
	return s.move(times, int64(s.best.StormUs)-byUs)
}

func (s *search) times() []int64 {
	times := make([]int64, len(s.best.Actions))
	for i := range times {
		times[i] = int64(s.best.Actions[i].AtUs)
	}
	return times
}

// move tries other times of the actions, which are in order. Names of decisions hold the second in which they are drawn, so the listed
// ones are named for the times to which they move.
func (s *search) move(times []int64, stormUs int64) bool {
	candidate := s.best.Clone()
	for i := range times {
		candidate.Actions[i].AtUs = plan.Int64(times[i])
		stormUs = max(stormUs, times[i]+1)
	}
	candidate.StormUs = plan.Int64(stormUs)
	candidate.Decisions = moved(s.best, times)
	return s.try(candidate)
}

// roundAll rounds the times of all actions to the coarsest grain that shows the target.
func (s *search) roundAll() {
	if len(s.best.Actions) < 2 {
		return
	}
	for _, g := range grains {
		times, coarse := s.times(), false
		for i := range times {
			coarse = coarse || times[i] > 0 && times[i] < g
			times[i] = nearest(times[i], g)
		}
		if coarse {
			continue
		}
		if slices.Equal(times, s.times()) || s.move(times, int64(s.best.StormUs)) {
			return
		}
	}
}

// roundAction rounds the time of one action, to either side.
func (s *search) roundAction(i int) {
	at := int64(s.best.Actions[i].AtUs)
	for _, g := range grains {
		if at%g == 0 {
			return
		}
		if at < g { // rounding is not to undo what was shortened
			continue
		}
		for _, to := range []int64{nearest(at, g), at / g * g, up(at, g)} {
			times := s.times()
			times[i] = to
			if slices.IsSorted(times) && s.move(times, int64(s.best.StormUs)) {
				return
			}
		}
	}
}

// parameters makes the parameters of an action fewer, shorter and rounder.
func (s *search) parameters(i int) {
	for _, name := range slices.Sorted(maps.Keys(s.best.Actions[i].Params)) {
		if s.optional(s.best.Actions[i].Kind, name) {
			candidate := s.best.Clone()
			if delete(candidate.Actions[i].Params, name); s.try(candidate) {
				continue
			}
		}
		s.shortenList(i, name)
		params := func(p *plan.Plan) plan.Params { return p.Actions[i].Params }
		s.shortenDuration(params, name)
		s.roundDuration(params, name)
		s.lower(params, name)
	}
}

// optional reports whether an action may lack a parameter. A runner that does not tell what it knows makes none optional.
func (s *search) optional(kind, name string) bool {
	c := s.catalogue()
	if c == nil {
		return false
	}
	k := c.Registry.Action(kind)
	if k == nil {
		return false
	}
	f := k.Field(name)
	return f != nil && !f.Required
}

// shortenList drops single words of a list.
func (s *search) shortenList(i int, name string) {
	for k := len(s.best.Actions[i].Params.List(name)) - 1; k >= 0; k-- {
		list := s.best.Actions[i].Params.List(name)
		if len(list) < 2 {
			return
		}
		candidate := s.best.Clone()
		candidate.Actions[i].Params[name] = strings.Join(slices.Delete(slices.Clone(list), k, k+1), ",")
		s.try(candidate)
	}
}

// setDuration tries another value of a parameter that is a duration.
func (s *search) setDuration(params func(p *plan.Plan) plan.Params, name string, us int64) bool {
	candidate := s.best.Clone()
	params(candidate)[name] = plan.FormatDurationUs(us)
	return s.try(candidate)
}

// shortenDuration halves a duration while that works.
func (s *search) shortenDuration(params func(p *plan.Plan) plan.Params, name string) {
	us, err := plan.ParseDurationUs(params(s.best)[name])
	for range maxHalvings {
		if us /= 2; err != nil || us < 1000 || !s.setDuration(params, name, us) {
			return
		}
	}
}

// roundDuration rounds a duration to the coarsest grain that shows the target.
func (s *search) roundDuration(params func(p *plan.Plan) plan.Params, name string) {
	us, err := plan.ParseDurationUs(params(s.best)[name])
	if err != nil || us <= 0 {
		return
	}
	for _, g := range grains {
		if us%g == 0 {
			return
		}
		if us < g {
			continue
		}
		if s.setDuration(params, name, nearest(us, g)) || s.setDuration(params, name, up(us, g)) {
			return
		}
	}
}
