package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// storm is a short run with crashes, of a scenario and a seed.
func storm(t *testing.T, e *sim.Engine, scenario string, seed uint64) *plan.Plan {
	t.Helper()
	s := e.Catalogue().Scenario(scenario)
	require.NotNil(t, s)
	p := s.Draw(seed)
	p.StormUs = min(p.StormUs, 1_500_000)
	return p
}

func TestRecordingChangesNothing(t *testing.T) {
	e := sim.NewEngine(scenarios.Catalogue())
	for _, name := range []string{"raft/storm-3", "raft/disk", "raft/wire", "reconfig/churn", "metadata/brokers"} {
		p := storm(t, e, name, 3)
		plain, err := e.Run(p, sim.Options{})
		require.NoError(t, err)
		h, err := history.Record(e, p)
		require.NoError(t, err)
		require.Equal(t, plain.Verdict, h.Verdict, name)
		again, err := history.Record(e, p)
		require.NoError(t, err)
		require.Equal(t, h, again, name)
	}
}

// TestHistoryHangsTogether checks what everybody who reads a history relies on.
func TestHistoryHangsTogether(t *testing.T) {
	e := sim.NewEngine(scenarios.Catalogue())
	for seed := range uint64(6) {
		h, err := history.Record(e, storm(t, e, "raft/storm-3", seed))
		require.NoError(t, err)
		sent, received, lost := map[int32]int{}, 0, 0
		for i := range h.Events {
			v := &h.Events[i]
			if v.Seq != int32(i) || v.Cause >= v.Seq || i > 0 && v.AtUs < h.Events[i-1].AtUs {
				t.Fatalf("event %d: %+v", i, v)
			}
			switch v.Kind {
			case history.Send, history.Post:
				if _, twice := sent[v.Message]; twice {
					t.Fatalf("message %d is sent twice", v.Message)
				}
				sent[v.Message] = i
			case history.Input:
				if v.Message > 0 {
					if from, ok := sent[v.Message]; !ok || v.Cause != int32(from) {
						t.Fatalf("event %d: message %d comes from %d, sent at %d", i, v.Message, v.Cause, from)
					}
					if from := &h.Events[v.Cause]; from.Kind == history.Send {
						require.Equal(t, from.Host, v.Peer)
						require.Equal(t, v.Host, from.Peer)
					}
					received++
				}
			case history.Action, history.Refused:
				require.NotEmpty(t, v.Action)
			case history.Lost:
				lost++
			}
		}
		require.Positive(t, received)
		require.Less(t, received, len(sent))
		logs := logsOf(t, h)
		require.NotEmpty(t, logs)
	}
}

// logsOf replays the log edits of each host.
func logsOf(t *testing.T, h *history.History) map[int32][]history.LogEdit {
	t.Helper()
	logs := map[int32][]history.LogEdit{}
	for i := range h.Events {
		host := h.Events[i].Host
		for _, edit := range h.Events[i].Log {
			log := logs[host]
			switch edit.Do {
			case "append":
				if n := len(log); n > 0 {
					require.Equal(t, log[n-1].Offset+1, edit.Offset, "host %s, event %d", h.Hosts[host], i)
				}
				require.NotEmpty(t, edit.Text)
				log = append(log, edit)
			case "truncate":
				for len(log) > 0 && log[len(log)-1].Offset >= edit.Offset {
					log = log[:len(log)-1]
				}
			case "start":
				for len(log) > 0 && log[0].Offset < edit.Offset {
					log = log[1:]
				}
			default:
				t.Fatalf("edit %q", edit.Do)
			}
			logs[host] = log
		}
	}
	return logs
}
