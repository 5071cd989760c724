package scenarios

import (
	"errors"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// casesOfIdentity are the cases of disks that went and of node ids that two machines have.
func casesOfIdentity() []kipCase {
	return []kipCase{{
		id: "t27", doc: "a static voter's volume is empty at its restart, kraft.version 0", variants: everyVariant, due: 800_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1}, &kipProfile)
			p.Unrestricted = true
			act(p, "wipe", "wipe", d.between("at", 80_000, 250_000), "host", "c1", "down", micros(d.oneOf("down", 1_000, 10_000)))
		},
		reached: func(k *kipWitness) bool {
			return k.of("c1").wiped && (len(k.of("c1").refusals) > 0 || k.of("c1").dirs[0].found)
		},
		wrong: func(k *kipWitness) (string, string) {
			if c1 := k.of("c1"); !k.writesID() && c1.dirs[0].found {
				return "started", "c1 lost its disk and formatted itself, though it is a bootstrap controller"
			}
			return "", ""
		},
		allows: func(k *kipWitness, host string, refused bool, err error) bool {
			return host == "c1" && k.of("c1").wiped && (refusedUnformatted(refused, err) || errors.Is(err, raft.ErrInconsistentLeader))
		},
	}, {
		id: "t28", doc: "the same at kraft.version 1", variants: everyVariant, due: 700_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, dynamic: true}, &kipProfile)
			p.Unrestricted = true
			act(p, "wipe", "wipe", d.between("at", 80_000, 250_000), "host", "c1", "down", micros(d.oneOf("down", 1_000, 10_000)))
		},
		reached: func(k *kipWitness) bool {
			return k.of("c1").wiped && (len(k.of("c1").refusals) > 0 || k.of("c1").dirs[0].found)
		},
		wrong: func(k *kipWitness) (string, string) {
			c1, spec := k.of("c1"), k.c.hosts[0]
			switch {
			case spec.id != "c1":
				return "", ""
			case !k.c.hasRecord() && c1.dirs[0].found:
				return "started", "c1 lost its disk and formatted itself"
			case c1.dirs[0].found && c1.dirs[0].props.DirectoryID == spec.directoryID && spec.directoryID != record.ZeroUUID:
				return "same-directory", "c1 has the directory id of the disk that is gone"
			case c1.voted:
				return "candidate", "c1 asked for votes, and lives on a disk that no voter set names"
			}
			return "", ""
		},
		allows: func(k *kipWitness, host string, refused bool, err error) bool {
			wiped := k.of("c1").wiped
			return host == "c1" && wiped && refusedUnformatted(refused, err) || wiped && errors.Is(err, raft.ErrInconsistentLeader)
		},
	}, {
		id: "t32", doc: "two machines with one node id that both join by themselves", variants: everyVariant, due: 500_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, observers: 1, dynamic: true}, &kipProfile)
			p.Unrestricted = true
			twin := hostIn(p, "o1")
			twin.Params["node_id"], twin.Params["twin"], twin.Params["auto_join"] = "1", "true", "true"
			hostIn(p, "c1").Params["auto_join"] = "true"
			twin.StartUs = plan.Int64(d.between("late", 80_000, 150_000))
		},
		reached: func(k *kipWitness) bool { return k.notes["evicted"] > 0 },
		wrong: func(k *kipWitness) (string, string) {
			if k.notes["evicted"] > 0 {
				return "evicted", "node 1 asked for the removal of the voter that has its node id and another directory, " + number(k.notes["evicted"]) + " times"
			}
			return "", ""
		},
		allows: func(_ *kipWitness, _ string, _ bool, err error) bool {
			return errors.Is(err, raft.ErrInconsistentLeader)
		},
	}}
}

// mayFormatItself reports whether a host may start unformatted in the variant of the run.
func (s *settings) mayFormatItself(h *hostSettings) bool {
	switch s.variant {
	case controller.Released:
		return false
	case controller.FinalMar:
		return s.dynamic || h.kind != kindController
	}
	return true
}

// expectsRefusal reports whether the variant of the run refuses a host that nobody formatted: plans of cases are run in variants for
// which they were not made.
func (k *kipWitness) expectsRefusal(host string) bool {
	for i := range k.c.hosts {
		h := &k.c.hosts[i]
		if h.id == host && h.kind != kindOperator {
			return h.format != "full" && h.format != "two-ids" && !k.c.mayFormatItself(h)
		}
	}
	return false
}

// refuseMajority says that a majority of the voters is refused for that reason.
func (k *kipWitness) refuseMajority() string {
	voters, refused := 0, 0
	for i := range k.c.hosts {
		if h := &k.c.hosts[i]; h.kind == kindController {
			voters++
			if h.format != "first" && k.expectsRefusal(h.id) {
				refused++
			}
		}
	}
	if refused*2 >= voters {
		return "the variant wants the voters formatted, and a majority is not"
	}
	return ""
}

// refusedForFormat reports whether a refusal is one of those.
func (k *kipWitness) refusedForFormat(host string, refused bool, err error) bool {
	return k.expectsRefusal(host) && (refusedUnformatted(refused, err) || refused && errors.Is(err, startup.ErrIncomplete))
}
