package metaprops

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/raft/record"
)

// FileName is the name of the file in the root of each log directory.
const FileName = "meta.properties"

// The versions of the file (metadata-bootstrap 2.1).
const (
	V0 int32 = 0
	V1 int32 = 1
	V2 int32 = 2
)

// ErrInvalid is wrapped by every error about the content of a file.
var ErrInvalid = errors.New("metaprops: invalid meta.properties")

// Properties is the content of one file. A cluster id may be any string, the empty one too, so absence is a flag.
type Properties struct {
	Version        int32
	HasClusterID   bool
	ClusterID      string
	HasNodeID      bool
	NodeID         int32
	HasDirectoryID bool
	DirectoryID    record.UUID
}

// Parse reads the content of a file as software does that knows versions up to highest.
func Parse(content []byte, highest int32) (Properties, error) {
	values, err := parseJava(content)
	if err != nil {
		return Properties{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	p := Properties{}
	if text, ok := values["version"]; ok {
		version, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return Properties{}, fmt.Errorf("%w: version %q is not a number", ErrInvalid, text)
		}
		p.Version = int32(version)
	}
	if p.Version < V0 || p.Version > highest {
		return Properties{}, fmt.Errorf("%w: version %d, known are 0 to %d", ErrInvalid, p.Version, highest)
	}
	p.ClusterID, p.HasClusterID = values["cluster.id"]
	if text, ok := values[p.nodeKey()]; ok {
		id, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return Properties{}, fmt.Errorf("%w: %s %q is not a 32-bit number", ErrInvalid, p.nodeKey(), text)
		}
		p.NodeID, p.HasNodeID = int32(id), true
	}
	if text, ok := values["directory.id"]; ok {
		if p.DirectoryID, err = record.ParseUUID(text); err != nil {
			return Properties{}, fmt.Errorf("%w: directory.id: %w", ErrInvalid, err)
		}
		p.HasDirectoryID = true
	}
	return p, p.Check()
}

// Check tells whether everything is there that the version always has.
func (p *Properties) Check() error {
	switch {
	case p.Version < V0 || p.Version > V2:
		return fmt.Errorf("%w: version %d", ErrInvalid, p.Version)
	case p.Version >= V1 && !p.HasNodeID:
		return fmt.Errorf("%w: node.id is missing", ErrInvalid)
	case p.Version == V1 && !p.HasClusterID:
		return fmt.Errorf("%w: cluster.id is missing", ErrInvalid)
	}
	return nil
}

func (p *Properties) nodeKey() string {
	if p.Version == V0 {
		return "broker.id"
	}
	return "node.id"
}

// AppendTo writes the file: a line "#", a line "#" with the date in UTC as Java prints it, then one line per key,
// ascending. Kafka writes the keys in the order of a hash table.
func (p *Properties) AppendTo(dst []byte, dateMs int64) []byte {
	dst = append(dst, "#\n#"...)
	dst = time.UnixMilli(dateMs).UTC().AppendFormat(dst, "Mon Jan 02 15:04:05 MST 2006")
	dst = append(dst, '\n')
	if p.HasNodeID && p.Version == V0 {
		dst = p.appendNode(dst)
	}
	if p.HasClusterID {
		dst = append(appendEscaped(append(dst, "cluster.id="...), p.ClusterID), '\n')
	}
	if p.HasDirectoryID {
		dst = append(record.AppendUUIDText(append(dst, "directory.id="...), p.DirectoryID), '\n')
	}
	if p.HasNodeID && p.Version != V0 {
		dst = p.appendNode(dst)
	}
	return append(strconv.AppendInt(append(dst, "version="...), int64(p.Version), 10), '\n')
}

func (p *Properties) appendNode(dst []byte) []byte {
	dst = append(append(dst, p.nodeKey()...), '=')
	return append(strconv.AppendInt(dst, int64(p.NodeID), 10), '\n')
}

// Path is where the file of a log directory lies.
func Path(dir string) string { return dir + "/" + FileName }

// Write replaces the file of a directory, durably and all at once (files.Replace). The directory must exist.
func Write(f files.Files, dir string, p Properties, dateMs int64) error {
	if err := p.Check(); err != nil {
		return fmt.Errorf("metaprops: write %s: %w", Path(dir), err)
	}
	if err := files.Replace(f, Path(dir), p.AppendTo(nil, dateMs)); err != nil {
		return fmt.Errorf("metaprops: write %s: %w", Path(dir), err)
	}
	return nil
}
