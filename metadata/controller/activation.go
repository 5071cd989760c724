package controller

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrActivation says that the new leader cannot say what its first records are. Fatal (3.3).
var ErrActivation = errors.New("controller: activation failed")

// What the markers of an activation say (3.3). Addresses of these are in records, so nobody writes to them.
var (
	bootstrapTransaction = "Bootstrap records"
	controllerFailover   = "Controller failover"
)

// activationPlan is the decision of 3.3.
type activationPlan struct {
	records        []records.Record
	atomic         bool
	versionKnown   bool
	bootstrapLevel int16
	clusterID      string // among the records, "" for none
	clusterIDs     int32
}

// planActivation decides on the first records of a new leader (metadata-bootstrap 3.3):
//
//	version known   transaction open   transactions supported   records
//	no              no                 yes                      Begin, bootstrap, End; may be split
//	no              no                 no                       bootstrap; atomic
//	no              yes                yes                      Abort, Begin, bootstrap, End; may be split
//	no              yes                no                       fatal
//	yes             no                 any                      none
//	yes             yes                yes                      Abort
//	yes             yes                no                       fatal
//
// Version and cluster id are those before the open transaction: a standby has replayed the metadata.version of an
// unfinished bootstrap, and the original, which takes that for the cluster's, aborts and bootstraps nothing.
func (c *Controller) planActivation(epoch int32) (*activationPlan, error) {
	open := c.timeline.transactionStart != noTransaction
	level, id := c.timeline.image.MetadataVersion(), c.timeline.image.ClusterID()
	if open {
		before := c.timeline.imageAt(c.timeline.transactionStart - 1)
		level, id = before.MetadataVersion(), before.ClusterID()
	}
	bootLevel, err := bootstrapLevel(c.bootstrap)
	if err != nil {
		return nil, err
	}
	p := &activationPlan{atomic: true, versionKnown: level != 0, bootstrapLevel: bootLevel}
	deciding := level
	if !p.versionKnown {
		deciding = bootLevel
	}
	if open {
		if !features.SupportsTransactions(deciding) {
			return nil, fmt.Errorf("%w: a transaction is open since offset %d, and %s %d has no transactions", ErrActivation,
				c.timeline.transactionStart, image.MetadataVersion, deciding)
		}
		p.records = append(p.records, &records.AbortTransactionRecord{Reason: &controllerFailover})
	}
	if p.versionKnown {
		if c.cfg.Release.SupportsClusterID(level) && id == "" {
			return p, c.planMissingID(p, level, epoch)
		}
		return p, nil
	}
	return p, c.planBootstrap(p, epoch)
}

// planMissingID is D4: the level is in force and the log has no cluster id, which only a broken invariant can have brought about.
// The strict design stops; the tolerant one writes what is missing, behind the Abort if there is one, in one batch.
func (c *Controller) planMissingID(p *activationPlan, level int16, epoch int32) error {
	id := c.ownOrNewID(epoch)
	if !c.cfg.Choices.WriteMissing || id == "" {
		return fmt.Errorf("%w: %s is %d and the log has no cluster id", ErrActivation, image.MetadataVersion, level)
	}
	p.records = append(p.records, &records.ClusterIdRecord{ClusterId: id})
	p.clusterID, p.clusterIDs = id, 1
	return nil
}

// ownOrNewID is the id of this node; without one, in the variants whose leader writes one, that of another voter if it may be
// adopted, else a new one. "" where there can be none.
func (c *Controller) ownOrNewID(epoch int32) string {
	if c.clusterID != "" || c.cfg.EmptyClusterID || !c.cfg.Variant.writes() {
		return c.clusterID
	}
	return c.offeredOrNewID(epoch)
}

func (c *Controller) offeredOrNewID(epoch int32) string {
	if c.cfg.Choices.AdoptOffered && c.deps.Offers != nil {
		if id := c.deps.Offers.OfferedClusterID(); id != "" {
			return id
		}
	}
	return c.newClusterID(epoch)
}

func (c *Controller) planBootstrap(p *activationPlan, epoch int32) error {
	transaction := features.SupportsTransactions(p.bootstrapLevel)
	if transaction {
		p.atomic = false
		p.records = append(p.records, &records.BeginTransactionRecord{Name: &bootstrapTransaction})
	}
	boot, err := c.bootstrapWithID(p, epoch)
	if err != nil {
		return err
	}
	p.records = append(p.records, boot...)
	for _, r := range boot {
		if m, ok := r.(*records.FeatureLevelRecord); ok && m.Name == features.EligibleLeaderReplicas && m.FeatureLevel > 0 {
			p.records = append(p.records, minInSyncReplicas("", &c.cfg.MinInSyncReplicas))
			break
		}
	}
	if transaction {
		p.records = append(p.records, &records.EndTransactionRecord{})
	}
	return nil
}

// bootstrapWithID returns the bootstrap records, with the ClusterIdRecord when the bootstrap level has one (KIP-1262,
// D3): the id of meta.properties, else that of the bootstrap records, else in the draft and for final-apr's static voters a new one. It stands after all
// features and before everything else.
func (c *Controller) bootstrapWithID(p *activationPlan, epoch int32) ([]records.Record, error) {
	inRecords, err := bootstrapClusterID(c.bootstrap)
	if err != nil {
		return nil, err
	}
	if !c.cfg.Release.SupportsClusterID(p.bootstrapLevel) {
		if inRecords != "" {
			return nil, fmt.Errorf("%w: bootstrap records hold a cluster id, which %s %d does not have", ErrActivation,
				image.MetadataVersion, p.bootstrapLevel)
		}
		return c.bootstrap, nil
	}
	id := c.clusterID
	switch {
	case id == "" && c.cfg.EmptyClusterID: // a made-up id would contradict the directories it is then written to
		return nil, fmt.Errorf("%w: the cluster id in meta.properties is empty, which %s %d can't record", ErrActivation,
			image.MetadataVersion, p.bootstrapLevel)
	case id != "" && inRecords != "" && id != inRecords:
		return nil, fmt.Errorf("%w: meta.properties have cluster id %q, the bootstrap records %q", ErrActivation, id, inRecords)
	case id == "" && inRecords != "":
		id = inRecords
	case id == "" && c.cfg.Variant.writes():
		id = c.offeredOrNewID(epoch)
	case id == "":
		return nil, fmt.Errorf("%w: neither meta.properties nor the bootstrap records hold a cluster id, and a bootstrap "+
			"controller must be formatted", ErrActivation)
	}
	p.clusterID, p.clusterIDs = id, 1
	if inRecords != "" {
		return c.bootstrap, nil
	}
	at := 0
	for i, r := range c.bootstrap {
		if _, ok := r.(*records.FeatureLevelRecord); ok {
			at = i + 1
		}
	}
	boot := make([]records.Record, 0, len(c.bootstrap)+1)
	boot = append(append(boot, c.bootstrap[:at]...), &records.ClusterIdRecord{ClusterId: id})
	return append(boot, c.bootstrap[at:]...), nil
}

// newClusterID makes up an id as Kafka's random-uuid does: never reserved, its text never begins with "-".
func (c *Controller) newClusterID(epoch int32) string {
	var id record.UUID
	for part := range 4 {
		v := c.deps.Chooser.Choose(SiteClusterID, uint64(epoch)<<2+uint64(part), 1<<32)
		copy(id[4*part:], record.AppendInt32(nil, int32(uint32(v))))
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random uuid, version 4: never one of the reserved ids
	if id[0]>>2 == 62 {
		id[0] &= 0x7f
	}
	return id.String()
}

// bootstrapLevel returns the metadata.version of bootstrap records; there must be one, and the last one counts.
func bootstrapLevel(boot []records.Record) (int16, error) {
	for at := len(boot) - 1; at >= 0; at-- {
		if m, ok := boot[at].(*records.FeatureLevelRecord); ok && m.Name == image.MetadataVersion {
			return m.FeatureLevel, nil
		}
	}
	return 0, fmt.Errorf("%w: no %s among %d bootstrap records", ErrActivation, image.MetadataVersion, len(boot))
}

func bootstrapClusterID(boot []records.Record) (id string, err error) {
	for _, r := range boot {
		m, ok := r.(*records.ClusterIdRecord)
		switch {
		case ok && m.ClusterId == "":
			return "", fmt.Errorf("%w: the bootstrap records hold an empty cluster id", ErrActivation)
		case ok && id != "":
			return "", fmt.Errorf("%w: the bootstrap records hold two cluster ids", ErrActivation)
		case ok:
			id = m.ClusterId
		}
	}
	return id, nil
}

// minInSyncReplicas is the configuration that goes with eligible leader replicas (KIP-966); a nil value deletes it.
func minInSyncReplicas(broker string, value *string) *records.ConfigRecord {
	return &records.ConfigRecord{ResourceType: brokerResource, ResourceName: broker, Name: minInSyncReplicasName, Value: value}
}

const (
	brokerResource        int8 = 4
	minInSyncReplicasName      = "min.insync.replicas"
)
