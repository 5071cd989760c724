package invariants

// Variant is the state of KIP-1262 that a run implements.
type Variant uint8

// The variants (metadata-bootstrap 4.3).
const (
	Released Variant = iota // the feature exists at no level
	FinalMar                // bootstrap controllers must be formatted, others discover the id
	FinalApr                // a static quorum may be unformatted
	Draft                   // a leader without cluster id writes one
)

// Config is what the checkers have to be told. It is the scenario's knowledge, never the replica's.
type Config struct {
	Variant Variant
	// FeatureLevel is the metadata.version that has the ClusterIdRecord; 0 means 34.
	FeatureLevel int16
	// TellsFirst: nodes may go by a cluster id that is stable before they have stored it.
	TellsFirst bool
	// Lawless: the disks keep changes of names in no order but that of each name (vdisk.Posix).
	Lawless bool
	// BeginsAnew: a broker without a cluster id may remove its own metadata log at start (KIP-1262, T6).
	BeginsAnew bool
	// StaticVoters are the ids of controller.quorum.voters, in force where neither log nor checkpoint name voters.
	StaticVoters []int32
	// FetchTimeoutNs is controller.quorum.fetch.timeout.ms, the largest of all hosts; 0 switches two-leaders-bounded off.
	FetchTimeoutNs int64
	// ClockErrorNs is the sum of the largest backward step and the longest pause of any host.
	ClockErrorNs int64
	// PreVoteEverywhere says that all peers support Vote 2, which no-disruption presumes.
	PreVoteEverywhere bool
	// AllowStop reports whether a process may end like this: with a fatal error (refused false) or at start (true). A
	// declared outcome of a fault in the run. nil allows nothing.
	AllowStop func(host string, refused bool, err error) bool
	// StopFollows reports whether such an end can follow from a declared loss that has happened, by the evidence of that loss. nil: any.
	StopFollows func(host, loss string, refused bool, err error) bool
	// Registered says, for a host by its id, what its configuration gives an entry of the voter set, and whether it joins by itself.
	// It fills into, whose slice it may use again, and reports whether the host has such a configuration. nil: nobody has.
	Registered func(host string, into *Registration) bool
	// Converges says that the calm has writes or elections enough for the high watermark to move.
	Converges bool
	// Clusters lists the clusters of a run in which several share one network, with what they differ in; nil: there is one.
	Clusters []Cluster
	// ClusterOf has, for each host in the order of the plan, the index of its cluster in Clusters. It goes by the disk that the host
	// has at the start: a disk that is put into another host takes its cluster along.
	ClusterOf []int32

	static  voterSet
	cluster int32
}

// Cluster is one of several clusters in a run.
type Cluster struct {
	StaticVoters []int32 // in place of Config.StaticVoters
	// Foreign reports whether a configuration value was written by a client of another cluster. Bytes alone do not tell: two
	// clusters may well write the same batch. nil: it can't be told.
	Foreign func(name, value string) bool
}

// of returns the configuration of one cluster.
func (c *Config) of(cluster int32) Config {
	one := *c
	if len(c.Clusters) > 0 {
		one.StaticVoters, one.cluster = c.Clusters[cluster].StaticVoters, cluster
	}
	return one
}

// clusterOf returns the cluster of a host by its index.
func (c *Config) clusterOf(host int) int32 {
	if host < len(c.ClusterOf) && len(c.Clusters) > 0 {
		return c.ClusterOf[host]
	}
	return 0
}

// withDefaults fills in what zero values stand for.
func (c Config) withDefaults() Config {
	if c.FeatureLevel == 0 {
		c.FeatureLevel = 34
	}
	c.static = voterSet{}
	for _, id := range c.StaticVoters {
		at := len(c.static.keys)
		for at > 0 && c.static.keys[at-1].id > id {
			at--
		}
		c.static.keys = append(c.static.keys, voterKey{})
		copy(c.static.keys[at+1:], c.static.keys[at:])
		c.static.keys[at] = voterKey{id: id}
	}
	return c
}

// hasRecord reports whether the variant knows the ClusterIdRecord at all.
func (c *Config) hasRecord() bool { return c.Variant != Released }

// leaderWrites reports whether a leader without a cluster id has to write one.
func (c *Config) leaderWrites() bool { return c.Variant == Draft || c.Variant == FinalApr }
