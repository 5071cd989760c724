package invariants

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// role is what a replica says that it is. It comes from protocol events, so it only says where to look.
type role uint8

const (
	noRole role = iota // down, or not yet started
	unattached
	prospective
	candidate
	follower
	leader
	resigned
)

// String returns the role in lower case.
func (r role) String() string {
	return [...]string{"down", "unattached", "prospective", "candidate", "follower", "leader", "resigned"}[r]
}

// replica is what is known of one host from what left its process: its disk, its messages, its listener calls.
type replica struct {
	host      int32
	id        string
	boot      int32 // process life, from 1
	up        bool
	server    bool // the process has a replica: it is a node, not the operator's formatter
	frozen    bool // the calm leaves the host as it is
	disk      disk
	static    *voterSet // with which the process is configured
	settledNs int64     // the disk came into its host long enough before that

	// The volume. It survives the process.
	nodeID       int32 // -1: not known yet
	directoryID  record.UUID
	metadataDir  string // log directory that holds the partition directory
	partition    string // path of that directory, "" as long as metadataDir is
	quorumPath   string // path of quorum-state there, "" until somebody asks
	quorumRead   quorumText
	log          logMirror
	quorum       quorumFile // committed view
	durable      quorumFile // what a power loss would leave
	staleQuorum  bool       // the file changed since durable was read
	directories  []directory
	fsyncFailing bool // an fsync of the log failed in this process life: it has to end with it
	fsyncFailed  bool // one failed in a life before
	snapshots    snapshotList
	bootVoters   int32 // voter set of the 0-0 checkpoint, noSet: none
	bootVersion  int16 // its kraft.version
	incarnation  int32 // life of the volume, counted by wipes

	// The identity, over process lives.
	votes        []vote // one per epoch, ascending
	reach        reach  // how far it fetched in its last epoch
	requestEpoch int32  // highest epoch in a request it sent
	acks         [4]acknowledgement
	nextAck      int32
	oldAcks      []acknowledgement // the last of each epoch before that of the latest
	lastLed      int32             // epoch of its latest leadership, -1
	unflushed    window

	// This process life.
	role         role
	roleEpoch    int32
	roleChanges  int32
	fetched      bool  // it sent a Fetch in this life
	appended     bool  // it appended as a follower in this role
	watermark    int64 // highest high watermark that it showed in this life as follower, -1
	firstMark    int64 // the first one that it knew in this life, in whatever role, -1
	entryMark    int64 // watermark known when it became leader
	quorumWrites int32 // durable writes of quorum-state in this life
	idAtBoot     bool  // some directory had a cluster id when the process started
	listeners    []listener
	loader       loaderState
	preGrants    []voterKey // who granted it a pre-vote in preEpoch
	preEpoch     int32
	candidacy    int32 // newest epoch of a durable candidacy whose pre-votes were looked at, over all lives
	leadStrikes  int32 // two-leaders-bounded: overdue signs of life
	strikeAtNs   int64
	activation   activation
	partitions   partitionState
	votersInUse  int32 // voter set that it says is in force
	votersSaidAt int64 // where it says that this one stands, in the words of raft.VotersChanged
	votersUnsure bool  // log, snapshots or its word changed since they were compared
	changing     bool  // as leader it has a change of the voter set under way
	download     int64 // offset of the snapshot that it was sent to and has not got yet, -1: none
	wantsToJoin  bool  // it asked to become a voter by itself
	preVoteFor   int32 // node of the latest pre-vote that it says it granted, -1 after a standard vote
	knowsID      bool  // the node goes by its cluster id
}

// vote is a standard vote as it was shown.
type vote struct {
	epoch     int32
	candidate voters.ReplicaKey
	withDir   bool // stored in a version 1 file
}

// acknowledgement is what a sent Fetch acknowledges: everything up to batch, which was durable then.
type acknowledgement struct {
	epoch int32
	end   int64
	batch batchID
	dir   record.UUID // of the replica then
}

// reset forgets the host of an earlier run.
func (r *replica) reset(host int32, id string, d disk) {
	log, dirs, votes, listeners, grants, old := r.log, r.directories, r.votes, r.listeners, r.preGrants, r.oldAcks
	snapshots := r.snapshots
	*r = replica{
		host: host, id: id, disk: d, nodeID: -1, bootVoters: noSet, lastLed: -1,
		directories: dirs[:0], votes: votes[:0], listeners: listeners[:0], preGrants: grants[:0], oldAcks: old[:0],
		quorum: noQuorumFile, durable: noQuorumFile,
	}
	r.log.segments, r.log.entries, r.log.prefix = log.segments[:0], log.entries[:0], noBatch
	r.snapshots = snapshots
	r.snapshots.reset()
	r.endLife()
}

// endLife forgets what belongs to a process.
func (r *replica) endLife() {
	r.up, r.role, r.roleEpoch, r.fetched, r.appended = false, noRole, 0, false, false
	r.watermark, r.firstMark, r.entryMark, r.quorumWrites, r.preEpoch = -1, -1, -1, 0, -1
	r.listeners, r.preGrants = r.listeners[:0], r.preGrants[:0]
	r.leadStrikes, r.strikeAtNs = 0, 0
	r.loader = loaderState{lastOffset: -1, firstOffset: -1, lastReplayed: -1}
	r.activation = activation{}
	r.partitions = partitionState{}
	r.preVoteFor, r.knowsID = -1, false
	r.votersInUse, r.votersUnsure, r.changing, r.download, r.wantsToJoin = noSet, false, false, -1, false
	r.votersSaidAt = -1
}

// leads reports whether the replica says that it is leader of epoch now.
func (r *replica) leads(epoch int32) bool { return r.role == leader && r.roleEpoch == epoch }
