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

// The keys of the file that matter here, as they stand in it.
const (
	keyEpoch = iota
	keyVersion
	keyLeader
	keyVoted
	keyDirectory
	numQuorumKeys
)

var quorumKeys = [numQuorumKeys]string{`"leaderEpoch":`, `"data_version":`, `"leaderId":`, `"votedId":`, `"votedDirectoryId":"`}

// parseQuorumFile reads the content of a file; what it can't read is as if missing. Of a key that is there more than once the first counts.
func parseQuorumFile(data []byte) quorumFile {
	var behind [numQuorumKeys]int // position behind a key, 0: it is not there
	for i := range data {
		if data[i] != '"' || i+1 == len(data) || data[i+1] != 'l' && data[i+1] != 'd' && data[i+1] != 'v' {
			continue
		}
		for k, key := range &quorumKeys {
			if end := i + len(key); behind[k] == 0 && end <= len(data) && string(data[i:end]) == key {
				behind[k] = end
			}
		}
	}
	q := quorumFile{leader: -1, voted: -1}
	ok := false
	if q.epoch, ok = jsonNumber(data, behind[keyEpoch]); !ok {
		return noQuorumFile
	}
	q.found = true
	if v, ok := jsonNumber(data, behind[keyVersion]); ok {
		q.version = v
	}
	if v, ok := jsonNumber(data, behind[keyLeader]); ok {
		q.leader = v
	}
	if v, ok := jsonNumber(data, behind[keyVoted]); ok {
		q.voted = v
	}
	if at := behind[keyDirectory]; at > 0 {
		text, _, _ := bytes.Cut(data[at:], []byte(`"`))
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

// jsonNumber returns the integer at a position, 0: none.
func jsonNumber(data []byte, at int) (int32, bool) {
	if at == 0 {
		return 0, false
	}
	rest := bytes.TrimLeft(data[at:], " ")
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
