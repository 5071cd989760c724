package image

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Endpoint is one listener of a registered node.
type Endpoint struct {
	Name             string
	Host             string
	Port             uint16
	SecurityProtocol int16
}

// FeatureRange is what the software of a registered node supports of one feature.
type FeatureRange struct {
	Name             string
	Minimum, Maximum int16
}

// Broker is the registration of one broker incarnation. Immutable once an image has it.
type Broker struct {
	ID                   int32
	Epoch                int64
	IncarnationID        record.UUID
	Listeners            []Endpoint
	Features             []FeatureRange
	Rack                 string
	HasRack              bool
	Fenced               bool
	InControlledShutdown bool
	IsMigratingZkBroker  bool
	LogDirs              []record.UUID
	CordonedLogDirs      []record.UUID
}

// Active tells whether the broker may get replicas and leaderships: neither fenced nor shutting down.
func (b *Broker) Active() bool { return !b.Fenced && !b.InControlledShutdown }

// FeatureRange returns what the broker supports of a feature, 0 to 0 when it does not name it.
func (b *Broker) FeatureRange(name string) FeatureRange { return rangeOf(b.Features, name) }

// Controller is the registration of one controller incarnation (KIP-919). Immutable once an image has it.
type Controller struct {
	ID               int32
	IncarnationID    record.UUID
	ZkMigrationReady bool
	Listeners        []Endpoint
	Features         []FeatureRange
}

// FeatureRange returns what the controller supports of a feature, 0 to 0 when it does not name it.
func (c *Controller) FeatureRange(name string) FeatureRange { return rangeOf(c.Features, name) }

func rangeOf(ranges []FeatureRange, name string) FeatureRange {
	for at := range ranges {
		if ranges[at].Name == name {
			return ranges[at]
		}
	}
	return FeatureRange{Name: name}
}

func brokerOf(m *records.RegisterBrokerRecord) Broker {
	b := Broker{
		ID: m.BrokerId, Epoch: m.BrokerEpoch, IncarnationID: m.IncarnationId, Fenced: m.Fenced,
		InControlledShutdown: m.InControlledShutdown, IsMigratingZkBroker: m.IsMigratingZkBroker,
		LogDirs: full(m.LogDirs), CordonedLogDirs: full(m.CordonedLogDirs),
		Listeners: make([]Endpoint, len(m.EndPoints)), Features: make([]FeatureRange, len(m.Features)),
	}
	if m.Rack != nil {
		b.Rack, b.HasRack = *m.Rack, true
	}
	for at := range m.EndPoints {
		e := &m.EndPoints[at]
		b.Listeners[at] = Endpoint{Name: e.Name, Host: e.Host, Port: e.Port, SecurityProtocol: e.SecurityProtocol}
	}
	for at := range m.Features {
		f := &m.Features[at]
		b.Features[at] = FeatureRange{Name: f.Name, Minimum: f.MinSupportedVersion, Maximum: f.MaxSupportedVersion}
	}
	return b
}

// changed returns the broker after a change record.
func (b *Broker) changed(m *records.BrokerRegistrationChangeRecord) (Broker, error) {
	next := *b
	switch m.Fenced {
	case -1, 0, 1:
		next.Fenced = m.Fenced > 0 || m.Fenced == 0 && b.Fenced
	default:
		return next, fmt.Errorf("broker %d: fencing change %d is none of -1, 0, 1", b.ID, m.Fenced)
	}
	switch m.InControlledShutdown {
	case 0, 1:
		next.InControlledShutdown = m.InControlledShutdown > 0 || b.InControlledShutdown
	default:
		return next, fmt.Errorf("broker %d: shutdown change %d is neither 0 nor 1", b.ID, m.InControlledShutdown)
	}
	if len(m.LogDirs) > 0 {
		next.LogDirs = m.LogDirs
	}
	if m.CordonedLogDirs != nil {
		next.CordonedLogDirs = full(m.CordonedLogDirs)
	}
	return next, nil
}

// toRecord returns the registration as a record of the version that o's level has.
func (b *Broker) toRecord(o *WriteOptions) (r *records.RegisterBrokerRecord, version int16, err error) {
	version = features.RegisterBrokerVersion(o.MetadataVersion)
	r = &records.RegisterBrokerRecord{
		BrokerId: b.ID, IncarnationId: b.IncarnationID, BrokerEpoch: b.Epoch, Fenced: b.Fenced,
		InControlledShutdown: b.InControlledShutdown, IsMigratingZkBroker: b.IsMigratingZkBroker,
		LogDirs:   b.LogDirs,
		EndPoints: make([]records.BrokerEndpoint, len(b.Listeners)), Features: make([]records.BrokerFeature, len(b.Features)),
	}
	if len(b.CordonedLogDirs) > 0 {
		r.CordonedLogDirs = b.CordonedLogDirs
	}
	if b.HasRack {
		r.Rack = &b.Rack
	}
	for at := range b.Listeners {
		e := &b.Listeners[at]
		r.EndPoints[at] = records.BrokerEndpoint{
			Name: e.Name, Host: e.Host, Port: e.Port, SecurityProtocol: e.SecurityProtocol,
		}
	}
	for at := range b.Features {
		f := &b.Features[at]
		r.Features[at] = records.BrokerFeature{
			Name: f.Name, MinSupportedVersion: f.Minimum, MaxSupportedVersion: f.Maximum,
		}
	}
	return r, version, b.drop(r, version, o)
}

// drop takes out of r what its version has no field for, and says so.
func (b *Broker) drop(r *records.RegisterBrokerRecord, version int16, o *WriteOptions) error {
	losses := [...]struct {
		since int16
		lost  bool
		what  string
	}{
		{1, r.InControlledShutdown, "the controlled shutdown of broker %d"},
		{2, r.IsMigratingZkBroker, "that broker %d migrates from ZooKeeper"},
		{3, len(r.LogDirs) > 0, "the log directories of broker %d"},
		{4, r.CordonedLogDirs != nil, "the cordoned log directories of broker %d"},
	}
	for at := range losses {
		if l := &losses[at]; l.lost && version < l.since {
			if err := o.lose(fmt.Sprintf(l.what, b.ID)); err != nil {
				return err
			}
		}
	}
	r.InControlledShutdown = r.InControlledShutdown && version >= 1
	r.IsMigratingZkBroker = r.IsMigratingZkBroker && version >= 2
	if version < 3 {
		r.LogDirs = nil
	}
	if version < 4 {
		r.CordonedLogDirs = nil
	}
	return nil
}

func controllerOf(m *records.RegisterControllerRecord) Controller {
	c := Controller{
		ID: m.ControllerId, IncarnationID: m.IncarnationId, ZkMigrationReady: m.ZkMigrationReady,
		Listeners: make([]Endpoint, len(m.EndPoints)), Features: make([]FeatureRange, len(m.Features)),
	}
	for at := range m.EndPoints {
		e := &m.EndPoints[at]
		c.Listeners[at] = Endpoint{Name: e.Name, Host: e.Host, Port: e.Port, SecurityProtocol: e.SecurityProtocol}
	}
	for at := range m.Features {
		f := &m.Features[at]
		c.Features[at] = FeatureRange{Name: f.Name, Minimum: f.MinSupportedVersion, Maximum: f.MaxSupportedVersion}
	}
	return c
}

func (c *Controller) toRecord() *records.RegisterControllerRecord {
	r := &records.RegisterControllerRecord{
		ControllerId: c.ID, IncarnationId: c.IncarnationID, ZkMigrationReady: c.ZkMigrationReady,
		EndPoints: make([]records.ControllerEndpoint, len(c.Listeners)),
		Features:  make([]records.ControllerFeature, len(c.Features)),
	}
	for at := range c.Listeners {
		e := &c.Listeners[at]
		r.EndPoints[at] = records.ControllerEndpoint{
			Name: e.Name, Host: e.Host, Port: e.Port, SecurityProtocol: e.SecurityProtocol,
		}
	}
	for at := range c.Features {
		f := &c.Features[at]
		r.Features[at] = records.ControllerFeature{
			Name: f.Name, MinSupportedVersion: f.Minimum, MaxSupportedVersion: f.Maximum,
		}
	}
	return r
}

// full returns nil for an empty list, so that equal content is one value.
func full[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
