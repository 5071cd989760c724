package format

import (
	"errors"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Errors that callers match; every error of Format wraps one of them or an error of the disk.
var (
	// ErrOptions: the options are wrong by themselves (checks 1 to 16 of metadata-bootstrap 1.3).
	ErrOptions = errors.New("format")
	// ErrFormatted: a directory is formatted already and IgnoreFormatted is off (check 18).
	ErrFormatted = errors.New("format: already formatted")
	// ErrMismatch: what is on disk belongs to another cluster or node (check 17).
	ErrMismatch = errors.New("format: existing meta.properties do not match")
	// ErrUnusable: what is on disk is damaged or makes no sense by itself (check 17).
	ErrUnusable = errors.New("format: the log directories cannot be used as they are")
	// ErrNoDirectory: no directory can be used (check 19).
	ErrNoDirectory = errors.New("format: no usable log directory")
	// ErrDirectory: a directory could not be written. What it wraps is the error of the disk.
	ErrDirectory = errors.New("format: directory")
)

// Roles is process.roles.
type Roles uint8

// A node is a broker, a controller, or both.
const (
	Broker Roles = 1 << iota
	Controller
)

// Options are the flags of the format tool and what it reads from the server configuration.
type Options struct {
	Release *features.Release // the software that formats

	// From the configuration.
	Roles        Roles    // process.roles
	NodeID       int32    // node.id
	Directories  []string // log.dirs and metadata.log.dir, each once
	MetadataDir  string   // metadata.log.dir, else the first of log.dirs
	StaticVoters bool     // controller.quorum.voters is not empty
	Listener     string   // name of the first controller listener
	Host         string   // of the first advertised controller listener, for Standalone; "" is localhost
	Port         uint16   // likewise
	Unstable     bool     // unstable.feature.versions.enable
	// InterBroker is inter.broker.protocol.version, which oct24 takes for the metadata.version when nothing else names one.
	InterBroker string

	// From the command line.
	ClusterID            *string  // --cluster-id, any string; nil when not given
	ReleaseVersion       string   // --release-version; "" when not given
	Features             []string // --feature NAME=LEVEL
	Scram                []string // --add-scram
	IgnoreFormatted      bool     // --ignore-formatted
	Standalone           bool     // --standalone
	NoInitialControllers bool     // --no-initial-controllers
	InitialControllers   *string  // --initial-controllers; nil when not given

	// DirectoryIDs are ids that the operator chose (--directory-id); the other directories get random ones. Not in Kafka.
	DirectoryIDs []DirectoryID
}

// DirectoryID is a log directory with its id.
type DirectoryID struct {
	Path string
	ID   record.UUID
}

// Site names a choice that the formatter makes.
type Site uint8

const (
	// SiteDirectoryID: 32 bits of a new directory id.
	SiteDirectoryID Site = iota
	// SiteSalt: 26 bits of the salt of a SCRAM credential.
	SiteSalt
)

// Chooser returns an integer in [0, n). The key says what the choice is for: it is a hash of the directory or the user
// name, the attempt and the position within the value.
type Chooser interface {
	Choose(site Site, key uint64, n int64) int64
}

// Clock is the wall clock. It is read once per batch and once per meta.properties, in the order in which they are
// written; once more before a 0-0.checkpoint, for its header.
type Clock interface{ NowMs() int64 }

// Deps is what Format takes from outside besides the disk.
type Deps struct {
	Chooser Chooser
	Clock   Clock
}

// Result says what was done.
type Result struct {
	MetadataVersion int16
	KRaftVersion    int16
	Voters          []Voter  // written to the 0-0.checkpoint; nil: none
	Formatted       []string // directories, in the order of formatting
	Skipped         []string // directories that were formatted before
	Failed          []string // directories that could not be read, and were left as they are
	Messages        []string // for the operator, one line each
}

// nameHash is FNV-1a: stable keys for choices.
func nameHash(name string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return h
}
