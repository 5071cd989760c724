package story

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
)

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
