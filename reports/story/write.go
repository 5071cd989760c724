package story

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim/history"
)

// write makes the lines: the picks that matter most, in causal order, then what is broken.
func (t *teller) write() {
	if chances := t.chances(); len(chances) > 0 {
		t.together("by chance ", chances)
	}
	if early := t.early(); len(early) > 0 {
		t.together("first, ", early)
	}
	last := t.ending(len(t.story.Lines))
	picks := t.kept(MaxLines - len(last) - len(t.story.Lines))
	for _, p := range t.sorted(picks) {
		line := Line{Text: t.sentence(p), Seq: p.seq, Fault: p.needed, Necessary: p.needed}
		if e := &t.h.Events[p.seq]; e.Host >= 0 {
			line.Host = t.h.Hosts[e.Host]
		}
		t.story.Lines = append(t.story.Lines, line)
	}
	t.once(last[len(last)-1].Text)
	t.story.Lines = append(t.story.Lines, last...)
}

// together tells several faults in one line.
func (t *teller) together(first string, faults []string) {
	t.story.Lines = append(t.story.Lines, Line{Text: first + strings.Join(faults, "; ") + necessaryMark, Seq: -1, Fault: true, Necessary: true})
}

// maxFaults is how many faults have a line each.
const maxFaults = 6

// early takes the earliest faults out of the picks, where there are so many that nothing else would be told, and some of them not either.
func (t *teller) early() (texts []string) {
	var faults []*pick
	//nodet:allow maprange sorted below
	for _, p := range t.chosen {
		if p.needed {
			faults = append(faults, p)
		}
	}
	if len(faults) <= maxFaults {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b *pick) int { return cmp.Or(t.byTime(a, b), cmp.Compare(t.sentence(a), t.sentence(b))) })
	for _, p := range faults[:len(faults)-maxFaults+1] {
		texts = append(texts, strings.TrimSuffix(t.sentence(p), necessaryMark))
		delete(t.chosen, p.seq)
	}
	return texts
}

// shortError is the length of an error that may well be told twice.
const shortError = 40

// once takes an error out of the lines that tell it before the last one does.
func (t *teller) once(last string) {
	for i := range t.story.Lines {
		line := &t.story.Lines[i]
		if head, told, found := strings.Cut(line.Text, ": "); found && len(told) >= shortError && strings.Contains(last, told) {
			line.Text = head
		}
	}
}

// kept are the picks of the lowest rank, as many as there is room for. Claims that are told within another line have none of their own,
// unless they are nearer to the violation.
func (t *teller) kept(room int) []*pick {
	folded := map[int32]bool{}
	order := slices.Sorted(maps.Keys(t.chosen))
	for _, by := range order {
		p := t.chosen[by]
		for _, f := range p.folds {
			for _, seq := range f.seqs {
				q := t.chosen[seq]
				folded[seq] = folded[seq] || q != nil && (p.distance < q.distance || t.h.Events[by].ID == t.h.Events[seq].ID)
			}
		}
	}
	var picks []*pick
	for _, seq := range order {
		if !folded[seq] {
			picks = append(picks, t.chosen[seq])
		}
	}
	slices.SortStableFunc(picks, func(a, b *pick) int {
		x, y := &t.h.Events[a.seq], &t.h.Events[b.seq]
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(t.order.depth[b.seq], t.order.depth[a.seq]), cmp.Compare(x.Host, y.Host),
			cmp.Compare(x.Lane, y.Lane), t.between(b.seq, a.seq), cmp.Compare(t.sentence(a), t.sentence(b)))
	})
	said := map[string]bool{}
	picks = slices.DeleteFunc(picks, func(p *pick) bool { // once is enough
		s := t.sentence(p)
		again := said[s]
		said[s] = true
		return again
	})
	return picks[:min(room, len(picks))]
}

// necessaryMark ends the line of a fault.
const necessaryMark = " (necessary)"

// sentence is a pick in words.
func (t *teller) sentence(p *pick) string {
	e := &t.h.Events[p.seq]
	s := p.text
	if s == "" {
		s = t.h.Hosts[e.Host] + " " + t.claim(p.seq).Clause
		if records := t.records(p.seq); records != "" {
			s += " (" + records + ")"
		}
	}
	for _, f := range p.folds {
		if names := t.names(f.hosts); names != "" {
			s += ", " + strings.ReplaceAll(f.form, "%s", names)
		}
	}
	for i, note := range p.notes {
		switch also := p.text != "" && !strings.HasPrefix(note, "though "); { // what a fault took, too
		case also && i == 0:
			s += " and " + note
		case also:
			s += ", and " + note
		default:
			s += ", " + note
		}
	}
	if p.needed {
		s += necessaryMark
	}
	return s
}

// maxRecords is how many kinds of record are named.
const maxRecords = 3

// records names what a claim to have appended something appended: "LEADER_CHANGE, ConfigRecord".
func (t *teller) records(seq int32) string {
	c := t.claim(seq)
	if c.Topic != "append" {
		return ""
	}
	found := map[int64]string{}
	host := t.h.Events[seq].Host
	for i := seq; i >= 0 && int64(len(found)) < min(c.To-c.From, 64); i-- {
		e := &t.h.Events[i]
		if e.Host != host {
			continue
		}
		for k := range e.Log {
			edit := &e.Log[k]
			if _, have := found[edit.Offset]; edit.Do == "append" && covers(c, edit.Offset) && !have {
				found[edit.Offset], _, _ = strings.Cut(edit.Text, " ")
			}
		}
	}
	var names []string
	for _, offset := range slices.Sorted(maps.Keys(found)) { // not each of the claim: a log that is broken may have any
		if name := found[offset]; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > maxRecords {
		names = append(names[:maxRecords], "and others")
	}
	return strings.Join(names, ", ")
}

// names lists hosts in words, in plan order.
func (t *teller) names(hosts []int32) string {
	hosts = slices.Clone(hosts)
	slices.Sort(hosts)
	var names []string
	for _, h := range slices.Compact(hosts) {
		if h >= 0 {
			names = append(names, t.h.Hosts[h])
		}
	}
	return enumerate(names)
}

// enumerate joins names as one does in a sentence.
func enumerate(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// ending are the last lines: the invariant with its sentence. told is how many lines there are.
func (t *teller) ending(told int) []Line {
	if t.root < 0 {
		faults := told
		//nodet:allow maprange a count
		for _, p := range t.chosen {
			if p.needed {
				faults++
			}
		}
		return t.unmet(min(maxUnmet, max(1, MaxLines-faults-2)))
	}
	line := Line{Text: t.broken, Seq: t.root}
	if t.h.Events[t.root].Kind == history.Violation {
		name, detail, _ := strings.Cut(t.broken, ": ")
		line.Text = detail + t.who(detail) + ": " + name + " is broken"
	} else {
		line.Text += t.who(line.Text)
	}
	return []Line{line}
}

// who says which hosts the nodes are that a sentence knows by number: " (node 200 is b1)".
func (t *teller) who(sentence string) string {
	var known []string
	previous := ""
	for word := range strings.FieldsSeq(sentence) {
		word = bare(word)
		node, err := strconv.ParseInt(word, 10, 32)
		if err == nil && listed("node,broker,voter,leader", previous) {
			host := slices.Index(t.h.Nodes, int32(node))
			if host < 0 || slices.Contains(t.h.Nodes[host+1:], int32(node)) || !t.meant(host, previous, sentence) {
				continue
			}
			if text := fmt.Sprintf("node %d is %s", node, t.h.Hosts[host]); !slices.Contains(known, text) {
				known = append(known, text)
			}
		}
		previous = word
	}
	if len(known) == 0 {
		return ""
	}
	return " (" + enumerate(known) + ")"
}

// meant reports whether a number behind a word can be that of a host. Brokers that are there by records alone share numbers with
// controllers, and who leads a partition is one of them.
func (t *teller) meant(host int, word, sentence string) bool {
	switch word {
	case "broker":
		return t.h.Plan.Hosts[host].Kind == "broker"
	case "leader":
		return !strings.Contains(sentence, "partition ")
	}
	return true
}
