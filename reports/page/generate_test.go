package page_test

import (
	"fmt"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// generator writes histories that look like those of a quorum: elections, fetches, appends, crashes, cuts, two disks that differ. It knows
// nothing of a World: what a page shows is the history, wherever that came from.
type generator struct {
	h      *history.History
	state  uint64
	nowUs  int64
	number int32
	epoch  int32
	leader int32
	end    []int64
	boots  []int32
	last   []int32 // last event of each host
}

// draw is a small generator of numbers: the same history for the same arguments.
func (g *generator) draw(n int64) int64 {
	g.state = g.state*6364136223846793005 + 1442695040888963407
	return int64(g.state>>33) % n
}

// generate makes a history of about so many events.
func generate(hosts, events int) *history.History {
	p := &plan.Plan{Format: 1, Scenario: "raft/storm", Seed: 1207, StormUs: 9_000_000}
	g := &generator{h: &history.History{Plan: p}, state: uint64(hosts*1_000_003 + events), leader: -1}
	for i := range hosts {
		id := fmt.Sprintf("n%d", i+1)
		if i == 3 {
			id = "broker-with-a-very-long-name-in-zone-b"
		}
		p.Hosts = append(p.Hosts, plan.Host{ID: id, Kind: "controller", Release: "aug26"})
		g.h.Hosts = append(g.h.Hosts, id)
	}
	for i, kind := range []string{"power", "cut", "isolate", "kill"} {
		a := plan.Action{ID: "a" + strconv.Itoa(i+1), AtUs: plan.Int64(1_000_000 + i*1_700_000), Kind: kind}
		switch kind {
		case "cut":
			a.Params = plan.Params{"from": p.Hosts[0].ID, "to": p.Hosts[hosts-1].ID, "for": "1.5s"}
		case "power":
			a.Params = plan.Params{"hosts": p.Hosts[1%hosts].ID, "down": "700ms"}
		default:
			a.Params = plan.Params{"host": p.Hosts[i%hosts].ID}
		}
		p.Actions = append(p.Actions, a)
	}
	g.end, g.boots, g.last = make([]int64, hosts), make([]int32, hosts), make([]int32, hosts)
	for i := range int32(hosts) {
		g.boot(i)
	}
	g.storm(events)
	g.finish()
	return g.h
}

func (g *generator) add(e history.Event) int32 {
	e.Seq, e.AtUs, e.ID = int32(len(g.h.Events)), g.nowUs, int64(len(g.h.Events))
	g.h.Events = append(g.h.Events, e)
	if e.Host >= 0 {
		g.last[e.Host] = e.Seq
	}
	return e.Seq
}

func (g *generator) boot(host int32) {
	g.nowUs += 10
	g.boots[host]++
	g.add(history.Event{Cause: -1, Host: host, Boot: g.boots[host], Kind: history.Boot, Peer: -1, Text: "controller starts", Weight: history.Turning,
		Facets: []history.Facet{{Name: "role", Value: "unattached"}, {Name: "epoch", Value: strconv.Itoa(int(g.epoch))},
			{Name: "log-end", Value: strconv.FormatInt(g.end[host], 10)}}})
}

// send lets a message travel: a send, and an input at the other side unless it is lost.
func (g *generator) send(from, to, cause int32, text string, weight history.Weight, facets []history.Facet, log []history.LogEdit, lost bool) int32 {
	g.number++
	g.nowUs += 20 + g.draw(60)
	s := g.add(history.Event{Cause: cause, Host: from, Boot: g.boots[from], Lane: "raft", Kind: history.Send, Peer: to, Message: g.number,
		Text: text, Weight: weight})
	if lost {
		return s
	}
	g.nowUs += 200 + g.draw(900)
	return g.add(history.Event{Cause: s, Host: to, Boot: g.boots[to], Lane: "raft", Kind: history.Input, Peer: from, Message: g.number,
		Text: text, Weight: weight, Facets: facets, Log: log})
}

func (g *generator) elect(host int32) {
	g.epoch++
	epoch := strconv.Itoa(int(g.epoch))
	c := g.add(history.Event{Cause: g.last[host], Host: host, Boot: g.boots[host], Lane: "raft", Kind: history.Protocol, Peer: -1,
		Text: "becomes candidate in epoch " + epoch, Weight: history.Turning,
		Facets: []history.Facet{{Name: "role", Value: "candidate"}, {Name: "epoch", Value: epoch}, {Name: "leader", Value: ""}}})
	for to := range int32(len(g.h.Hosts)) {
		if to != host {
			g.send(host, to, c, "Vote epoch="+epoch+" lastOffset="+strconv.FormatInt(g.end[host], 10), history.Turning,
				[]history.Facet{{Name: "role", Value: "unattached"}, {Name: "epoch", Value: epoch}, {Name: "voted", Value: g.h.Hosts[host]}}, nil,
				g.draw(6) == 0)
		}
	}
	g.nowUs += 3000
	g.leader = host
	g.add(history.Event{Cause: c, Host: host, Boot: g.boots[host], Lane: "raft", Kind: history.Protocol, Peer: -1,
		Text: "becomes leader of epoch " + epoch, Weight: history.Turning,
		Facets: []history.Facet{{Name: "role", Value: "leader"}, {Name: "leader", Value: g.h.Hosts[host]}}})
	for to := range int32(len(g.h.Hosts)) {
		if to != host {
			g.send(host, to, c, "BeginQuorumEpoch epoch="+epoch, history.Detail, []history.Facet{{Name: "role", Value: "follower"},
				{Name: "leader", Value: g.h.Hosts[host]}}, nil, false)
		}
	}
}

func (g *generator) appendOne() {
	l := g.leader
	edit := func(host int32) []history.LogEdit {
		g.end[host]++
		return []history.LogEdit{{Do: "append", Offset: g.end[host] - 1, Epoch: g.epoch,
			Text: fmt.Sprintf("TopicRecord name=topic-%d id=%08x", g.end[host], uint32(g.end[host])*2654435761)}}
	}
	g.nowUs += 300 + g.draw(5000)
	log := edit(l)
	a := g.add(history.Event{Cause: g.last[l], Host: l, Boot: g.boots[l], Lane: "raft", Kind: history.Disk, Peer: -1,
		Text: "write 00000000000000000000.log, 120 bytes", Weight: history.Detail, Log: log,
		Facets: []history.Facet{{Name: "log-end", Value: strconv.FormatInt(g.end[l], 10)}}})
	for to := range int32(len(g.h.Hosts)) {
		if to == l || g.end[to] >= g.end[l] {
			continue
		}
		log := edit(to)
		g.send(l, to, a, "FetchResponse offset="+strconv.FormatInt(g.end[to]-1, 10)+" 1 batch", history.Noise,
			[]history.Facet{{Name: "log-end", Value: strconv.FormatInt(g.end[to], 10)}}, log, false)
	}
	g.add(history.Event{Cause: a, Host: l, Boot: g.boots[l], Lane: "raft", Kind: history.Protocol, Peer: -1, Weight: history.Detail,
		Text:   "high watermark " + strconv.FormatInt(g.end[l], 10),
		Facets: []history.Facet{{Name: "high-watermark", Value: strconv.FormatInt(g.end[l], 10)}}})
}

func (g *generator) crash(host int32, action string) {
	c := g.add(history.Event{Cause: -1, Host: -1, Kind: history.Action, Peer: -1, Action: action, Text: "power of " + g.h.Hosts[host], Weight: history.Turning})
	g.add(history.Event{Cause: c, Host: host, Boot: g.boots[host], Kind: history.Down, Peer: -1, Text: "power lost, inside a handler", Weight: history.Turning})
	if g.end[host] > 0 {
		g.end[host]--
		g.add(history.Event{Cause: c, Host: host, Boot: g.boots[host], Kind: history.Lost, Peer: -1, Text: "lost 120 bytes of 00000000000000000000.log",
			Weight: history.Turning, Log: []history.LogEdit{{Do: "truncate", Offset: g.end[host]}}})
	}
}

func (g *generator) storm(events int) {
	hosts := int64(len(g.h.Hosts))
	g.elect(0)
	struck, down, since := 0, int32(-1), 0
	for len(g.h.Events) < events {
		since++
		share := len(g.h.Events) * 6 / max(events, 1)
		switch {
		case down >= 0 && since > 6:
			g.boot(down)
			down = -1
			g.elect(int32(g.draw(hosts)))
		case share > struck && struck == 0:
			down, since = int32(1%hosts), 0
			g.crash(down, "a1")
			struck++
		case share > struck && struck == 1:
			g.add(history.Event{Cause: -1, Host: -1, Kind: history.Action, Peer: -1, Action: "a2", Text: "cut", Weight: history.Turning})
			struck++
			g.elect(int32(g.draw(hosts)))
		case share > struck && struck == 2:
			g.add(history.Event{Cause: -1, Host: -1, Kind: history.Undo, Peer: -1, Action: "a2", Text: "cut ends", Weight: history.Turning})
			g.add(history.Event{Cause: -1, Host: -1, Kind: history.Refused, Peer: -1, Action: "a3", Text: "isolate: down already", Weight: history.Turning})
			struck++
		case share > struck && struck == 3:
			g.add(history.Event{Cause: -1, Host: -1, Kind: history.Calm, Peer: -1, Text: "calm", Weight: history.Turning})
			struck++
		case down < 0:
			g.appendOne()
		default:
			g.nowUs += 40_000
			g.elect(int32(g.draw(hosts)))
		}
	}
}

// finish gives two hosts different records at one offset, which is what the violation is about.
func (g *generator) finish() {
	other := int32((int(g.leader) + 1) % len(g.h.Hosts))
	if other != g.leader {
		g.add(history.Event{Cause: g.last[other], Host: other, Boot: g.boots[other], Kind: history.Disk, Peer: -1, Text: "truncate, then write", Weight: history.Turning,
			Log: []history.LogEdit{{Do: "truncate", Offset: g.end[other] - 1}, {Do: "append", Offset: g.end[other] - 1, Epoch: g.epoch - 1, Text: "TopicRecord name=other"}}})
	}
	detail := fmt.Sprintf("offset %d is committed with epoch %d on %s and epoch %d on %s", g.end[g.leader]-1, g.epoch, g.h.Hosts[g.leader], g.epoch-1, g.h.Hosts[other])
	g.add(history.Event{Cause: g.last[other], Host: -1, Kind: history.Violation, Peer: -1, Text: "committed-prefix: " + detail, Weight: history.Turning})
	g.h.Verdict = &plan.Verdict{Outcome: plan.Violation, VirtualUs: plan.Int64(g.nowUs), Events: plan.Int64(len(g.h.Events)),
		Broken: []plan.Broken{{Invariant: "committed-prefix", Evidence: "differs", Detail: detail, AtUs: plan.Int64(g.nowUs)}}}
}
