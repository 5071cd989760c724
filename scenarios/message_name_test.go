package scenarios

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestMessagesHaveNames: every kind of raft's messages goes by the name of its type.
func TestMessagesHaveNames(t *testing.T) {
	for _, m := range []raft.Message{
		&raft.FetchRequest{}, &raft.FetchResponse{}, &raft.ApiVersionsRequest{}, &raft.ApiVersionsResponse{}, &raft.VoteRequest{}, &raft.VoteResponse{},
		&raft.BeginQuorumEpochRequest{}, &raft.BeginQuorumEpochResponse{}, &raft.EndQuorumEpochRequest{}, &raft.EndQuorumEpochResponse{},
		&raft.DescribeQuorumRequest{}, &raft.DescribeQuorumResponse{}, &raft.FetchSnapshotRequest{}, &raft.FetchSnapshotResponse{},
		&raft.AddRaftVoterRequest{}, &raft.AddRaftVoterResponse{}, &raft.RemoveRaftVoterRequest{}, &raft.RemoveRaftVoterResponse{},
		&raft.UpdateRaftVoterRequest{}, &raft.UpdateRaftVoterResponse{},
	} {
		typed := reflect.TypeOf(m).Elem().Name()
		want := strings.TrimSuffix(typed, "Request") + " requests"
		if stem, answer := strings.CutSuffix(typed, "Response"); answer {
			want = stem + " answers"
		}
		require.Equal(t, want, messageName(m.Kind()))
	}
	for kind := kindRegisterBroker; kind <= postClientDone; kind++ {
		switch kind {
		case postMemberImage, postMemberDone, postMemberStop, postMemberDirectory, postClientDone: // never on a link
		default:
			require.NotEmpty(t, messageName(kind), kind)
		}
	}
	require.Empty(t, messageName(0))
	require.Empty(t, messageName(1<<32-1))
}

// TestFiltersNameWhatTheyCatch: trace and history say which messages a filter holds back; a plan has the number.
func TestFiltersNameWhatTheyCatch(t *testing.T) {
	c := Catalogue()
	p := c.Scenario("raft/quiet").Draw(1)
	p.Actions = []plan.Action{
		{ID: "f", AtUs: 1_000, Kind: "filter", Params: plan.Params{"from": "c1", "to": "c2,c3", "kind": "105", "for": "20ms"}},
		{ID: "k", AtUs: 1_000, Kind: "cut", Params: plan.Params{"from": "c1", "to": "c2", "for": "20ms"}},
		{ID: "u", AtUs: 1_000, Kind: "filter", Params: plan.Params{"from": "c1", "to": "c2", "kind": strconv.Itoa(9999), "for": "20ms"}},
	}
	h, err := history.Record(sim.NewEngine(c), p)
	require.NoError(t, err)
	require.Equal(t, []string{"Vote answers", "", ""}, h.Caught)
	var lines []string
	for i := range h.Events {
		if e := &h.Events[i]; e.Action != "" {
			lines = append(lines, fmt.Sprint(e.Kind, " ", e.Text))
		}
	}
	require.Contains(t, strings.Join(lines, "\n"), "kind=105 #f (Vote answers)")
	require.Contains(t, strings.Join(lines, "\n")+"\n", "kind=9999 #u\n")
}
