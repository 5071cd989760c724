package voters

import (
	"bytes"
	"strconv"

	"github.com/kraftsim/kraftsim/raft/record"
)

// ReplicaKey names one replica: the node id and the directory id of its metadata log. The zero directory id
// means that none is known. ID -1 stands for "no replica".
type ReplicaKey struct {
	ID          int32
	DirectoryID record.UUID
}

// NoReplica is the key that names nobody.
var NoReplica = ReplicaKey{ID: -1}

// HasDirectoryID reports whether the directory id is known.
func (k ReplicaKey) HasDirectoryID() bool { return !k.DirectoryID.IsZero() }

// Matches reports whether a replica that calls itself other is the one that k names: equal ids, and k either
// names no directory or the same one. Not symmetric: an entry without directory id matches any replica of that
// id, a replica without directory id does not match an entry that has one.
func (k ReplicaKey) Matches(other ReplicaKey) bool {
	return k.ID == other.ID && (!k.HasDirectoryID() || k.DirectoryID == other.DirectoryID)
}

// Compare orders keys by id, then by directory id: negative, zero or positive.
func (k ReplicaKey) Compare(other ReplicaKey) int32 {
	if k.ID != other.ID {
		if k.ID < other.ID {
			return -1
		}
		return 1
	}
	return int32(bytes.Compare(k.DirectoryID[:], other.DirectoryID[:]))
}

// String returns the id, followed by ":" and the directory id as Kafka writes uuids when it is known.
func (k ReplicaKey) String() string {
	id := strconv.FormatInt(int64(k.ID), 10)
	if !k.HasDirectoryID() {
		return id
	}
	return id + ":" + k.DirectoryID.String()
}
