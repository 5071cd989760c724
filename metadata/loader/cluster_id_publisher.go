package loader

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft"
)

// ErrClusterID means that the cluster has another id in the log than this node holds (metadata-bootstrap 4.8). Fatal:
// a node never changes its id.
var ErrClusterID = errors.New("loader: the cluster id of the log is not this node's")

// Clock reads the wall clock: meta.properties carries the date.
type Clock interface {
	WallMs() int64
}

// ClusterIDSink is told the node's cluster id, once, when it is discovered.
type ClusterIDSink interface {
	SetClusterID(id string)
}

// ClusterIDConfig is what a ClusterIDPublisher is built with.
type ClusterIDConfig struct {
	// Files is the node's storage.
	Files files.Files
	// Ensemble holds the node's directories as start-up left them; empty and failed ones are not touched. The publisher
	// keeps it up to date.
	Ensemble *metaprops.Ensemble
	// Version is the version of the files that get the cluster id. V1 keeps the way back to older software open
	// (4.9); V2 is what PR 21547 defines. A file that has its id keeps its version.
	Version int32
	// Clock dates the files.
	Clock Clock
	// Sinks are told, in order, after all directories hold the id: raft first, then whoever waits for it.
	Sinks []ClusterIDSink
	// TellFirst tells the sinks before any directory holds the id: they may act under an id that a crash makes the node forget.
	// The sources do not fix the order (4.7).
	TellFirst bool
	// Observer may be nil.
	Observer Observer
}

// ClusterIDPublisher gives a node the cluster id that its log holds (KIP-1262, 4.7). The first published image with
// an id makes it write the id into every usable directory that has none, one after the other, and only then tell the
// sinks (TellFirst: the other way round): so a node never acts under an id that it could forget. A directory that cannot be written is given up; the
// metadata directory's failure stops the node (T4). As the loader's Guard it refuses a cluster with another id than
// the node holds.
type ClusterIDPublisher struct {
	cfg   ClusterIDConfig
	known string // held by a directory, or discovered
	has   bool   // known is valid: even the empty string is an id that a formatter accepts
	done  bool   // every usable directory holds it and the sinks know
	event Event
}

// NewClusterIDPublisher returns the publisher of one node's start.
func NewClusterIDPublisher(cfg ClusterIDConfig) (*ClusterIDPublisher, error) {
	if cfg.Version != metaprops.V1 && cfg.Version != metaprops.V2 {
		return nil, fmt.Errorf("%w: meta.properties version %d has no cluster id to discover", ErrConfig, cfg.Version)
	}
	p := &ClusterIDPublisher{cfg: cfg}
	p.known, p.has = cfg.Ensemble.ClusterID()
	return p, nil
}

// ClusterID returns the id that the node holds, "" while it has none.
func (p *ClusterIDPublisher) ClusterID() string { return p.known }

// Name implements Publisher.
func (p *ClusterIDPublisher) Name() string { return "ClusterIDPublisher" }

// OnControllerChange implements Publisher; leaders do not matter here.
func (p *ClusterIDPublisher) OnControllerChange(raft.LeaderAndEpoch) {}

// CheckClusterID implements Guard.
func (p *ClusterIDPublisher) CheckClusterID(id string) error {
	if p.has && p.known != id {
		return fmt.Errorf("%w: %q in the log, %q in meta.properties", ErrClusterID, id, p.known)
	}
	return nil
}

// OnMetadataUpdate implements Publisher. What it is told is stable: outside of every transaction (C7).
func (p *ClusterIDPublisher) OnMetadataUpdate(_ *image.Delta, img *image.Image, m *Manifest) error {
	id := img.ClusterID()
	if id == "" || p.done {
		return nil
	}
	if err := p.CheckClusterID(id); err != nil {
		return fmt.Errorf("%w: %w", ErrFatal, err)
	}
	discovered := !p.has
	if discovered && p.cfg.TellFirst {
		p.tell(id, m)
	}
	for at := range p.cfg.Ensemble.Directories {
		if err := p.persist(int32(at), id, m); err != nil {
			return err
		}
	}
	p.known, p.has, p.done = id, true, true
	if discovered && !p.cfg.TellFirst {
		p.tell(id, m)
	}
	return nil
}

func (p *ClusterIDPublisher) tell(id string, m *Manifest) {
	for _, s := range p.cfg.Sinks {
		s.SetClusterID(id)
	}
	p.observe(Event{Kind: ClusterIDKnown, Text: id, Offset: m.Provenance.Offset, Epoch: m.Provenance.Epoch})
}

// persist writes the id into one directory, unless the directory holds it or is out of use.
func (p *ClusterIDPublisher) persist(at int32, id string, m *Manifest) error {
	d := &p.cfg.Ensemble.Directories[at]
	if d.State != metaprops.Loaded || d.Properties.HasClusterID {
		return nil
	}
	props := d.Properties
	props.Version, props.HasClusterID, props.ClusterID = p.cfg.Version, true, id
	e := Event{Index: at, Text: id, Offset: m.Provenance.Offset, Epoch: m.Provenance.Epoch}
	if err := metaprops.Write(p.cfg.Files, d.Path, props, p.cfg.Clock.WallMs()); err != nil {
		if d.Path == p.cfg.Ensemble.MetadataDir {
			return fmt.Errorf("%w: metadata directory %s: %w", ErrFatal, d.Path, err)
		}
		d.State, d.Err = metaprops.Failed, err
		e.Kind, e.Err = DirectoryFailed, err
		p.observe(e)
		return nil
	}
	d.Properties = props
	e.Kind = ClusterIDPersisted
	p.observe(e)
	return nil
}

func (p *ClusterIDPublisher) observe(e Event) {
	if p.cfg.Observer == nil {
		return
	}
	p.event = e
	p.cfg.Observer.Observe(&p.event)
}
