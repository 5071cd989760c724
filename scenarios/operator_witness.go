package scenarios

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// operatorWitness notes what the rows of operators' questions are judged by. It is a checker of the worlds whose plan names a question.
type operatorWitness struct {
	c        *cluster
	w        *sim.World
	kase     *operatorCase
	row      *operatorRow
	hosts    []operatorHost
	commits  []int64 // times at which a leader raised its high watermark, in the storm
	leaders  []int64 // times at which somebody became leader
	kept     []keptBatch
	seen     string
	evidence string
	judged   bool

	expired         int64 // sessions of brokers that a controller found over
	notControllerNs int64 // when a member was told last that the controller it asked is not the active one
}

// operatorHost is what is known of one host.
type operatorHost struct {
	boots        int32
	refusals     []string // errors with which it refused to start
	fatals       []string
	loadFailures int64 // batches that its loader could not apply
	inconsistent int64 // answers INCONSISTENT_CLUSTER_ID that it got
	served       int64 // answers to a Fetch with records that it got
	bootedNs     int64
}

// keptBatch is a committed batch that must not get lost.
type keptBatch struct {
	base  int64
	epoch int32
	crc   uint32
}

// build makes it ready for a run. The judgement is a moment before the calm, which heals what the row is about.
func (o *operatorWitness) build(c *cluster, p *plan.Plan) error {
	*o = operatorWitness{c: c, w: c.w, hosts: o.hosts[:0], commits: o.commits[:0], leaders: o.leaders[:0], kept: o.kept[:0]}
	if p.Params[whatIfParam] == "" {
		return nil
	}
	if o.kase, o.row = findRow(p); o.row == nil {
		return fmt.Errorf("plan: params.%s: question %s has no row %q", rowParam, p.Params[whatIfParam], p.Params[rowParam])
	}
	for range c.hosts {
		o.hosts = append(o.hosts, operatorHost{})
	}
	c.w.Add(o)
	if o.row.restartNs > 0 {
		c.w.SetSupervisor(o.row.restartNs)
	}
	if at := o.row.keepAtUs; at > 0 {
		c.w.At(at*1000, decide.HashString(whatIfParam), 1, o.keep)
	}
	c.w.At(int64(p.StormUs)*1000-million/2, decide.HashString(whatIfParam), 0, func() { o.judge(p) })
	return nil
}

// judge compares what was seen with what is expected.
func (o *operatorWitness) judge(p *plan.Plan) {
	o.judged = true
	if p.Params[wholeParam] == rowSize(p) {
		*o.w.Evaluated(whatIf.Name)++
		o.seen, o.evidence = o.row.judge(o)
		o.w.Note(whatIfParam, o.row.name+": expected "+o.row.expect+"; seen "+o.seen)
		if o.evidence != "" {
			o.w.Violate(whatIf.Name, o.kase.id+"-"+o.evidence, o.row.name+": expected "+o.row.expect+"; seen "+o.seen)
		}
	}
	if o.row.mends != nil {
		o.row.mends(o)
	}
}

// allows reports whether a process may end like this.
func (o *operatorWitness) allows(host string, refused bool, err error) bool {
	return o.row != nil && o.row.allows != nil && o.row.allows(host, refused, err)
}

// Attach is sim.Checker.
func (o *operatorWitness) Attach(*sim.World) {}

// OnBoot is sim.LifeChecker.
func (o *operatorWitness) OnBoot(h *sim.Host) {
	o.hosts[h.Index()].boots++
	o.hosts[h.Index()].bootedNs = o.w.NowNs()
}

// OnDown is sim.LifeChecker.
func (o *operatorWitness) OnDown(h *sim.Host, kind sim.DownKind, err error) {
	switch x := &o.hosts[h.Index()]; kind {
	case sim.RefusedToStart:
		x.refusals = append(x.refusals, err.Error())
	case sim.FatalError:
		x.fatals = append(x.fatals, err.Error())
	}
}

// OnSend is sim.SendChecker.
func (o *operatorWitness) OnSend(_, to *sim.Host, m sim.Message) {
	if to == nil || o.judged {
		return
	}
	if code, ok := topLevel(m); ok && code == raft.InconsistentClusterID {
		o.hosts[to.Index()].inconsistent++
	}
	if a, ok := m.(*memberAnswer); ok && a.code == controller.NotController {
		o.notControllerNs = o.w.NowNs()
	}
	if f, ok := m.(*raft.FetchResponse); ok && len(f.Records) > 0 {
		o.hosts[to.Index()].served++
	}
}

// OnProtocol is sim.ProtocolChecker.
func (o *operatorWitness) OnProtocol(h *sim.Host, x sim.Observation) {
	if l, ok := x.(*invariants.LoaderObservation); ok && l.E.Kind == loader.LoadFailed {
		o.hosts[h.Index()].loadFailures++
	}
	if m, ok := x.(*invariants.MetadataObservation); ok && m.E.Kind == controller.BrokerSessionExpired && !o.judged {
		o.expired++
	}
	e := raftEventOf(x)
	switch {
	case e == nil || o.judged:
	case e.Kind == raft.RoleChanged && e.Role == raft.Leader:
		o.leaders = append(o.leaders, o.w.NowNs())
	case e.Kind == raft.HighWatermarkAdvanced && e.Role == raft.Leader:
		o.commits = append(o.commits, o.w.NowNs())
	}
}

// of returns what is known of a host by its id.
func (o *operatorWitness) of(id string) *operatorHost {
	if h := o.w.Host(id); h != nil {
		return &o.hosts[h.Index()]
	}
	return &operatorHost{}
}

// commitsSince counts the commits from a time of the storm on.
func (o *operatorWitness) commitsSince(ms int64) (n int64) { return after(o.commits, ms) }

// electionsSince counts the leaders that began from a time of the storm on.
func (o *operatorWitness) electionsSince(ms int64) (n int64) { return after(o.leaders, ms) }

func after(times []int64, ms int64) (n int64) {
	for _, t := range times {
		if t >= ms*million {
			n++
		}
	}
	return n
}

// longestGapMs is the longest time without a commit, from one time of the storm to its end.
func (o *operatorWitness) longestGapMs(fromMs int64) int64 {
	last, longest := fromMs*million, int64(0)
	for _, t := range o.commits {
		if t < last {
			continue
		}
		longest, last = max(longest, t-last), t
	}
	return max(longest, o.w.NowNs()-last) / million
}

// goesOn is the judgement of rows in which the cluster must, or must not, commit at the end: in the last 400 ms.
func (o *operatorWitness) goesOn(must bool) (seen, evidence string) {
	n := o.commitsSince(o.w.NowNs()/million - 400)
	seen = "no commit at the end"
	if n > 0 {
		seen = "commits until the end"
	}
	switch {
	case must && n == 0:
		return seen, "stopped"
	case !must && n > 0:
		return seen, "went-on"
	}
	return seen, ""
}

// caughtUp reports whether a node runs and has all that is committed.
func (o *operatorWitness) caughtUp(id string) bool {
	h := o.w.Host(id)
	return h != nil && o.c.book.caughtUp(h)
}

// storedID is the cluster id in the metadata directory of a host, as text.
func (o *operatorWitness) storedID(id string) string {
	h := o.w.Host(id)
	if h == nil {
		return ""
	}
	data, _ := h.Volume().File(metaprops.Path(o.c.hosts[h.Index()].metadataDir))
	props, err := metaprops.Parse(data, metaprops.V2)
	if err != nil {
		return ""
	}
	return props.ClusterID
}

// keep remembers what the leader has committed, from the bytes of its log.
func (o *operatorWitness) keep() {
	l := o.c.ops.leader(0)
	if l == nil {
		return
	}
	if mark, known := nodeOf(l).replica.HighWatermark(); known {
		o.kept = o.batches(l, mark, o.kept[:0])
	}
}

// lost is the number of kept batches that the leader's log does not have.
func (o *operatorWitness) lost() (n int64) {
	l := o.c.ops.leader(0)
	if l == nil {
		return -1
	}
	have := o.batches(l, 1<<62, nil)
	for _, b := range o.kept {
		found := false
		for _, x := range have {
			found = found || x == b
		}
		if !found {
			n++
		}
	}
	return n
}

// batches lists the batches in the segments of a host.
func (o *operatorWitness) batches(h *sim.Host, below int64, list []keptBatch) []keptBatch {
	prefix := bootstrap.PartitionPath(o.c.hosts[h.Index()].metadataDir) + "/"
	h.Volume().Walk(func(name string, data []byte) {
		if !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, ".log") {
			return
		}
		for len(data) > 0 {
			batch, rest, err := record.NextFileBatch(data)
			if err != nil || len(batch) == 0 || batch.BaseOffset() >= below {
				return
			}
			list, data = append(list, keptBatch{batch.BaseOffset(), batch.LeaderEpoch(), batch.CRC()}), rest
		}
	})
	return list
}

// saw makes one word of several facts: the first that is wrong.
func saw(seen string, facts ...any) (string, string) {
	for i := 0; i+1 < len(facts); i += 2 {
		if !facts[i].(bool) {
			return seen, facts[i+1].(string)
		}
	}
	return seen, ""
}
