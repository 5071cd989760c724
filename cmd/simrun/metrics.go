package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/scenarios"
)

// hostJSON is a host at the end of a run, and the metrics of its replica under the names that Kafka gives them in its group
// raft-metrics. Averages and rates are over the last half minute at least, in the host's own time.
type hostJSON struct {
	*scenarios.HostReport
	Metrics *metricsJSON `json:"raft_metrics"` // null: no node runs on the host
}

type metricsJSON struct {
	CurrentState            string `json:"current-state"`
	CurrentLeader           int32  `json:"current-leader"`
	CurrentEpoch            int32  `json:"current-epoch"`
	CurrentVote             int32  `json:"current-vote"`
	CurrentVoteDirectoryID  string `json:"current-vote-directory-id"`
	HighWatermark           int64  `json:"high-watermark"`
	LogStartOffset          int64  `json:"log-start-offset"` // none of Kafka's
	LogEndOffset            int64  `json:"log-end-offset"`
	LogEndEpoch             int32  `json:"log-end-epoch"`
	NumberOfVoters          int32  `json:"number-of-voters"`
	NumberOfObservers       int32  `json:"number-of-observers"`
	IsObserver              bool   `json:"is-observer"`
	UncommittedVoterChange  bool   `json:"uncommitted-voter-change"`
	UnknownVoterConnections int32  `json:"number-unknown-voter-connections"`
	IgnoredStaticVoters     bool   `json:"ignored-static-voters"`
	KRaftVersion            int16  `json:"kraft-version"` // none of Kafka's
	CommitLatencyAvg        int64  `json:"commit-latency-avg"`
	CommitLatencyMax        int64  `json:"commit-latency-max"`
	ElectionLatencyAvg      int64  `json:"election-latency-avg"`
	ElectionLatencyMax      int64  `json:"election-latency-max"`
	FetchRecordsRate        string `json:"fetch-records-rate"`  // a second, three decimals
	AppendRecordsRate       string `json:"append-records-rate"` // a second, three decimals
	FetchedRecords          int64  `json:"fetched-records"`     // since the start, none of Kafka's
	AppendedRecords         int64  `json:"appended-records"`    // since the start, none of Kafka's
}

func newMetricsJSON(m *raft.Metrics) *metricsJSON {
	return &metricsJSON{
		CurrentState: m.CurrentState(), CurrentLeader: m.Leader, CurrentEpoch: m.Epoch, CurrentVote: m.Vote,
		CurrentVoteDirectoryID: m.VoteDirectoryID.String(), HighWatermark: m.HighWatermark, LogStartOffset: m.LogStartOffset,
		LogEndOffset: m.LogEndOffset, LogEndEpoch: m.LogEndEpoch, NumberOfVoters: m.Voters, NumberOfObservers: m.Observers,
		IsObserver: m.Observer, UncommittedVoterChange: m.UncommittedVoterChange, UnknownVoterConnections: m.UnknownVoterConnections,
		IgnoredStaticVoters: m.IgnoredStaticVoters, KRaftVersion: m.KRaftVersion,
		CommitLatencyAvg: m.CommitLatencyAverageMs, CommitLatencyMax: m.CommitLatencyMaximumMs,
		ElectionLatencyAvg: m.ElectionLatencyAverageMs, ElectionLatencyMax: m.ElectionLatencyMaximumMs,
		FetchRecordsRate: perSecond(m.FetchedRecordsMilliPerSec), AppendRecordsRate: perSecond(m.AppendRecordsMilliPerSec),
		FetchedRecords: m.FetchedRecords, AppendedRecords: m.AppendedRecords,
	}
}

// perSecond prints thousandths.
func perSecond(milli int64) string { return fmt.Sprintf("%d.%03d", milli/1000, milli%1000) }

func hostsJSON(hosts []scenarios.HostReport) (list []hostJSON) {
	for i := range hosts {
		h := hostJSON{HostReport: &hosts[i]}
		if m := hosts[i].Metrics; m != nil {
			h.Metrics = newMetricsJSON(m)
		}
		list = append(list, h)
	}
	return list
}

// printMetrics prints one line for each host, -1 for what is unknown.
func printMetrics(w io.Writer, hosts []hostJSON) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "host\tnode\trelease\tstate\tleader\tepoch\tvote\thigh watermark\tlog\tlog epoch\tkraft.version\tvoters\tobservers"+
		"\tcommit ms avg/max\telection ms avg/max\tfetched/s\tappended/s\t")
	for i := range hosts {
		h := &hosts[i]
		m := h.Metrics
		if m == nil {
			fmt.Fprintf(t, "%s\t%d\t%s\tdown\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n", h.Host, h.NodeID, h.Release)
			continue
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d..%d\t%d\t%d\t%d\t%d\t%d/%d\t%d/%d\t%s\t%s\t\n", h.Host, h.NodeID, h.Release,
			m.CurrentState, m.CurrentLeader, m.CurrentEpoch, m.CurrentVote, m.HighWatermark, m.LogStartOffset, m.LogEndOffset,
			m.LogEndEpoch, m.KRaftVersion, m.NumberOfVoters, m.NumberOfObservers, m.CommitLatencyAvg, m.CommitLatencyMax,
			m.ElectionLatencyAvg, m.ElectionLatencyMax, m.FetchRecordsRate, m.AppendRecordsRate)
	}
	return t.Flush()
}
