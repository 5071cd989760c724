package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The ends of the ranges of parameters: they keep sums and products far below 64 bits.
const (
	dayUs     = 24 * 3600 * 1_000_000
	longestMs = 1_000_000_000
	mostBytes = 1 << 40
	mostDirs  = 64
	// leastBatchBytes holds any single record of the metadata log: a batch that cannot hold one would stop every leader.
	leastBatchBytes = 1024
)

// parameters are what the plans of the scenarios may say, as `list params` shows it. Readers are readSettings and, for Kafka's
// scenarios, kafkaCluster.build; a name that is not here is refused before either sees it.
func parameters() []plan.Parameters {
	kinds := []string{kindController, kindObserver, kindBroker, kindOperator}
	return []plan.Parameters{
		{Plan: clusterParameters(), Host: hostParameters(), HostKinds: kinds, Check: checkHosts},
		{Scenario: kipFamily, Plan: append(clusterParameters(), kipCaseParameters()...), Host: hostParameters(), HostKinds: kinds, Check: checkHosts},
		{Scenario: operatorFamily, Plan: append(clusterParameters(), operatorParameters()...), Host: hostParameters(), HostKinds: kinds, Check: checkHosts},
		{Scenario: "kafka/", Plan: append(clusterParameters(), kafkaParameters()...), Host: hostParameters(), HostKinds: kinds, Check: checkHosts},
	}
}

func numberField(name string, low, high int64, doc string) plan.Field {
	return plan.Field{Name: name, Type: plan.NumberField, Min: low, Max: high, Doc: doc}
}

// below says that a field with that usual value is to be below others.
func below(f plan.Field, usual int64, others ...string) plan.Field {
	f.Usual, f.Below = usual, others
	return f
}

// usually says what an absent field counts as.
func usually(f plan.Field, usual int64) plan.Field { return below(f, usual) }

func wordField(name, doc string, words ...string) plan.Field {
	return plan.Field{Name: name, Type: plan.WordField, Words: words, Doc: doc}
}

// judged marks parameters that say by what a run is judged.
func judged(fields ...plan.Field) []plan.Field {
	for i := range fields {
		fields[i].Judged = true
	}
	return fields
}

func textField(name, doc string) plan.Field {
	return plan.Field{Name: name, Type: plan.TextField, Doc: doc}
}

// kipCaseParameters are what the cases of KIP-1262 add.
func kipCaseParameters() []plan.Field {
	return judged(
		wordField(caseParam, "case of KIP-1262 whose outcome is judged, t01 to t34; absent: none", kipCaseIDs()...),
		textField("broken", "case t04: the directory whose file cannot be written"),
		textField("half", "case t30: the host of which one directory is formatted"),
	)
}

// clusterParameters are those of plan.params.
func clusterParameters() []plan.Field {
	ms := func(name string, low int64, doc string) plan.Field { return numberField(name, low, longestMs, doc) }
	return append(append(choiceParameters(), memberParameters()...), []plan.Field{
		wordField("variant", "of the metadata bootstrap; absent: released", "released", "final-mar", "final-apr", "draft"),
		wordField("quorum", "voters by configuration or by records; absent: static", "static", "dynamic"),
		wordField("measure", "what else the statistics of the verdict hold; absent: nothing", "nothing", "availability"),
		textField("cluster_id", "with which the operator formats; absent: a fixed one"),
		textField("listener", "name of the controllers' listener; absent: CONTROLLER"),
		textField("level", "--release-version of the format step, as 4.0 or 4.4-IV2; absent or empty: the release's default"),
		textField(fromParam, "host whose storage is a directory tree in the plan"),
		wordField("quiet", "nothing in the plan cuts a leader off: as long as it lives nobody asks for votes; absent: false", "false", "true"),
		wordField("election_timer", "whether voters without leader and vote are judged by how long they wait: clocks and disks of the plan are quiet; absent: free", "free", "judged"),
		textField("calm_without", "hosts that stay down through the calm, comma separated, where they are a minority of the voters"),
		wordField("wire", "messages between nodes cross as structs or as frames of bytes; absent: structs", "structs", "bytes"),
		wordField("corrupt", "bits that network.corrupt_ppm may flip: of a batch in a fetch answer those that its checksum covers, or those of its header "+
			"that a follower compares, or any of anything; absent: records", "records", "header", "any"),
		wordField("start_order", "of a node: listeners before raft, or raft a while before them; absent: listeners-first", "listeners-first", "raft-first"),
		numberField("min_voters", 0, 64, "an operator leaves at least so many, 0: asks for the last to go as well; absent: 2"),
		ms("election_timeout_ms", 1, "controller.quorum.election.timeout.ms; absent: 1000"),
		usually(ms("fetch_timeout_ms", 1, "controller.quorum.fetch.timeout.ms; absent: 2000"), 2000),
		usually(ms("request_timeout_ms", 1, "controller.quorum.request.timeout.ms; absent: 2000"), 2000),
		ms("retry_backoff_ms", 1, "controller.quorum.retry.backoff.ms; absent: 20"),
		ms("election_backoff_max_ms", 1, "controller.quorum.election.backoff.max.ms; absent: 1000"),
		ms("append_linger_ms", 0, "controller.quorum.append.linger.ms; absent: 25"),
		below(ms("fetch_max_wait_ms", 1, "longest wait of a fetch at the leader; absent: 500"), 500, "fetch_timeout_ms", "request_timeout_ms"),
		ms("max_idle_interval_ms", 0, "metadata.max.idle.interval.ms, 0 writes no NoOpRecords; absent: 500"),
		numberField("fetch_max_bytes", 1, math.MaxInt32, "of one fetch answer; absent: 1 MiB"),
		numberField("max_batch_bytes", leastBatchBytes, math.MaxInt32, "of one batch of the leader; absent: 8 MiB"),
		numberField("max_batch_records", 1, math.MaxInt32, "of one batch of the leader; absent: no limit"),
		numberField(bootstrapParam, 0, 10_000, "quotas, access control entries, credentials and tokens in the checkpoint that a controller is formatted with; absent: none"),
		numberField("records_per_batch", 1, math.MaxInt32, "of one append of the controller; absent: 10000"),
		numberField("listener_max_bytes", 1, math.MaxInt32, "of one read by a listener; absent: 8 MiB"),
		numberField("segment_bytes", 1, mostBytes, "metadata.log.segment.bytes; absent: 1 GiB"),
		numberField("snapshot_max_bytes", 1, mostBytes, "metadata.log.max.record.bytes.between.snapshots; absent: 20 MiB"),
		ms("snapshot_interval_ms", 0, "metadata.log.max.snapshot.interval.ms, 0: none; absent: an hour"),
		numberField("snapshot_append_records", 1, math.MaxInt32, "of one append to a snapshot; absent: 1024"),
		numberField("snapshot_batch_bytes", leastBatchBytes, math.MaxInt32, "of one batch of a snapshot; absent: 8 MiB"),
		numberField("fetch_snapshot_max_bytes", 1, math.MaxInt32, "of one piece of a download; absent: 1 MiB"),
		numberField("retention_bytes", 0, mostBytes, "metadata.max.retention.bytes, 0: no limit; absent: 100 MiB"),
		ms("retention_ms", 0, "metadata.max.retention.ms, 0: no limit; absent: 7 days"),
		ms("clean_interval_ms", 1, "time between two looks at the retention; absent: 60000"),
		ms("delete_delay_ms", 1, "file.delete.delay.ms; absent: 60000"),
	}...)
}

// kafkaParameters are those that only Kafka's own scenarios have.
func kafkaParameters() []plan.Field {
	return []plan.Field{
		numberField("append_ms", 1, longestMs, "time between two appends; absent: 2"),
		numberField("append_jitter_ms", 1, longestMs, "an append is late by less than that; absent: 3"),
		numberField("discovery_interval_ms", 0, longestMs, "how often a voter asks for a leader, 0: as fast as it can; absent: 0"),
		wordField("snapshots", "whether nodes make snapshots; absent: true", "true", "false"),
		textField("play", "kafka/d6: the name of the scenario that it plays"),
		numberField("victim", 0, math.MaxInt32, "picks the node that a script is hard on; absent: 0"),
	}
}

// hostParameters are those of hosts[].params.
func hostParameters() []plan.Field {
	return []plan.Field{
		numberField("node_id", 0, math.MaxInt32, "node.id; absent: the place in the plan, from 1"),
		textField("directory_id", "of the metadata directory, where the format step is told it"),
		wordField("format", "who formats it: the operator (full; first: only one directory; two-ids: each of two with another id; level-only: just a bootstrap.checkpoint; cut: killed before it wrote meta.properties), nobody, or it holds files; absent: full",
			"full", "first", "none", "tree", "golden:*", "two-ids", "level-only", formatCut),
		textField("refuses", "a piece of the error with which a start of this host must be refused; absent: none is declared"),
		textField("cluster_id", "with which the operator formats this host; absent: the cluster's"),
		wordField("asks", "kind operator: what the machine asks for, changes of the voter set, or whatever clients and operators ask of controllers; absent: voters",
			"voters", "requests"),
		textField("name", "advertised host name; absent: the id"),
		textField("quorum_voters", "hosts that controller.quorum.voters lists on this host, comma separated; absent: all controllers"),
		textField("cluster", "to which of several clusters in one network the host belongs; absent: there is one"),
		textField("listeners", "names of all listeners of a controller in the order of its configuration, comma separated; absent: the one of params.listener"),
		numberField("port", 0, math.MaxUint16, "of the controllers' listener; absent: 9093"),
		numberField("dirs", 1, mostDirs, "how many log directories there are; absent: 1"),
		textField(namesParam, "names of the log directories, with / between them"),
		numberField("metadata_dir", 0, mostDirs, "which of them has the metadata log, from 0; absent: 0"),
		wordField("unstable", "unstable.feature.versions.enable; absent: false", "false", "true"),
		wordField("auto_join", "controller.quorum.auto.join.enable; absent: false", "false", "true"),
		textField("limits", "the largest versions that the host's software knows, where less than its release: NAME:VERSION of RPCs and kraft.version, with spaces between them"),
		wordField("twin", "its node id is another host's too; absent: false", "false", "true"),
		textField("bootstrap", "controller.quorum.bootstrap.servers as ids of hosts, comma separated, or nowhere: a name that never resolves; absent: the initial voters"),
		textField(treePrefix+"*", "format=tree: a file, in base64"),
		textField(treeEmpty+"*", "format=tree: a directory without a file"),
	}
}

// checkHosts looks at what no single parameter shows: names that must exist, and node ids that must differ.
func checkHosts(p *plan.Plan) error {
	type node struct {
		cluster string
		id      int64
	}
	owners := make(map[node]string, len(p.Hosts))
	for i := range p.Hosts {
		h := &p.Hosts[i]
		refuse := func(field, format string, args ...any) error {
			return &plan.FieldError{Field: fmt.Sprintf("hosts[%d].%s", i, field), Problem: fmt.Sprintf(format, args...)}
		}
		if h.Release != "" {
			if _, err := features.Find(h.Release); err != nil {
				return refuse("release", "%q is not one of %s", h.Release, strings.Join(features.Names(), ", "))
			}
		}
		if _, err := parseLimits(h.Params["limits"]); err != nil {
			return refuse("params.limits", "%v", err)
		}
		if name, golden := strings.CutPrefix(h.Params["format"], "golden:"); golden && !slices.Contains(goldenNames(), name) {
			return refuse("params.format", "golden case %q is not there: the cases are %s", name, strings.Join(goldenNames(), ", "))
		}
		if h.Kind == kindOperator {
			continue
		}
		if names, own := h.Params["listeners"], listenerOf(p); names != "" && !slices.Contains(strings.Split(names, ","), own) {
			return refuse("params.listeners", "%q does not have %s, which raft goes by", names, own)
		}
		id, err := h.Params.Int64("node_id", int64(i+1))
		if err != nil {
			return err
		}
		key := node{h.Params["cluster"], id}
		if owner, taken := owners[key]; taken && h.Params["twin"] != "true" {
			return refuse("params.node_id", "%d is the node id of %s already: choose another", id, owner)
		}
		owners[key] = h.ID
	}
	if err := checkDirectoryIDs(p); err != nil {
		return err
	}
	return checkBootstrap(p)
}

// listenerOf is the first of controller.listener.names in a plan.
func listenerOf(p *plan.Plan) string {
	if name := p.Params["listener"]; name != "" {
		return name
	}
	return listenerName
}
