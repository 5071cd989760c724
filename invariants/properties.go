package invariants

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/kraftsim/kraftsim/raft/record"
)

// directory is one log directory of a host, as its meta.properties says.
type directory struct {
	path      string
	found     bool
	nodeID    int32
	id        record.UUID
	clusterID int32       // text of the committed file, 0: none
	durableID record.UUID // directory id that a power loss would leave
	boot      int32       // process life that wrote the committed file, 0: before the run or before a crash
	begunAt   stableMark  // what was stable when the write of the temporary file began
}

// properties is the content of one meta.properties file.
type properties struct {
	nodeID    int32
	directory record.UUID
	clusterID string
}

// parseProperties reads the keys that matter.
func parseProperties(data []byte) properties {
	p := properties{nodeID: -1}
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(strings.TrimLeft(line, " \t"), "\r")
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!") {
			continue
		}
		switch strings.TrimSpace(key) {
		case "node.id", "broker.id":
			if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32); err == nil {
				p.nodeID = int32(n)
			}
		case "directory.id":
			p.directory, _ = record.ParseUUID(unescape(strings.TrimSpace(value)))
		case "cluster.id":
			p.clusterID = unescape(strings.TrimLeft(value, " \t"))
		}
	}
	return p
}

// unescape undoes the escapes of Java's properties files.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 't', 'n', 'r', 'f':
			b.WriteByte(map[byte]byte{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f'}[c])
		case 'u':
			r, rest := utf16Escape(s[i+1:])
			b.WriteRune(r)
			i = len(s) - len(rest) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// utf16Escape reads the four digits behind a \u, and those of the other half of a surrogate pair.
func utf16Escape(s string) (r rune, rest string) {
	first, rest := hexDigits(s)
	if low, ok := strings.CutPrefix(rest, `\u`); ok && utf16.IsSurrogate(first) {
		second, after := hexDigits(low)
		return utf16.DecodeRune(first, second), after
	}
	return first, rest
}

func hexDigits(s string) (r rune, rest string) {
	if len(s) < 4 {
		return '?', ""
	}
	n, err := strconv.ParseUint(s[:4], 16, 16)
	if err != nil {
		return '?', s[4:]
	}
	return rune(n), s[4:]
}

// directoryAt returns the entry of a log directory, adding it when missing.
func (r *replica) directoryAt(path string) *directory {
	for i := range r.directories {
		if r.directories[i].path == path {
			return &r.directories[i]
		}
	}
	r.directories = append(r.directories, directory{path: path, nodeID: -1})
	return &r.directories[len(r.directories)-1]
}

// loadProperties takes a file in without judging it: at the start of a run and after a crash.
func (c *core) loadProperties(r *replica, dir string, data []byte) {
	d := r.directoryAt(dir)
	p := parseProperties(data)
	d.found, d.nodeID, d.id, d.clusterID, d.boot = true, p.nodeID, p.directory, c.ledger.text(p.clusterID), 0
	c.readDurableProperties(r, d)
}

func (c *core) readDurableProperties(r *replica, d *directory) {
	d.durableID = record.ZeroUUID
	if data, ok := r.disk.DurableFile(d.path + "/" + propertiesName); ok {
		d.durableID = parseProperties(data).directory
	}
}

// propertiesBegun notes what is stable when the write of a new file begins.
func (c *core) propertiesBegun(r *replica, dir string) {
	r.directoryAt(dir).begunAt = c.stable.mark()
}

// propertiesWritten follows a committed change of a meta.properties file.
func (c *core) propertiesWritten(r *replica, dir string, data []byte) {
	d := r.directoryAt(dir)
	if data == nil {
		d.found = false
		return
	}
	p := parseProperties(data)
	id := c.ledger.text(p.clusterID)
	if r.up && id != d.clusterID {
		c.persistedIsStable(r, d, id)
	}
	d.found, d.nodeID, d.id, d.clusterID, d.boot = true, p.nodeID, p.directory, id, r.boot
	d.begunAt = stableMark{}
	c.identify(r)
}

// propertiesSynced follows the fsync of a log directory, or of its meta.properties.
func (c *core) propertiesSynced(r *replica, dir string) {
	for i := range r.directories {
		if r.directories[i].path == dir {
			c.readDurableProperties(r, &r.directories[i])
		}
	}
}

// identify takes node id and directory id from the directories: the directory id of a replica is that of the directory with
// the metadata log.
func (c *core) identify(r *replica) {
	for i := range r.directories {
		d := &r.directories[i]
		if !d.found {
			continue
		}
		if r.nodeID < 0 || d.nodeID >= 0 {
			r.nodeID = max(d.nodeID, r.nodeID)
		}
		if d.path == r.metadataDir || r.metadataDir == "" && i == 0 {
			r.directoryID = d.id
		}
	}
}

// knownClusterID returns the text of the cluster id that a node holds on disk, 0 when none of its directories has one.
func (r *replica) knownClusterID() int32 {
	for i := range r.directories {
		if r.directories[i].found && r.directories[i].clusterID != 0 {
			return r.directories[i].clusterID
		}
	}
	return 0
}
