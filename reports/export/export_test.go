package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/reports/export"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// exchange is a vote: n1 asks, n2 answers, a noisy wake between carries the order on, and n1 leads. A fault strikes beside it.
func exchange() *history.History {
	role := func(s string) []history.Facet {
		return []history.Facet{{Name: "role", Value: s}, {Name: "epoch", Value: "1"}, {Name: "log-end", Value: "7"}}
	}
	h := &history.History{Hosts: []string{"n1", "node two"}, Plan: &plan.Plan{Actions: []plan.Action{{ID: "a1", Kind: "cut"}}}, Events: []history.Event{
		{Cause: -1, Host: 0, Boot: 1, Kind: history.Boot, Weight: history.Turning},
		{Cause: -1, Host: 1, Boot: 1, Kind: history.Boot, Weight: history.Turning},
		{Cause: 0, Host: 0, AtUs: 10, Lane: "raft", Kind: history.Send, Peer: 1, Message: 1, Text: "Vote\nepoch=1", Weight: history.Turning, Facets: role("candidate")},
		{Cause: 2, Host: 1, AtUs: 20, Lane: "raft", Kind: history.Input, Peer: 0, Message: 1, Text: "Vote", Weight: history.Noise},
		{Cause: 3, Host: 1, AtUs: 21, Lane: "raft", Kind: history.Send, Peer: 0, Message: 2, Text: "VoteResponse", Weight: history.Detail},
		{Cause: -1, Host: -1, AtUs: 25, Kind: history.Action, Action: "a1", Text: "cut", Weight: history.Turning},
		{Cause: 4, Host: 0, AtUs: 30, Lane: "raft", Kind: history.Input, Peer: 1, Message: 2, Text: "VoteResponse", Weight: history.Detail, Facets: role("leader")},
		{Cause: 0, Host: 0, AtUs: 31, Lane: "raft", Kind: history.Send, Peer: 1, Message: 3, Text: "lost", Weight: history.Detail},
		{Cause: 5, Host: -1, AtUs: 90, Kind: history.Undo, Action: "a1", Text: "cut", Weight: history.Turning},
	}}
	for i := range h.Events {
		h.Events[i].Seq = int32(i)
	}
	return h
}

func TestShiViz(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, export.ShiViz(&b, exchange()))
	require.Equal(t, `n1 {"n1":1}
0.000000s boot: 
node_two {"node_two":1}
0.000000s boot: 
n1 {"n1":2}
0.000010s raft send: Vote epoch=1
node_two {"n1":2, "node_two":2}
0.000021s raft send: VoteResponse
world {"world":1}
0.000025s action: cut
n1 {"n1":3, "node_two":2}
0.000030s raft input: VoteResponse
n1 {"n1":4, "node_two":2}
0.000031s raft send: lost
world {"world":2}
0.000090s undo: cut
`, b.String())

	// The viewer's expression, in Go's spelling, takes the whole log apart.
	expression := regexp.MustCompile(strings.ReplaceAll(export.ShiVizExpression, "(?<", "(?P<"))
	require.Len(t, expression.FindAllString(b.String(), -1), 8)
	require.Empty(t, strings.TrimSpace(expression.ReplaceAllString(b.String(), "")))
}

type traced struct {
	Name, Ph, Cat string
	Pid, Tid, ID  int32
	Ts, Dur       int64
	Args          map[string]any
}

func TestChromeTrace(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, export.ChromeTrace(&b, exchange()))
	var doc struct {
		DisplayTimeUnit string
		TraceEvents     []traced
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	phases := map[string]int{}
	var states, flows []traced
	for _, e := range doc.TraceEvents {
		phases[e.Ph]++
		if e.Cat == "state" {
			states = append(states, e)
		}
		if e.Cat == "message" {
			flows = append(flows, e)
		}
	}
	require.Equal(t, 3, phases["s"], "every send begins an arrow")
	require.Equal(t, 2, phases["f"], "a lost one has no end")
	require.Equal(t, 1, phases["b"])
	require.Equal(t, 1, phases["e"])
	require.Equal(t, 2, phases["C"])
	require.Equal(t, int32(1), flows[0].ID)
	require.Equal(t, []string{"candidate of epoch 1", "leader of epoch 1"}, []string{states[0].Name, states[1].Name})
	require.Equal(t, int64(10), states[0].Ts)
	require.Equal(t, int64(20), states[0].Dur)
	require.Equal(t, int64(60), states[1].Dur, "the last one ends with the run")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestExportsTellOfTheirWriter(t *testing.T) {
	require.ErrorContains(t, export.ShiViz(full{}, exchange()), "no space left")
	require.ErrorContains(t, export.ChromeTrace(full{}, exchange()), "no space left")
	var b bytes.Buffer
	require.NoError(t, export.ShiViz(&b, &history.History{}))
	require.NoError(t, export.ChromeTrace(&b, &history.History{}))
}
