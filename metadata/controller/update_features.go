package controller

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
)

// allFailed introduces the message of a refused request: all features or none (5.1).
const allFailed = "no feature was updated, because one was refused: "

// decideFeatures checks every update and only then makes records, all in one atomic batch (5.2). The first update that
// fails decides; the original looks at them in the order of a hash map. The returned error is fatal.
func (c *Controller) decideFeatures(op *Op) error {
	c.outcome.atomic = true
	proposed := c.proposedVersion(op)
	for i := range op.Updates {
		if err := c.checkUpdate(&op.Updates[i], proposed); err != nil {
			return c.refuseUpdate(err)
		}
	}
	if op.ValidateOnly {
		return nil
	}
	for i := range op.Updates {
		if err := c.upgradeQuorum(&op.Updates[i]); err != nil {
			return c.refuseUpdate(err)
		}
		c.featureRecords(&op.Updates[i])
	}
	return nil
}

// refuseUpdate makes err the answer, unless it is fatal: then it returns it. What raft refuses because this node leads no
// more has a code of its own (5.4).
func (c *Controller) refuseUpdate(err error) error {
	code := InvalidUpdateVersion
	switch {
	case errors.Is(err, raft.ErrVoterSet):
		return err
	case errors.Is(err, raft.ErrNotLeader):
		code = NotController
	}
	c.outcome.fail(code, allFailed+err.Error())
	return nil
}

// proposedVersion is the metadata.version that dependencies are checked against: finalized plus requested.
func (c *Controller) proposedVersion(op *Op) int16 {
	level := c.timeline.image.MetadataVersion()
	for i := range op.Updates {
		if op.Updates[i].Feature == features.MetadataVersion {
			level = op.Updates[i].Level
		}
	}
	return level
}

// checkUpdate is 5.2, checks 1 to 8.
func (c *Controller) checkUpdate(u *FeatureUpdate, proposed int16) error {
	if u.UpgradeType < Upgrade || u.UpgradeType > UnsafeDowngrade {
		return fmt.Errorf("%s: unknown upgrade type %d", u.Feature, u.UpgradeType)
	}
	if u.Level < 0 {
		return fmt.Errorf("%s: level %d is negative", u.Feature, u.Level)
	}
	lowest, highest, ok := c.cfg.Release.Range(u.Feature, c.cfg.UnstableFeatures)
	if !ok {
		return fmt.Errorf("%s: this controller does not know the feature", u.Feature)
	}
	if u.Level < lowest || u.Level > highest {
		return fmt.Errorf("%s: level %d is outside of %d to %d, which this controller runs with", u.Feature, u.Level,
			lowest, highest)
	}
	if err := c.checkMembers(u); err != nil {
		return err
	}
	current := c.currentLevel(u.Feature)
	if u.Level < current && u.UpgradeType == Upgrade {
		return fmt.Errorf("%s: level %d is below the current %d, and this is an upgrade", u.Feature, u.Level, current)
	}
	if u.Level > current && u.UpgradeType != Upgrade {
		return fmt.Errorf("%s: level %d is above the current %d, and this is a downgrade", u.Feature, u.Level, current)
	}
	switch u.Feature {
	case features.MetadataVersion:
		return c.checkVersionUpdate(u, current)
	case features.KRaftVersion:
		return c.checkKRaftUpdate(u, current)
	}
	return c.cfg.Release.Check(u.Feature, u.Level, proposed, c.cfg.UnstableFeatures)
}

func (c *Controller) currentLevel(feature string) int16 {
	if feature == features.KRaftVersion {
		return c.deps.Raft.KRaftVersion()
	}
	return c.timeline.image.FeatureLevel(feature)
}

// checkVersionUpdate is 5.3: no downgrade, safe or unsafe, across a level that changed metadata; and KIP-1262: a level
// that has the cluster id is not entered by a controller that knows none (T25), unless it may make one up.
func (c *Controller) checkVersionUpdate(u *FeatureUpdate, current int16) error {
	for level := current; level > u.Level; level-- {
		if c.cfg.Release.DidMetadataChange(level) {
			return fmt.Errorf("%s: no way down from %d to %d, metadata changed at %d", u.Feature, current, u.Level, level)
		}
	}
	if c.cfg.Release.SupportsClusterID(u.Level) && c.upgradeClusterID() == "" && (c.cfg.EmptyClusterID || !c.cfg.Choices.GenerateOnUpgrade) {
		return fmt.Errorf("%s: level %d needs a cluster id, and this controller knows none", u.Feature, u.Level)
	}
	return nil
}

// checkKRaftUpdate is 5.4: raft itself says whether the quorum can go to the level. There is no way down.
func (c *Controller) checkKRaftUpdate(u *FeatureUpdate, current int16) error {
	if u.Level < current {
		return fmt.Errorf("%s: downgrade from %d to %d", u.Feature, current, u.Level)
	}
	if u.UpgradeType != Upgrade {
		return nil
	}
	return c.kraftUpgrade(u, true)
}

// upgradeQuorum lets raft schedule the records of a higher kraft.version; other features are no business of its. The
// NoOpRecord that follows is what the operation waits for.
func (c *Controller) upgradeQuorum(u *FeatureUpdate) error {
	if u.Feature != features.KRaftVersion || u.UpgradeType != Upgrade {
		return nil
	}
	return c.kraftUpgrade(u, false)
}

func (c *Controller) kraftUpgrade(u *FeatureUpdate, validateOnly bool) error {
	if err := c.deps.Raft.UpgradeKRaftVersion(c.claimedEpoch, u.Level, validateOnly); err != nil {
		return fmt.Errorf("%s: %w", u.Feature, err)
	}
	return nil
}

// upgradeClusterID is the id that goes with a metadata.version: what the node knew (C8), else what the log has.
func (c *Controller) upgradeClusterID() string {
	if c.clusterID != "" {
		return c.clusterID
	}
	return c.timeline.image.ClusterID()
}

// featureRecords adds the records of one accepted update. A level that is already in force is written again.
func (c *Controller) featureRecords(u *FeatureUpdate) {
	if u.Feature == features.KRaftVersion {
		if u.UpgradeType == Upgrade {
			c.outcome.records = append(c.outcome.records, &c.noOp)
		}
		return
	}
	if u.Feature == features.EligibleLeaderReplicas && u.Level > 0 && c.timeline.image.FeatureLevel(u.Feature) == 0 {
		c.elrRecords()
	}
	c.outcome.records = append(c.outcome.records, &records.FeatureLevelRecord{Name: u.Feature, FeatureLevel: u.Level})
	if u.Feature == features.MetadataVersion && c.cfg.Release.SupportsClusterID(u.Level) {
		id := c.upgradeClusterID()
		if id == "" {
			id = c.offeredOrNewID(c.claimedEpoch)
		}
		c.outcome.records = append(c.outcome.records, &records.ClusterIdRecord{ClusterId: id})
	}
}

// elrRecords moves min.insync.replicas to where eligible leader replicas need it (5.2): a default for all brokers if
// none is set, and none for a single broker.
func (c *Controller) elrRecords() {
	if _, found := c.timeline.image.Config(image.ConfigKey{Type: brokerResource, Name: minInSyncReplicasName}); !found {
		c.outcome.records = append(c.outcome.records, minInSyncReplicas("", &c.cfg.MinInSyncReplicas))
	}
	for key := range c.timeline.image.Configs() {
		if key.Type == brokerResource && key.Resource != "" && key.Name == minInSyncReplicasName {
			c.outcome.records = append(c.outcome.records, minInSyncReplicas(key.Resource, nil))
		}
	}
}
