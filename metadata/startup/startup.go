package startup

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Errors that callers match; each is a refusal to start.
var (
	ErrNotFormatted = errors.New("startup: a log directory is not formatted: run the storage format tool")
	ErrNoClusterID  = errors.New("startup: no cluster.id, and this node is a bootstrap controller: format it with the cluster id")
	ErrStrayLog     = errors.New("startup: a metadata log lies in a directory that is not the metadata log directory")
)

// SelfFormat says which empty directories a variant of KIP-1262 lets a node format by itself (metadata-bootstrap 4.3).
type SelfFormat uint8

// The policies.
const (
	// Never: every usable directory must have been formatted (Kafka as released).
	Never SelfFormat = iota
	// UnlessBootstrap: nodes that are no bootstrap controllers may (`final-mar`).
	UnlessBootstrap
	// UnlessDynamic: as UnlessBootstrap, and static voters may too (`final-apr`).
	UnlessDynamic
	// Always: every node may (`draft`).
	Always
)

// Config is what the node's configuration file says.
type Config struct {
	NodeID      int32
	Directories []string // log.dirs
	MetadataDir string   // metadata.log.dir: one of them, or one more
	Controller  bool     // has the controller role
	StaticVoter bool     // controller.quorum.voters names this node
	Release     *features.Release
	SelfFormat  SelfFormat
	NowMs       int64
	Chooser     format.Chooser // draws directory ids
}

// Node is who the process is.
type Node struct {
	ClusterID   string // "" when unknown
	DirectoryID record.UUID
	Directories *metaprops.Ensemble
	Bootstrap   *bootstrap.Metadata // candidate bootstrap records; nil for a node without the controller role
}

// highest is the newest version of meta.properties that the software reads.
func (c *Config) highest() int32 {
	if c.SelfFormat != Never {
		return metaprops.V2
	}
	return metaprops.V1
}

// Run takes the steps of the package comment. Any error is a refusal to start.
func Run(f files.Files, c Config) (*Node, error) {
	e := metaprops.Load(f, c.Directories, c.MetadataDir, c.highest())
	flags := metaprops.RequireMetadataDir
	if c.SelfFormat == Never {
		flags |= metaprops.RequireOneValid
	}
	expected := metaprops.Expected{NodeID: &c.NodeID}
	if err := e.Verify(expected, flags); err != nil {
		return nil, fmt.Errorf("startup: %w", err)
	}
	if err := c.noStrayLog(f, e); err != nil {
		return nil, err
	}
	if err := c.requireFormatted(f, e); err != nil {
		return nil, err
	}
	if err := c.complete(f, e); err != nil {
		return nil, err
	}
	e = metaprops.Load(f, c.Directories, c.MetadataDir, c.highest())
	if err := e.Verify(expected, flags); err != nil {
		return nil, fmt.Errorf("startup: %w", err)
	}
	if err := c.settle(f, e); err != nil {
		return nil, err
	}
	n := &Node{Directories: e}
	n.ClusterID, _ = e.ClusterID()
	n.DirectoryID, _ = e.DirectoryID(c.MetadataDir)
	if !c.Controller {
		return n, nil
	}
	m, err := bootstrap.Load(f, c.MetadataDir, c.Release)
	if err != nil {
		return nil, fmt.Errorf("startup: %w", err)
	}
	n.Bootstrap = m
	return n, nil
}

// settle makes durable what was read: a process that was killed between the rename of meta.properties and the sync of its
// directory leaves a file that the next process sees and a power loss takes away, together with the identity under which
// that process voted (directory-id-first).
func (c *Config) settle(f files.Files, e *metaprops.Ensemble) error {
	for i := range e.Directories {
		d := &e.Directories[i]
		if d.State != metaprops.Loaded {
			continue
		}
		if err := f.SyncDir(d.Path); err != nil && d.Path == c.MetadataDir {
			return fmt.Errorf("startup: %w", err)
		} else if err != nil {
			d.State, d.Err = metaprops.Failed, err
		}
	}
	return nil
}

func (c *Config) noStrayLog(f files.Files, e *metaprops.Ensemble) error {
	for i := range e.Directories {
		dir := e.Directories[i].Path
		if dir == c.MetadataDir {
			continue
		}
		if _, err := f.List(bootstrap.PartitionPath(dir)); err == nil {
			return fmt.Errorf("%w: %s; set metadata.log.dir to it or remove it", ErrStrayLog, bootstrap.PartitionPath(dir))
		}
	}
	return nil
}

// requireFormatted is step 3: what is missing must be something that this node may make itself.
func (c *Config) requireFormatted(f files.Files, e *metaprops.Ensemble) error {
	_, known := e.ClusterID()
	empty := e.Paths(metaprops.Empty)
	if len(empty) == 0 && known {
		return nil
	}
	if c.SelfFormat == Never {
		if len(empty) > 0 {
			return fmt.Errorf("%w: %s", ErrNotFormatted, empty[0])
		}
		return ErrNoClusterID
	}
	if known || c.SelfFormat == Always {
		return nil
	}
	initial, err := c.initialController(f)
	if err != nil {
		return err
	}
	if initial || c.Controller && c.StaticVoter && c.SelfFormat == UnlessBootstrap {
		return fmt.Errorf("%w: %s", ErrNoClusterID, c.MetadataDir)
	}
	return nil
}

// initialController reports whether the node's own 0-0.checkpoint names it as a voter.
func (c *Config) initialController(f files.Files) (bool, error) {
	if !c.Controller {
		return false, nil
	}
	check, err := bootstrap.ReadCheckpoint(f, c.MetadataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("startup: %w", err)
	}
	if check.Voters == nil {
		return false, nil
	}
	for i := range check.Voters.Voters {
		if check.Voters.Voters[i].VoterID == c.NodeID {
			return true, nil
		}
	}
	return false, nil
}

// complete is step 4: it formats what is empty and gives a directory id to what has none, one directory at a time.
func (c *Config) complete(f files.Files, e *metaprops.Ensemble) error {
	clusterID, known := e.ClusterID()
	for i := range e.Directories {
		d := &e.Directories[i]
		p := d.Properties
		switch {
		case d.State == metaprops.Failed:
			continue
		case d.State == metaprops.Empty:
			p = metaprops.Properties{Version: metaprops.V2, HasNodeID: true, NodeID: c.NodeID}
			if known {
				p.Version = metaprops.V1 // readable for older software, now that nothing is missing
			}
			if err := files.MakeDir(f, d.Path); err != nil {
				return fmt.Errorf("startup: %w", err)
			}
		case p.HasDirectoryID && (p.HasClusterID || !known):
			continue
		}
		if known && !p.HasClusterID {
			p.HasClusterID, p.ClusterID = true, clusterID
		}
		if !p.HasDirectoryID {
			id, err := c.newDirectoryID(e, d.Path)
			if err != nil {
				return fmt.Errorf("startup: %w", err)
			}
			p.HasDirectoryID, p.DirectoryID = true, id
		}
		if err := metaprops.Write(f, d.Path, p, c.NowMs); err != nil {
			if d.Path != c.MetadataDir {
				continue // the directory has failed; the node goes on without it
			}
			return fmt.Errorf("startup: %w", err)
		}
		d.Properties, d.State = p, metaprops.Loaded
	}
	return nil
}

// newDirectoryID draws an id that no directory of the ensemble has.
func (c *Config) newDirectoryID(e *metaprops.Ensemble, dir string) (record.UUID, error) {
	var taken []record.UUID
	for i := range e.Directories {
		if p := &e.Directories[i].Properties; p.HasDirectoryID {
			taken = append(taken, p.DirectoryID)
		}
	}
	return format.NewDirectoryID(c.Chooser, dir, taken)
}
