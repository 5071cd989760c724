package scenarios

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The roles of a host, Host.Kind in plans.
const (
	kindController = "controller" // a voter
	kindObserver   = "observer"   // a controller that is no voter
	kindBroker     = "broker"
)

const (
	listenerName = "CONTROLLER"
	raftPort     = 9093
)

// settings is a plan read once: what all nodes share, and one entry per host.
type settings struct {
	variant          controller.Variant
	selfFormat       startup.SelfFormat
	choices          kipChoices
	dynamic          bool
	clusterID        string
	listener         string // first of controller.listener.names
	level            string // --release-version of the format step, "" for the release's default
	timeouts         timeouts
	fetchMaxBytes    int32
	maxBatchBytes    int32
	listenerBytes    int32
	segmentBytes     int64
	snapshots        snapshotSettings
	recordsPerBatch  int32
	without          []string // hosts that stay down in the calm
	batchRecords     int32
	idleNs           int64
	bootstrapRecords int64 // that a checkpoint holds beside what the format tool wrote
	hosts            []hostSettings
	greets           bool  // a connection begins with an exchange of ApiVersions
	bytesOnWire      bool  // messages between nodes cross as frames
	raftFirst        bool  // listeners are registered when raft has run for a while
	timed            bool  // election timers are judged
	quiet            bool  // nothing in the plan cuts a leader off
	corruptHeader    bool  // bits flip that a follower compares with what it has
	corruptAny       bool  // any bit of a frame may flip, not only those that a batch's checksum covers
	minVoters        int32 // an operator leaves at least so many
	members          memberSettings
	quorums          []quorumOf // by cluster; one, where hosts don't name several
}

// snapshotSettings is what a plan says of snapshots and retention; 0 switches a retention limit and the interval off.
type snapshotSettings struct {
	maxBytes, intervalNs           int64
	retentionBytes, retentionMs    int64
	cleanIntervalMs, deleteDelayMs int64
	fetchBytes, batchBytes         int32
	recordsPerAppend               int32
}

// timeouts in milliseconds, as Kafka's keys have them.
type timeouts struct {
	election, fetch, request, backoff, electionBackoff, linger, wait int64
}

// hostSettings is one node.
type hostSettings struct {
	id          string
	nodeID      int32
	kind        string
	release     *features.Release
	dirs        []string
	metadataDir string
	limits      limits      // of what the release knows
	unstable    bool        // unstable.feature.versions.enable
	directoryID record.UUID // of the metadata directory, where the format step is told it
	format      string      // full, first, none, tree, golden:CASE
	refuses     string      // a piece of the error with which a start is declared to be refused, "" for none
	unserved    bool        // an operator never came to do what the plan says
	errand      *errand     // what an operator does before the next start
	clusterID   string
	name        string // advertised host name
	port        uint16
	names       []string // of its listeners, in the order of its configuration; nil: the first of controller.listener.names alone
	autoJoin    bool     // controller.quorum.auto.join.enable
	bootstrap   []string // controller.quorum.bootstrap.servers as ids of hosts, reached by their bootstrap names; nil: the initial voters by their own
	advertised  uint16   // port that it tells others, 0: the one on which it listens
	moved       bool     // it listens elsewhere than at the start of this run
	lost        names    // names that lead nowhere from here: of its bootstrap servers, or those that voters advertise; "": none
	replaced    bool     // its disk was, in this run: the operator formats it as a node that is no voter
	cluster     int      // index in quorums
	swapped     bool     // its disk is in another machine for a while, in this plan
	oldName     string   // under which it was known before it was renamed, "" for none
	requests    bool     // of an operator's host: clients and operators ask controllers from here
	keepsName   bool     // the old name leads to it too
	quorum      []string // ids of the hosts that its own configuration lists as voters, nil: all controllers
	pointed     []string // bootstrap servers in place of its own, as ids of hosts: somebody mixed up the configurations
}

// readSettings reads a plan's parameters. An error names the parameter.
func readSettings(p *plan.Plan) (*settings, error) {
	r := &reader{where: "params", params: p.Params}
	s := &settings{
		clusterID: r.text("cluster_id", "MkU3OEVBNTcwNTJENDM2Qg"),
		listener:  r.text("listener", listenerName),
		greets:    true,
		level:     r.text("level", ""),
		dynamic:   r.word("quorum", "static", "static", "dynamic") == "dynamic",
		timeouts: timeouts{
			election: r.number("election_timeout_ms", 1000), fetch: r.number("fetch_timeout_ms", 2000),
			request: r.number("request_timeout_ms", 2000), backoff: r.number("retry_backoff_ms", 20),
			electionBackoff: r.number("election_backoff_max_ms", 1000), linger: r.number("append_linger_ms", 25),
			wait: r.number("fetch_max_wait_ms", 500),
		},
		fetchMaxBytes:    int32(r.within("fetch_max_bytes", 1<<20, math.MaxInt32)),
		maxBatchBytes:    int32(r.within("max_batch_bytes", 8<<20, math.MaxInt32)),
		listenerBytes:    int32(r.within("listener_max_bytes", 8<<20, math.MaxInt32)),
		segmentBytes:     r.number("segment_bytes", 1<<30),
		recordsPerBatch:  int32(r.within("records_per_batch", 10_000, math.MaxInt32)),
		batchRecords:     int32(r.within("max_batch_records", math.MaxInt32, math.MaxInt32)),
		idleNs:           r.number("max_idle_interval_ms", 500) * 1_000_000,
		bootstrapRecords: r.number("bootstrap_records", 0),
		minVoters:        int32(r.within("min_voters", 2, math.MaxInt32)),
	}
	s.bytesOnWire = r.word("wire", "structs", "structs", "bytes") == "bytes"
	s.raftFirst = r.word("start_order", "listeners-first", "listeners-first", "raft-first") == "raft-first"
	s.quiet = r.word("quiet", "false", "false", "true") == "true"
	s.timed = r.word("election_timer", "free", "free", "judged") == "judged"
	corrupt := r.word("corrupt", "records", "records", "header", "any")
	s.corruptAny, s.corruptHeader = corrupt == "any", corrupt == "header"
	s.snapshots = snapshotSettings{
		maxBytes:       max(1, r.number("snapshot_max_bytes", loader.DefaultSnapshotMaxBytes)),
		intervalNs:     r.number("snapshot_interval_ms", loader.DefaultSnapshotIntervalNs/1_000_000) * 1_000_000,
		retentionBytes: r.number("retention_bytes", raftlog.DefaultRetentionBytes), retentionMs: r.number("retention_ms", raftlog.DefaultRetentionMs),
		cleanIntervalMs: max(1, r.number("clean_interval_ms", 60_000)), deleteDelayMs: max(1, r.number("delete_delay_ms", raftlog.DefaultDeleteDelayMs)),
		fetchBytes:       int32(max(1, r.within("fetch_snapshot_max_bytes", 1<<20, math.MaxInt32))),
		batchBytes:       int32(max(1, r.within("snapshot_batch_bytes", 8<<20, math.MaxInt32))),
		recordsPerAppend: int32(max(1, r.within("snapshot_append_records", int64(loader.DefaultSnapshotAppendCount), math.MaxInt32))),
	}
	s.choices.read(r)
	s.members.read(r)
	switch r.word("variant", "released", "released", "final-mar", "final-apr", "draft") {
	case "released":
		s.variant, s.selfFormat = controller.Released, startup.Never
	case "final-mar":
		s.variant, s.selfFormat = controller.FinalMar, startup.UnlessBootstrap
	case "final-apr":
		s.variant, s.selfFormat = controller.FinalApr, startup.UnlessDynamic
	case "draft":
		s.variant, s.selfFormat = controller.Draft, startup.Always
	}
	if text := r.text("calm_without", ""); text != "" {
		s.without = strings.Split(text, ",")
	}
	if r.err != nil {
		return nil, r.err
	}
	if p.Network.CorruptPpm > 0 && !s.bytesOnWire {
		return nil, errors.New("plan: network.corrupt_ppm needs params.wire to be bytes: structs have no bits to flip")
	}
	if err := s.readHosts(p); err != nil {
		return nil, err
	}
	return s, s.quorum()
}

func (s *settings) readHosts(p *plan.Plan) error {
	for i := range p.Hosts {
		h := &p.Hosts[i]
		r := &reader{where: "hosts[" + strconv.Itoa(i) + "].params", params: h.Params}
		release := h.Release
		if release == "" {
			release = s.defaultRelease()
		}
		rel, err := features.Find(release)
		if err != nil {
			return fmt.Errorf("plan: hosts[%d].release: %w", i, err)
		}
		e := hostSettings{
			id: h.ID, kind: h.Kind, release: rel, nodeID: int32(r.within("node_id", int64(i+1), math.MaxInt32)),
			format: r.text("format", "full"), refuses: r.text("refuses", ""), clusterID: r.text("cluster_id", s.clusterID),
			name: r.text("name", h.ID), port: uint16(r.within("port", raftPort, math.MaxUint16)),
		}
		e.cluster = s.clusterNamed(r.text("cluster", ""), e.clusterID)
		e.dirs, e.metadataDir = r.directories()
		if list := r.text("listeners", ""); list != "" {
			e.names = strings.Split(list, ",")
		}
		e.unstable = r.word("unstable", "false", "false", "true") == "true"
		e.requests = r.word("asks", "voters", "voters", "requests") == "requests" && e.kind == kindOperator
		e.autoJoin = r.word("auto_join", "false", "false", "true") == "true"
		if list := r.text("quorum_voters", ""); list != "" {
			e.quorum = strings.Split(list, ",")
		}
		if list := r.text("bootstrap", ""); list != "" {
			e.bootstrap = strings.Split(list, ",")
		}
		if e.limits, err = parseLimits(r.text("limits", "")); err != nil {
			return fmt.Errorf("plan: hosts[%d].params.limits: %w", i, err)
		}
		if id := r.text("directory_id", ""); id != "" {
			if e.directoryID, err = record.ParseUUID(id); err != nil {
				return fmt.Errorf("plan: hosts[%d].params.directory_id: %w", i, err)
			}
		}
		if r.err != nil {
			return r.err
		}
		switch e.kind {
		case kindController, kindObserver, kindBroker:
		case kindOperator:
			e.format = "none"
		default:
			return fmt.Errorf("plan: hosts[%d].kind %q: use controller, observer, broker or operator", i, e.kind)
		}
		s.hosts = append(s.hosts, e)
	}
	return nil
}

func (s *settings) defaultRelease() string {
	if s.variant == controller.Released {
		return "upstream-4.5"
	}
	return "kip1262"
}

// raftConfig is the replica's configuration on one host.
func (s *settings) raftConfig(h *hostSettings, who *startup.Node) raft.Config {
	c := raft.DefaultConfig()
	c.NodeID, c.DirectoryID, c.ClusterID = h.nodeID, who.DirectoryID, who.ClusterID
	c.ListenerName = s.listener
	c.CanBecomeVoter = h.kind != kindBroker
	if c.CanBecomeVoter {
		c.Listeners = h.listeners(s.listener, h.told(), nil)
	}
	c.StaticVoters, c.BootstrapServers = s.staticQuorum(h), s.bootstrapServers(h)
	c.AutoJoin = h.autoJoin
	c.RefuseWhileUnknown = s.choices.refuseUnknown
	c.Versions, c.MaxKRaftVersion = h.software()
	t := &s.timeouts
	c.ElectionTimeoutMs, c.FetchTimeoutMs, c.RequestTimeoutMs = t.election, t.fetch, t.request
	c.RetryBackoffMs, c.ElectionBackoffMaxMs, c.AppendLingerMs = t.backoff, t.electionBackoff, t.linger
	c.FetchMaxWaitMs = int32(t.wait)
	c.FetchMaxBytes, c.MaxBatchBytes, c.ListenerMaxBytes = s.fetchMaxBytes, s.maxBatchBytes, s.listenerBytes
	c.MaxBatchRecords = s.batchRecords
	if s.batchRecords < 1<<20 {
		c.MaxUnwrittenBatches = 1 << 20 // small batches must not turn Kafka's limit of ten into a limit of ten records
	}
	snap := &s.snapshots
	c.FetchSnapshotMaxBytes, c.MaxSnapshotBatchBytes, c.CleanIntervalMs = snap.fetchBytes, snap.batchBytes, snap.cleanIntervalMs
	c.Log = raftlog.Config{
		SegmentBytes: s.segmentBytes, RetentionBytes: limit(snap.retentionBytes), RetentionMs: limit(snap.retentionMs), DeleteDelayMs: snap.deleteDelayMs,
	}
	return c
}

// limit is a retention limit as raftlog has it: none is negative there.
func limit(v int64) int64 {
	if v == 0 {
		return -1
	}
	return v
}

// reader reads parameters and keeps the first error.
type reader struct {
	where  string
	params plan.Params
	err    error
}

// directories are the log directories of a host: as many as "dirs" says, dir0 and so on unless "dir_names" names them. The
// metadata directory is one of them, or one more.
func (r *reader) directories() (dirs []string, metadata string) {
	const maxDirs = 64
	names := strings.Split(r.text(namesParam, ""), "/")
	if names[0] == "" {
		names = nil
		for d := range max(1, r.within("dirs", 1, maxDirs)) {
			names = append(names, "dir"+strconv.FormatInt(d, 10))
		}
	}
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			r.fail(namesParam, r.params[namesParam], "names of directories with / between them")
			return nil, ""
		}
		dirs = append(dirs, "/data/"+name)
	}
	m := r.number("metadata_dir", 0)
	if m < int64(len(dirs)) {
		return dirs, dirs[m]
	}
	return dirs, "/data/dir" + strconv.FormatInt(m, 10)
}

func (r *reader) text(name, absent string) string {
	if v, ok := r.params[name]; ok {
		return v
	}
	return absent
}

func (r *reader) number(name string, absent int64) int64 {
	v, ok := r.params[name]
	if !ok {
		return absent
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		r.fail(name, v, "a whole number, not negative")
		return absent
	}
	return n
}

// within is a number of at most highest.
func (r *reader) within(name string, absent, highest int64) int64 {
	n := r.number(name, absent)
	if n > highest {
		r.fail(name, r.params[name], "at most "+strconv.FormatInt(highest, 10))
		return absent
	}
	return n
}

func (r *reader) word(name, absent string, words ...string) string {
	v := r.text(name, absent)
	for _, w := range words {
		if v == w {
			return v
		}
	}
	r.fail(name, v, "one of "+strings.Join(words, ", "))
	return absent
}

func (r *reader) fail(name, value, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("plan: %s.%s is %q: it must be %s", r.where, name, value, want)
	}
}
