package story

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// teller is a story in the making.
type teller struct {
	h      *history.History
	order  *order
	parts  []shrink.Part
	needed map[string]bool // actions that are necessary
	story  *Story
	root   int32                // the event that the story ends with
	broken string               // what it breaks, with its sentence
	claims [][]int32            // events with a claim, by host
	extra  map[int32]*sim.Claim // claims that the story itself makes
	chosen map[int32]*pick
	told   map[int32]bool // ends of processes that are told with a fault
}

// claim is what an event claims, nil when nothing.
func (t *teller) claim(seq int32) *sim.Claim {
	if c := t.extra[seq]; c != nil {
		return c
	}
	return t.h.Events[seq].Claim
}

// pick is an event that may become a line.
type pick struct {
	seq      int32
	distance int      // premises between it and the violation
	rank     int      // that it is kept by, low first: 0 for faults
	folds    []fold   // claims that are told in the same line
	notes    []string // clauses that follow
	text     string   // of a fault; "" for a claim
	needed   bool
}

// fold is a premise and who fulfils it.
type fold struct {
	form  string
	hosts []int32
	seqs  []int32
}

// limits of the search behind the violation.
const (
	maxDistance = 7
	maxChosen   = 80
)

// necessary notes which actions the failure needs, and counts what it does not.
func (t *teller) necessary() {
	t.needed = map[string]bool{}
	for i := range t.parts {
		p := &t.parts[i]
		switch {
		case !p.Fault():
		case !p.Necessary:
			t.story.Incidental++
		case p.Kind == shrink.ActionPart:
			t.needed[p.ID] = true
		}
	}
}

// index lists the claims of each host.
func (t *teller) index() {
	t.told = map[int32]bool{}
	t.chosen, t.extra = map[int32]*pick{}, map[int32]*sim.Claim{}
	t.claims = make([][]int32, len(t.h.Hosts))
	for i := range t.h.Events {
		if e := &t.h.Events[i]; e.Claim != nil && e.Host >= 0 {
			t.claims[e.Host] = append(t.claims[e.Host], int32(i))
		}
	}
	for host := range t.claims { // lanes are concurrent: which comes first must not depend on the schedule
		slices.SortStableFunc(t.claims[host], func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.order.depth[a], t.order.depth[b]), cmp.Compare(t.h.Events[a].Lane, t.h.Events[b].Lane))
		})
	}
}

// findRoot finds the violation, or the hazard that the verdict is about.
func (t *teller) findRoot() bool {
	t.story.Target = target(t.h.Verdict)
	t.root = -1
	for i := range t.h.Events {
		e := &t.h.Events[i]
		if e.Kind == history.Violation {
			t.root, t.broken = int32(i), e.Text
			return true
		}
		if e.Kind == history.Hazard && t.root < 0 && strings.HasPrefix("hazard/"+e.Text, t.story.Target+":") {
			t.root, t.broken = int32(i), "hazard "+e.Text
		}
	}
	if t.h.Verdict.Outcome.Finding() { // what it is about is not the hazard
		t.root = -1
	}
	return t.root >= 0
}

// past reports whether an event happened before another one, or in one step with it.
func (t *teller) past(seq, of int32) bool {
	return t.order.before(seq, of) || seq != of && t.h.Events[seq].ID == t.h.Events[of].ID && seq < of
}

// follow chooses the claims that the violation stands on, and those that they stand on, breadth first.
func (t *teller) follow() {
	queue := t.named()
	for len(queue) > 0 && len(t.chosen) < maxChosen {
		at := queue[0]
		queue = queue[1:]
		p := t.chosen[at]
		if p.distance >= maxDistance {
			continue
		}
		claim := t.claim(at)
		for i := range claim.Because {
			queue = append(queue, t.stand(p, at, &claim.Because[i])...)
		}
		if claim.Topic == sim.TopicDown && t.h.Events[at].Kind == history.Down {
			if seq := t.carrier(at); seq >= 0 && t.choose(seq, p.distance+1) {
				queue = append(queue, seq)
			}
		}
	}
}

// choose makes a claim a candidate for a line. It returns false when it was one already.
func (t *teller) choose(seq int32, distance int) bool {
	if _, have := t.chosen[seq]; have {
		return false
	}
	t.chosen[seq] = &pick{seq: seq, distance: distance, rank: 2*distance + 2 - int(t.h.Events[seq].Weight)}
	return true
}

// stand resolves a premise of a chosen claim.
func (t *teller) stand(p *pick, at int32, need *sim.Premise) (next []int32) {
	var f fold
	for _, seq := range t.resolve(at, need) {
		if need.Durable && (t.aboutFlushing() || need.Host != sim.Self && t.aboutLoss()) {
			switch {
			case t.noteUnflushed(seq, at):
				next = append(next, seq)
			case t.aboutFlushing() && t.flushed(sim.TopicFlush, seq, at):
				next = append(next, t.noteEarlier(seq, at)...)
			}
		}
		if need.Fold == "" {
			if t.choose(seq, p.distance+1) {
				next = append(next, seq)
			}
			continue
		}
		who := t.h.Events[seq].Host
		if about := t.h.Events[seq].Claim.About; need.Host == sim.Self && about != "" {
			who = int32(slices.Index(t.h.Hosts, about))
		}
		f.hosts, f.seqs = append(f.hosts, who), append(f.seqs, seq)
		claim := t.h.Events[seq].Claim
		for i := range claim.Because {
			next = append(next, t.stand(p, seq, &claim.Because[i])...)
		}
	}
	if len(f.hosts) > 0 {
		f.form = need.Fold
		p.folds = append(p.folds, f)
	}
	return next
}

// resolve finds the claims that a premise of the claim at an event means.
func (t *teller) resolve(at int32, need *sim.Premise) (found []int32) {
	own := t.h.Events[at].Host
	for host := range t.h.Hosts {
		switch need.Host {
		case sim.Self:
			if int32(host) != own {
				continue
			}
		case sim.Others:
			if int32(host) == own {
				continue
			}
		default:
			if t.h.Hosts[host] != need.Host {
				continue
			}
		}
		found = append(found, t.latest(int32(host), at, need)...)
	}
	return found
}

// latest is the last claim of a host before an event that matches; with Fold and Self, the last about each other host.
func (t *teller) latest(host, at int32, need *sim.Premise) (found []int32) {
	list := t.claims[host]
	var about []string
	for i := len(list) - 1; i >= 0; i-- {
		seq := list[i]
		if !t.past(seq, at) || !t.matches(seq, at, need) {
			continue
		}
		if need.Fold == "" || need.Host != sim.Self {
			return append(found, seq)
		}
		if who := t.h.Events[seq].Claim.About; !slices.Contains(about, who) {
			about, found = append(about, who), append(found, seq)
		}
	}
	return found
}

func (t *teller) matches(seq, at int32, need *sim.Premise) bool {
	c := t.h.Events[seq].Claim
	about := need.About
	if about == sim.Self {
		about = t.h.Hosts[t.h.Events[at].Host]
	}
	return listed(need.Topics, c.Topic) && (about == "" || about == c.About) && (need.Epoch == 0 || need.Epoch == c.Epoch) &&
		(need.Offset < 0 || covers(c, need.Offset))
}

func covers(c *sim.Claim, offset int64) bool { return c.From <= offset && offset < c.To }

// aboutFlushing reports whether what broke speaks of what was durable. Only then is it news that a host counted its own records before
// it had flushed them.
func (t *teller) aboutFlushing() bool { return t.speaksOf("durabl", "flush", "lost") }

// aboutLoss reports whether what broke speaks of records that should still be there. Only then is it news that somebody relied on those of
// another host before they were flushed: an observer, for one, need not flush what it fetches.
func (t *teller) aboutLoss() bool {
	return t.aboutFlushing() || t.speaksOf("committed", "acknowledged")
}

func (t *teller) speaksOf(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(t.broken, word) })
}

// noteUnflushed says of a claim on records that somebody relied on it before its host had flushed them. It returns true when that makes a
// line of it.
func (t *teller) noteUnflushed(seq, relier int32) (chosen bool) {
	if t.flushed(sim.TopicFlush, seq, relier) {
		return false
	}
	e := &t.h.Events[seq]
	chosen = t.choose(seq, 1)
	p := t.chosen[seq]
	if note := t.missingFlush(seq, relier); !slices.Contains(p.notes, note) && e.Claim.Topic == sim.TopicAppend {
		p.notes, p.rank = append(p.notes, note), 1
	}
	return chosen
}

// flushed reports whether flushes of a topic between a claim on records and an event made all of them durable: each flush only what it says,
// which may be one file of several. What is still there after a loss of power is durable, too.
func (t *teller) flushed(topic string, seq, until int32) bool {
	e := &t.h.Events[seq]
	next := e.Claim.From
	for moved := true; moved && next < e.Claim.To; {
		moved = false
		for _, f := range t.claims[e.Host] {
			c := t.h.Events[f].Claim
			if !t.past(seq, f) || !t.past(f, until) {
				continue
			}
			if c.Topic == sim.TopicDown && strings.HasPrefix(t.h.Events[f].Text, sim.PowerLost.String()) {
				return true
			}
			if c.Topic == topic && c.From <= next && next < c.To {
				next, moved = c.To, true
			}
		}
	}
	return next >= e.Claim.To
}

// noteEarlier does noteUnflushed for the last claim on records below those of a claim that is not durable either, while others of it are: the log
// is only as durable as its first gap.
func (t *teller) noteEarlier(seq, relier int32) (next []int32) {
	e := &t.h.Events[seq]
	list := t.claims[e.Host]
	lowest := e.Claim.From
	for i := slices.Index(list, seq) - 1; i >= 0; i-- {
		c := t.h.Events[list[i]].Claim
		if c.Topic != sim.TopicAppend || c.To == c.From || !t.past(list[i], seq) {
			continue
		}
		if live := c.To <= lowest; live && !t.flushed(sim.TopicFlush, list[i], relier) {
			if t.noteUnflushed(list[i], relier) {
				next = append(next, list[i])
			}
			return next
		}
		lowest = min(lowest, c.From)
	}
	return next
}

// missingFlush says what a host did not flush before somebody relied on its records: all of it, or the name of the file alone.
func (t *teller) missingFlush(seq, relier int32) string {
	if t.flushed(sim.TopicNameless, seq, relier) {
		return "without flushing the directory that names its file first"
	}
	return "which no flush made durable"
}

// unflushed makes claims of the writes of hosts to small files that were not durable when the invariant broke.
func (t *teller) unflushed(hosts []int32) (seqs []int32) {
	for _, u := range t.h.Events[t.root].Unflushed {
		if !slices.Contains(hosts, u.Host) || u.Seq >= t.root || t.h.Events[u.Seq].Host != u.Host {
			continue
		}
		missing := "without flushing it"
		if u.Whole {
			missing = "without flushing the directory that names it"
		}
		t.extra[u.Seq] = &sim.Claim{Topic: "store", Clause: "writes " + u.Path + " (" + u.Text + ") " + missing}
		seqs = append(seqs, u.Seq)
	}
	return seqs
}

// mention is what the sentence of an invariant names.
type mention struct {
	hosts   []int32
	epochs  []int32
	offsets [][2]int64 // each in the order in which it is to be tried: the number may be where something ends, exclusively
	words   []string   // without numbers and what they are called
}

// bare is a word without what stands around it.
func bare(word string) string { return strings.Trim(word, ".,;:()'\"") }

// beforeOffset are the words behind which a number is an offset.
const beforeOffset = "offset,offsets,to,at,from,beyond,below,exposed,watermark,until,and"

// read finds hosts, epochs and offsets in a sentence.
func (t *teller) read(sentence string) (m mention) {
	words := strings.Fields(sentence)
	previous := ""
	for _, word := range words {
		word = bare(word)
		if _, err := strconv.ParseInt(word, 10, 64); err == nil && len(m.words) > 0 {
			m.words = m.words[:len(m.words)-1] // "epoch 3" speaks of a number, not of what it is called
		} else {
			m.words = append(m.words, word)
		}
		if i := slices.Index(t.h.Hosts, word); i >= 0 && !slices.Contains(m.hosts, int32(i)) {
			m.hosts = append(m.hosts, int32(i))
		}
		if n, err := strconv.ParseInt(word, 10, 64); err == nil && n >= 0 {
			switch {
			case previous == "epoch" || previous == "epochs":
				m.epochs = append(m.epochs, int32(n))
			case listed(beforeOffset, previous):
				m.offsets = append(m.offsets, [2]int64{n - 1, n})
				if listed("from,offset,offsets,at", previous) {
					m.offsets[len(m.offsets)-1] = [2]int64{n, n - 1}
				}
			}
		}
		previous = word
	}
	return m
}

// named chooses the claims that the violation itself names: those of the step that broke it, and the latest of the hosts, epochs and
// offsets of its sentence.
func (t *teller) named() (queue []int32) {
	add := func(seq int32, distance int) {
		if t.choose(seq, distance) {
			queue = append(queue, seq)
		}
	}
	root := &t.h.Events[t.root]
	m := t.read(root.Text)
	concerned := len(m.hosts) == 0
	var topics []string
	for seq := t.root - 1; seq >= 0 && t.h.Events[seq].ID == root.ID; seq-- {
		e := &t.h.Events[seq]
		if e.Host < 0 {
			continue
		}
		if len(m.hosts) == 0 {
			m.hosts = append(m.hosts, e.Host)
		}
		if slices.Contains(m.hosts, e.Host) {
			concerned = true
			if e.Claim != nil && !strings.HasPrefix(e.Claim.Topic, "flush") && !slices.Contains(topics, e.Claim.Topic) {
				topics = append(topics, e.Claim.Topic)
				add(seq, 0)
			}
		}
	}
	if t.aboutFlushing() {
		for _, seq := range t.unflushed(m.hosts) {
			add(seq, 1)
		}
	}
	if seq := t.carrier(t.root); seq >= 0 && concerned && len(queue) == 0 {
		add(seq, 1)
	}
	for _, host := range m.hosts {
		for _, epoch := range m.epochs {
			for _, seq := range t.lastOf(host, 2, func(c *sim.Claim, e *history.Event) bool {
				return c.Epoch == epoch && e.Weight >= history.Turning
			}) {
				add(seq, 1)
			}
		}
		for _, offset := range m.offsets {
			for _, end := range offset {
				list := t.lastOf(host, 2, func(c *sim.Claim, e *history.Event) bool {
					return covers(c, end) && !strings.HasPrefix(c.Topic, "flush") && c.Topic != "holds"
				})
				for _, seq := range list {
					add(seq, 1)
				}
				if len(list) > 0 {
					break
				}
			}
		}
		if len(m.epochs)+len(m.offsets) == 0 {
			for _, seq := range t.lastOf(host, 2, func(_ *sim.Claim, e *history.Event) bool { return e.Weight >= history.Turning }) {
				add(seq, 1)
			}
		}
	}
	for _, host := range m.hosts { // "no durable snapshot": which one it has; after all that it says in numbers, and nothing that is noise ("epoch")
		for _, seq := range t.lastOf(host, 1, func(c *sim.Claim, e *history.Event) bool {
			return e.Weight >= history.Detail && !ownTopic(c.Topic) && slices.Contains(m.words, c.Topic)
		}) {
			add(seq, 3)
		}
	}
	for i := 0; i < len(m.hosts) && len(queue) == 0; i++ { // nobody speaks of what the sentence names: what they did last
		for _, seq := range t.lastOf(m.hosts[i], 3, func(_ *sim.Claim, e *history.Event) bool { return e.Weight >= history.Detail }) {
			add(seq, 1)
		}
	}
	return queue
}

// ownTopic reports whether a topic has a meaning for stories: its claims are found by offsets, not by their word.
func ownTopic(topic string) bool {
	return listed(sim.TopicAppend+","+sim.TopicHolds+","+sim.TopicRecover+","+sim.TopicFlush+","+sim.TopicNameless+","+sim.TopicLost+","+sim.TopicDown+","+
		sim.TopicBoot, topic)
}

// carrier is the message that was being handled when something happened, -1 for none. It becomes a claim of who got it, which stands on
// what its sender claimed last.
func (t *teller) carrier(seq int32) int32 {
	at := seq
	for at >= 0 && t.h.Events[at].Kind != history.Input {
		at = t.h.Events[at].Cause
	}
	if at < 0 || t.h.Events[at].Peer < 0 || t.h.Events[at].Message == 0 || !t.mattered(at, seq) {
		return -1
	}
	e := &t.h.Events[at]
	peer := t.h.Hosts[e.Peer]
	_, what, _ := strings.Cut(e.Text, ": ")
	if e.Claim == nil {
		t.extra[at] = &sim.Claim{Topic: "message", About: peer, Clause: "gets from " + peer + ": " + what, Because: []sim.Premise{
			{Topics: "append,commit,leader", Host: peer, Offset: -1}, {Topics: "leader,vote,follower", Host: peer, Offset: -1},
		}}
	}
	return at
}

// mattered reports whether the handler of a message did something to the disk, or ended the process, up to an event.
func (t *teller) mattered(at, until int32) bool {
	for i := at + 1; i <= until; i++ {
		if e := &t.h.Events[i]; e.Cause == at && (e.Kind == history.Disk || e.Kind == history.Down) {
			return true
		}
	}
	return false
}

// lastOf lists the last claims of a host before the end, each on another topic, at most that many.
func (t *teller) lastOf(host int32, most int, fits func(c *sim.Claim, e *history.Event) bool) (found []int32) {
	var topics []string
	list := t.claims[host]
	for i := len(list) - 1; i >= 0 && len(found) < most; i-- {
		e := &t.h.Events[list[i]]
		if t.past(list[i], t.root) && fits(e.Claim, e) && !slices.Contains(topics, e.Claim.Topic) {
			topics, found = append(topics, e.Claim.Topic), append(found, list[i])
		}
	}
	return found
}

// sorted lists the chosen events in the order of the story: causal, ties by depth, host and sentence. Faults keep the order of their times,
// which the plan fixes.
func (t *teller) sorted(picks []*pick) []*pick {
	depths := map[int32]int32{}
	var faults []*pick
	for _, p := range picks {
		depths[p.seq] = t.order.depth[p.seq]
		if p.needed {
			faults = append(faults, p)
		}
	}
	slices.SortStableFunc(faults, t.byTime)
	for i, deepest := 0, int32(0); i < len(faults); i++ {
		deepest = max(deepest, depths[faults[i].seq])
		depths[faults[i].seq] = deepest
	}
	slices.SortStableFunc(picks, func(a, b *pick) int {
		x, y := &t.h.Events[a.seq], &t.h.Events[b.seq]
		byTime := 0
		if a.needed && b.needed {
			byTime = t.byTime(a, b)
		}
		return cmp.Or(cmp.Compare(depths[a.seq], depths[b.seq]), cmp.Compare(fault(a), fault(b)), byTime, cmp.Compare(x.Host, y.Host),
			cmp.Compare(x.Lane, y.Lane), t.between(a.seq, b.seq), cmp.Compare(t.sentence(a), t.sentence(b)))
	})
	for i := range picks { // what happened before goes before: the first that nothing left over precedes
		for j := i; j < len(picks); j++ {
			first := true
			for k := i; k < len(picks) && first; k++ {
				first = k == j || !t.past(picks[k].seq, picks[j].seq)
			}
			if first {
				p := picks[j]
				picks = slices.Insert(slices.Delete(picks, j, j+1), i, p)
				break
			}
		}
	}
	return picks
}

func (t *teller) between(a, b int32) int {
	switch {
	case t.past(a, b):
		return -1
	case t.past(b, a):
		return 1
	}
	return 0
}

// byTime orders faults by their times, ties by what they are.
func (t *teller) byTime(a, b *pick) int {
	return cmp.Or(cmp.Compare(t.h.Events[a.seq].AtUs, t.h.Events[b.seq].AtUs), cmp.Compare(a.text, b.text))
}

func fault(p *pick) int {
	if p.needed {
		return 1
	}
	return 0
}
