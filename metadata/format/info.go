package format

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
)

// Info is what `kafka-storage info` says of a node's directories (metadata-bootstrap 1.1).
type Info struct {
	Found      []string // directories that are there, ascending
	Metadata   string   // the first meta.properties that was read, as the tool prints it; "" for none
	Problems   []string // one line each; empty: all is well
	Properties *metaprops.Properties
}

// Inspect looks at the log directories and changes nothing. roles are those of the configuration, highest is the newest version
// of meta.properties that the software knows.
func Inspect(f files.Files, dirs []string, roles Roles, highest int32) *Info {
	info := &Info{}
	for _, dir := range dirs {
		_, err := f.List(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			info.problem("%s does not exist", dir)
		case err != nil:
			info.problem("%s is not a directory", dir)
		default:
			info.Found = append(info.Found, dir)
			info.look(f, dir, highest)
		}
	}
	info.compareRoles(roles)
	return info
}

func (i *Info) problem(format string, args ...any) {
	i.Problems = append(i.Problems, fmt.Sprintf(format, args...))
}

// look reads the meta.properties of one directory.
func (i *Info) look(f files.Files, dir string, highest int32) {
	e := metaprops.Load(f, []string{dir}, "", highest)
	d := &e.Directories[0]
	switch {
	case d.State == metaprops.Empty:
		i.problem("%s is not formatted", dir)
	case d.State == metaprops.Failed:
		i.problem("%s can't be loaded: %s", metaprops.Path(dir), strings.TrimPrefix(d.Err.Error(), "metaprops: "))
	case i.Properties == nil:
		i.Properties, i.Metadata = &d.Properties, propertiesText(&d.Properties)
	default:
		first, p := i.Properties, &d.Properties
		if first.HasClusterID != p.HasClusterID || first.ClusterID != p.ClusterID {
			i.problem("the cluster ids of the directories differ: %q and, in %s, %q", first.ClusterID, dir, p.ClusterID)
		} else if first.HasNodeID != p.HasNodeID || first.NodeID != p.NodeID {
			i.problem("the node ids of the directories differ: %d and, in %s, %d", first.NodeID, dir, p.NodeID)
		}
	}
}

// compareRoles finds files of the time of ZooKeeper beside a configuration of today, and the reverse.
func (i *Info) compareRoles(roles Roles) {
	switch p := i.Properties; {
	case p == nil:
	case roles != 0 && p.Version == metaprops.V0:
		i.problem("process.roles is set, but the directories were formatted for a ZooKeeper cluster")
	case roles == 0 && p.Version != metaprops.V0:
		i.problem("process.roles is not set, but the directories were formatted for a KRaft cluster")
	}
}

// propertiesText prints the properties as the tool does, keys ascending.
func propertiesText(p *metaprops.Properties) string {
	var items []string
	if p.HasNodeID && p.Version == metaprops.V0 {
		items = append(items, "broker.id="+strconv.FormatInt(int64(p.NodeID), 10))
	}
	if p.HasClusterID {
		items = append(items, "cluster.id="+p.ClusterID)
	}
	if p.HasDirectoryID {
		items = append(items, "directory.id="+p.DirectoryID.String())
	}
	if p.HasNodeID && p.Version != metaprops.V0 {
		items = append(items, "node.id="+strconv.FormatInt(int64(p.NodeID), 10))
	}
	return "{" + strings.Join(append(items, "version="+strconv.FormatInt(int64(p.Version), 10)), ", ") + "}"
}
