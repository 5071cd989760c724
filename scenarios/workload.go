package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// workload is the clients of a cluster: streams of small writes, and the operator's feature upgrades.
type workload struct {
	c       *cluster
	next    int64 // operation id
	ops     []request
	done    *int64
	failed  *int64
	upgrade *int64
	kraft   kraftUpgrade
	topics  topicClients
}

// kraftUpgrade is what an operator who asked for kraft.version 1 is owed: that it comes into force once nobody fails any more, whichever
// leaders failed on the way. It needs no more than that each voter tells its leader what it is (kraft-protocol 5.6, 5.7).
type kraftUpgrade struct {
	c     *cluster
	asked bool
}

// Met implements sim.Obligation.
func (u *kraftUpgrade) Met() bool { return !u.asked || u.inForce() }

// inForce reports whether whoever leads has kraft.version 1 and a voter set, both committed.
func (u *kraftUpgrade) inForce() bool {
	l := u.c.ops.leader(0)
	if l == nil {
		return false
	}
	r := nodeOf(l).replica
	mark, known := r.HighWatermark()
	return known && r.KRaftVersion() > 0 && r.VotersOffset() >= 0 && r.VotersOffset() < mark
}

// Waiting implements sim.Obligation.
func (u *kraftUpgrade) Waiting() string {
	return "voter-changes-end: an operator waits for kraft.version 1"
}

// workloadKinds are the kinds that plans may use.
func workloadKinds() []plan.Kind {
	return []plan.Kind{{
		Name: "config-writes", Doc: "a client writes a configuration again and again on whichever controller claims to be active",
		Fields: []plan.Field{{Name: "period", Type: plan.DurationField, Min: 100, Max: dayUs, Required: true, Doc: "time between two writes"},
			{Name: "cluster", Type: plan.TextField, Doc: "of which cluster, where there are several; absent: the first"}},
	}, topicsWorkload(), topicLoadWorkload(), topicsKind(), clientsWorkload()}
}

// actionKinds are the operator's steps that scenarios add to the core's faults.
func actionKinds() []plan.Kind {
	return append([]plan.Kind{{
		Name: "upgrade", Doc: "the operator asks the active controller for a metadata.version; asked again until it is in force",
		Fields: []plan.Field{{Name: "level", Type: plan.NumberField, Min: 1, Max: 127, Required: true, Doc: "metadata.version as a number"}},
	}, {
		Name: "upgrade-kraft", Doc: "the operator asks the active controller for kraft.version 1; asked again until it is in force",
	}, featureKind(), procedureActionKind(), secondProcessAction()}, append(append(append(append(errandKinds(), operationKinds()...), kipKinds()...), memberKinds()...), aimKinds()...)...)
}

func (k *workload) build(c *cluster, p *plan.Plan) error {
	*k = workload{c: c, ops: k.ops[:0], done: c.w.Stat("operations-done"), failed: c.w.Stat("operations-failed"), upgrade: c.w.Stat("upgrades-done"), kraft: kraftUpgrade{c: c}}
	c.clients.build(c, p)
	for i := range p.Workload {
		w := &p.Workload[i]
		if w.Kind == topicsKind().Name {
			c.membersOf.topics.turn(decide.HashString(w.ID), max(million, parseNs(w.Params["period"])), 0)
			continue
		}
		if w.Kind == topicLoadKind {
			if err := k.topics.buildLoad(w); err != nil {
				return err
			}
			continue
		}
		if w.Kind == topicClientsKind {
			if err := k.topics.build(k, w); err != nil {
				return err
			}
			continue
		}
		if w.Kind == clientsKind {
			if field := c.clients.begin(w); field != "" {
				return fmt.Errorf("plan: workload[%d].params.%s is %q: it must be words of %s with weights, as write:4 read:2", i, field, w.Params[field],
					strings.Join(clientWords[:], ", "))
			}
			continue
		}
		if w.Kind != "config-writes" {
			return fmt.Errorf("plan: workload[%d].kind %q is not known: use config-writes or clients", i, w.Kind)
		}
		period := parseNs(w.Params["period"])
		if period < 100_000 {
			return fmt.Errorf("plan: workload[%d].params.period is %q: it must be a duration of at least 100us", i, w.Params["period"])
		}
		cluster := c.clusterIndex(w.Params["cluster"])
		if cluster < 0 {
			return fmt.Errorf("plan: workload[%d].params.cluster %q is that of no host", i, w.Params["cluster"])
		}
		k.stream(decide.HashString(w.ID), cluster, period, 0)
	}
	c.w.Handle("upgrade", sim.ActionHandler{Do: func(w *sim.World, a *sim.Act) string {
		level := a.Number("level", 0)
		if level < 1 || level > 127 {
			return "level=" + strconv.FormatInt(level, 10) + " is no metadata.version"
		}
		k.ask(decide.HashString(a.ID), features.MetadataVersion, int16(level), 0)
		return ""
	}})
	c.w.AddObligation(&k.kraft)
	c.w.Handle("upgrade-kraft", sim.ActionHandler{Do: func(_ *sim.World, a *sim.Act) string {
		k.kraft.asked = true
		k.ask(decide.HashString(a.ID), features.KRaftVersion, 1, 0)
		return ""
	}})
	return nil
}

// stream writes once now and once every period, in the calm too: obligations want the high watermark to move.
func (k *workload) stream(entity uint64, cluster int, period, i int64) {
	k.c.w.At(k.c.w.NowNs()+period, entity, uint64(i), func() {
		if h := k.active(cluster); h != nil {
			k.submit(h, controller.Op{Kind: controller.AppendConfig, Name: writtenConfig, Value: strconv.FormatInt(int64(cluster)*clusterStep+i, 10)})
		}
		k.stream(entity, cluster, period, i+1)
	})
}

// ask sends an UpdateFeatures to the active controller until the level is in force there.
func (k *workload) ask(entity uint64, feature string, level int16, attempt int64) {
	if h := k.active(0); h != nil && levelAt(nodeOf(h), feature) < level {
		k.submit(h, controller.Op{Kind: controller.UpdateFeatures, Updates: []controller.FeatureUpdate{{
			Feature: feature, Level: level, UpgradeType: controller.Upgrade}}})
	}
	if attempt < 200 || feature == features.KRaftVersion {
		k.c.w.At(k.c.w.NowNs()+k.c.timeouts.election*1_000_000, entity, uint64(attempt), func() { k.ask(entity, feature, level, attempt+1) })
	}
}

// levelAt is the level of a feature as a controller has it.
func levelAt(n *node, feature string) int16 {
	if feature == features.KRaftVersion {
		return n.replica.KRaftVersion()
	}
	return n.control.Image().FeatureLevel(feature)
}

// active returns the host of a controller of a cluster that claims to be active; of several, the one with the highest epoch.
func (k *workload) active(cluster int) *sim.Host {
	var best *sim.Host
	epoch := int32(-1)
	for _, h := range k.c.w.Hosts() {
		n := nodeOf(h)
		if n == nil || n.control == nil || h.Booting() || !n.control.Active() || !k.c.belongs(n, cluster) {
			continue
		}
		if e := n.control.ClaimedEpoch(); e > epoch {
			best, epoch = h, e
		}
	}
	return best
}

func (k *workload) submit(h *sim.Host, op controller.Op) {
	k.next++
	op.ID = k.next
	if m := k.c.machine(k.c.hosts[h.Index()].cluster); m != nil {
		k.c.w.Request(m, 0, &clientRequest{to: int32(h.Index()), op: op})
		return
	}
	k.c.w.Request(h, laneController, &request{op: op})
}

// answered hears the outcome of an operation.
func (c *cluster) answered(op int64, result *controller.Result) {
	c.clients.answered(op, result)
	c.tools.answered(op, result)
	c.kip.answered(op, result.Code)
	if result.Code == controller.None {
		*c.work.done++
	} else {
		*c.work.failed++
	}
}
