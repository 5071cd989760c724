package format

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// Config is what the format tool reads of a server's configuration file, whose other keys are the server's business.
type Config struct {
	Roles       Roles
	NodeID      int32 // -1: none
	Directories []string
	MetadataDir string
	Voters      string // controller.quorum.voters
	Bootstrap   string // controller.quorum.bootstrap.servers
	Listener    string // first of controller.listener.names
	Host        string // of the first effective advertised controller listener; "" is localhost
	Port        uint16
	Unstable    bool
	InterBroker string // inter.broker.protocol.version
}

// ParseConfig reads a server.properties. Every error is one line that names the key and says what it must be. What Kafka's own
// configuration refuses for a node of these roles is refused too, because no server would start with it: quorum voters that
// cannot be read, a controller that is not one of them or a broker that is, a controller without a controller listener.
// There is one deviation: without log.dirs and log.dir Kafka would take /tmp/kafka-logs, here they are asked for.
func ParseConfig(content []byte) (*Config, error) {
	values, err := metaprops.ParseJava(content)
	if err != nil {
		return nil, refuse("configuration: %s", err)
	}
	k := &configKeys{values: values}
	c := &Config{
		Roles: k.roles(), NodeID: k.nodeID(), Voters: trim(values["controller.quorum.voters"]),
		Bootstrap: trim(values["controller.quorum.bootstrap.servers"]), Unstable: k.flag("unstable.feature.versions.enable"),
		InterBroker: trim(values["inter.broker.protocol.version"]),
	}
	c.Directories, c.MetadataDir = k.directories()
	names := list(values["controller.listener.names"])
	if len(names) > 0 {
		c.Listener = names[0]
	}
	if k.err != nil || c.Roles == 0 { // without roles the tool says that itself, whatever else is there (check 2)
		return c, k.err
	}
	if err := c.checkQuorum(); err != nil {
		return nil, err
	}
	return c, c.findListener(k, names)
}

// Apply fills in what the options have from the configuration.
func (c *Config) Apply(o *Options) {
	o.Roles, o.NodeID, o.Directories, o.MetadataDir = c.Roles, c.NodeID, c.Directories, c.MetadataDir
	o.StaticVoters, o.Listener, o.Host, o.Port = c.Voters != "", c.Listener, c.Host, c.Port
	o.Unstable, o.InterBroker = c.Unstable, c.InterBroker
}

// Warnings are lines about what no format step needs and the server will miss.
func (c *Config) Warnings() (lines []string) {
	if c.Roles != 0 && c.Voters == "" && c.Bootstrap == "" {
		lines = append(lines, "controller.quorum.voters and controller.quorum.bootstrap.servers are both empty: the server won't start "+
			"before one of them names the controllers")
	}
	return lines
}

// checkQuorum looks at controller.quorum.voters.
func (c *Config) checkQuorum() error {
	if c.Voters == "" {
		return nil
	}
	set, err := voters.ParseStatic(c.Voters, c.Listener)
	if err != nil {
		return refuse("controller.quorum.voters: %s", err)
	}
	listed := set.Find(c.NodeID) != nil
	switch {
	case c.NodeID < 0: // check 9 says so
	case !listed && c.Roles&Controller != 0:
		return refuse("controller.quorum.voters does not name node.id %d, which has the controller role: add it", c.NodeID)
	case listed && c.Roles&Controller == 0:
		return refuse("controller.quorum.voters names node.id %d, which has not the controller role: choose another node.id or add the role",
			c.NodeID)
	}
	return nil
}

// findListener finds where others reach the controller: the advertised listener of the first controller listener name that has
// one, else its listener (metadata-bootstrap 1.4).
func (c *Config) findListener(k *configKeys, names []string) error {
	listeners := k.listeners("listeners", "PLAINTEXT://:9092")
	advertised := k.listeners("advertised.listeners", "")
	if k.err != nil {
		return k.err
	}
	own := func(l listener) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, l.name) })
	}
	if c.Roles&Controller == 0 {
		if slices.ContainsFunc(listeners, own) {
			return refuse("listeners has one of controller.listener.names, but process.roles has no controller: remove it from listeners")
		}
		return nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(listeners, func(l listener) bool { return strings.EqualFold(l.name, name) }) {
			return refuse("controller.listener.names has %q, which is not in listeners: add %s://:PORT to them", name, name)
		}
	}
	for _, name := range names {
		for _, l := range append(advertised, listeners...) {
			if strings.EqualFold(l.name, name) {
				c.Host, c.Port = l.host, l.port
				return nil
			}
		}
	}
	return nil
}

// configKeys reads keys and keeps the first error.
type configKeys struct {
	values map[string]string
	err    error
}

func (k *configKeys) fail(key, format string, args ...any) {
	if k.err == nil {
		k.err = refuse("%s: %s", key, fmt.Sprintf(format, args...))
	}
}

// list is a list as Kafka's configuration has it: items between commas, trimmed, empty ones left out.
func list(text string) (items []string) {
	for _, item := range strings.Split(text, ",") {
		if item = trim(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func (k *configKeys) roles() (r Roles) {
	for _, word := range list(k.values["process.roles"]) {
		role := Broker
		switch word {
		case "broker":
		case "controller":
			role = Controller
		default:
			k.fail("process.roles", "%q is no role, use broker, controller or both", word)
		}
		if r&role != 0 {
			k.fail("process.roles", "%s stands there twice", word)
		}
		r |= role
	}
	return r
}

// nodeID is node.id or its older name; -1 when there is neither.
func (k *configKeys) nodeID() int32 {
	id := int32(-1)
	for i, key := range []string{"node.id", "broker.id"} {
		text, ok := k.values[key]
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(trim(text), 10, 32)
		if err != nil {
			k.fail(key, "%q is not a number from 0 to 2147483647", text)
		}
		if _, both := k.values["node.id"]; i == 1 && both && int32(n) != id {
			k.fail(key, "%d, but node.id is %d: set node.id only", n, id)
		}
		id = int32(n)
	}
	return id
}

func (k *configKeys) flag(key string) bool {
	text, ok := k.values[key]
	switch word := strings.ToLower(trim(text)); {
	case !ok || word == "false":
		return false
	case word != "true":
		k.fail(key, "%q is neither true nor false", text)
	}
	return true
}

// directories are log.dirs, else log.dir, each once, and where the metadata log lies.
func (k *configKeys) directories() (dirs []string, metadata string) {
	text, ok := k.values["log.dirs"]
	if !ok {
		text = k.values["log.dir"]
	}
	for _, dir := range list(text) {
		dirs = append(dirs, path.Clean(dir))
	}
	metadata = trim(k.values["metadata.log.dir"])
	if metadata != "" {
		metadata = path.Clean(metadata)
		dirs = append(dirs, metadata)
	} else if len(dirs) > 0 {
		metadata = dirs[0]
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), metadata
}

// listener is one of listeners or advertised.listeners.
type listener struct {
	name, host string
	port       uint16
}

// listeners reads NAME://host:port items.
func (k *configKeys) listeners(key, absent string) (all []listener) {
	text, ok := k.values[key]
	if !ok {
		text = absent
	}
	for _, item := range list(text) {
		name, address, found := strings.Cut(item, "://")
		colon := strings.LastIndexByte(address, ':')
		if !found || name == "" || colon < 0 {
			k.fail(key, "%q is not NAME://host:port", item)
			return nil
		}
		port, err := strconv.ParseUint(address[colon+1:], 10, 16)
		if err != nil {
			k.fail(key, "%q has no port from 0 to 65535", item)
			return nil
		}
		host := strings.TrimSuffix(strings.TrimPrefix(address[:colon], "["), "]")
		all = append(all, listener{name: name, host: host, port: uint16(port)})
	}
	return all
}
