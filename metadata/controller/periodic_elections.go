package controller

import (
	"github.com/kraftsim/kraftsim/metadata/records"
)

// maxPeriodicElections bounds what one run of a periodic task changes; when there is more, it runs again at once.
const maxPeriodicElections = 1000

// electionDeadlines are when the periodic tasks of leadership are due, noDeadline while inactive or switched off.
type electionDeadlines struct {
	balanceNs, uncleanNs int64
}

// scheduleElections begins the intervals anew with an activation, and ends them with a renounce.
func (c *Controller) scheduleElections(nowNs int64) {
	c.elections = electionDeadlines{noDeadline, noDeadline}
	if c.Active() && c.cfg.ImbalanceCheckNs > 0 {
		c.elections.balanceNs = nowNs + c.cfg.ImbalanceCheckNs
	}
	if c.Active() && c.cfg.UncleanCheckNs > 0 {
		c.elections.uncleanNs = nowNs + c.cfg.UncleanCheckNs
	}
}

// deadlineNs is the earlier of both, noDeadline for neither.
func (d *electionDeadlines) deadlineNs() int64 { return earlier(d.balanceNs, d.uncleanNs) }

// pollElections runs what is due (7.1). The returned error is fatal.
func (c *Controller) pollElections(nowNs int64) error {
	if c.Active() && due(c.elections.balanceNs, nowNs) {
		more, err := c.runElections(balanceLeaders)
		if c.Active() {
			c.elections.balanceNs = next(nowNs, c.cfg.ImbalanceCheckNs, more)
		}
		if err != nil {
			return err
		}
	}
	if c.Active() && due(c.elections.uncleanNs, nowNs) {
		more, err := c.runElections(electUnclean)
		if c.Active() {
			c.elections.uncleanNs = next(nowNs, c.cfg.UncleanCheckNs, more)
		}
		return err
	}
	return nil
}

func due(deadlineNs, nowNs int64) bool { return deadlineNs != noDeadline && nowNs >= deadlineNs }

func next(nowNs, intervalNs int64, more bool) int64 {
	if more {
		return nowNs
	}
	return nowNs + intervalNs
}

// runElections gives leadership back to preferred replicas, or to anybody who is there. more says that the bound was reached.
func (c *Controller) runElections(kind OpKind) (more bool, err error) {
	rules := rulesOf(c.timeline.image, &c.cfg.Defaults)
	c.outcome.reset()
	c.outcome.atomic = false
	if kind == balanceLeaders {
		c.outcome.records = rules.appendBalance(c.outcome.records)
	} else {
		c.outcome.records = rules.appendUnclean(c.outcome.records)
	}
	if len(c.outcome.records) == 0 {
		return false, nil
	}
	count := len(c.outcome.records)
	if err := c.write(&deferredOp{kind: kind}); err != nil || !c.Active() {
		return false, err
	}
	c.observe(Event{Kind: OpAppended, OpKind: kind, Count: int32(count), Offset: c.nextWrite - 1})
	return count >= maxPeriodicElections, nil
}

// appendBalance appends the elections that give partitions back to their preferred leader. Cost: all partitions, as often as
// the interval says.
func (r *partitionRules) appendBalance(dst []records.Record) []records.Record {
	for key, p := range r.image.AllPartitions() {
		if len(dst) >= maxPeriodicElections {
			return dst
		}
		if len(p.Replicas) == 0 || p.Leader == p.Replicas[0] {
			continue
		}
		change := r.changeOf(key, topicName(r.image, key), p)
		change.election = preferredElection
		if change.mayLead(p.Replicas[0]) {
			dst = change.appendTo(dst)
		}
	}
	return dst
}

// appendUnclean appends the elections of partitions without leader that may have one at any price.
func (r *partitionRules) appendUnclean(dst []records.Record) []records.Record {
	for key, p := range r.image.Leaderless() {
		if len(dst) >= maxPeriodicElections {
			return dst
		}
		change := r.changeOf(key, topicName(r.image, key), p)
		if change.election != uncleanElection {
			continue
		}
		dst = change.appendTo(dst)
	}
	return dst
}
