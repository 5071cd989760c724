package invariants

import (
	"bytes"
	"strconv"

	"github.com/kraftsim/kraftsim/raft/record"
)

// quorumFile is what a quorum-state file says. The mirrors read it with code of their own: a checker that shared the parser
// of the replica would share its mistakes.
type quorumFile struct {
	found     bool
	version   int32
	leader    int32 // -1: none
	epoch     int32
	voted     int32 // -1: none
	directory record.UUID
}

// noQuorumFile is a missing file: epoch 0, no leader, no vote.
var noQuorumFile = quorumFile{leader: -1, voted: -1}

// parseQuorumFile reads the content of a file; what it can't read is as if missing.
func parseQuorumFile(data []byte) quorumFile {
	q := quorumFile{leader: -1, voted: -1}
	ok := false
	if q.epoch, ok = jsonNumber(data, `"leaderEpoch":`); !ok {
		return noQuorumFile
	}
	q.found = true
	if v, ok := jsonNumber(data, `"data_version":`); ok {
		q.version = v
	}
	if v, ok := jsonNumber(data, `"leaderId":`); ok {
		q.leader = v
	}
	if v, ok := jsonNumber(data, `"votedId":`); ok {
		q.voted = v
	}
	const key = `"votedDirectoryId":"`
	if i := bytes.Index(data, []byte(key)); i >= 0 {
		text, _, _ := bytes.Cut(data[i+len(key):], []byte(`"`))
		q.directory, _ = record.ParseUUID(string(text))
	}
	return q
}

// quorumText remembers what was read last: most files are looked at more than once.
type quorumText struct {
	text []byte // nil: none
	says quorumFile
}

// parse is parseQuorumFile.
func (q *quorumText) parse(data []byte) quorumFile {
	if q.text == nil || string(q.text) != string(data) {
		q.text, q.says = append(q.text[:0], data...), parseQuorumFile(data)
	}
	return q.says
}

// jsonNumber returns the integer behind a key.
func jsonNumber(data []byte, key string) (int32, bool) {
	i := bytes.Index(data, []byte(key))
	if i < 0 {
		return 0, false
	}
	rest := bytes.TrimLeft(data[i+len(key):], " ")
	n := 0
	for n < len(rest) && (rest[n] == '-' || rest[n] >= '0' && rest[n] <= '9') {
		n++
	}
	v, err := strconv.ParseInt(string(rest[:n]), 10, 32)
	return int32(v), err == nil
}

// votedSelf reports whether the file holds a vote of the replica for itself.
func (q *quorumFile) votedSelf(r *replica) bool {
	return q.voted >= 0 && q.voted == r.nodeID && (q.directory.IsZero() || q.directory == r.directoryID)
}
