package quorumstate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/kraftsim/kraftsim/raft/record"
)

// Append appends the content of the file: one JSON object with the keys in Kafka's order, no spaces, no newline.
func Append(dst []byte, s *State, version int16) ([]byte, error) {
	switch version {
	case 0:
		dst = append(dst, `{"clusterId":"",`...)
		dst = appendElection(dst, s)
		dst = append(dst, `,"appliedOffset":0,"currentVoters":[`...)
		for i, id := range s.Voters {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(strconv.AppendInt(append(dst, `{"voterId":`...), int64(id), 10), '}')
		}
		return append(dst, `],"data_version":0}`...), nil
	case 1:
		dst = appendElection(append(dst, '{'), s)
		dst = record.AppendUUIDText(append(dst, `,"votedDirectoryId":"`...), s.VotedDirectoryID)
		return append(dst, `","data_version":1}`...), nil
	}
	return nil, fmt.Errorf("%w: data_version %d cannot be written", ErrInvalid, version)
}

func appendElection(dst []byte, s *State) []byte {
	dst = strconv.AppendInt(append(dst, `"leaderId":`...), int64(s.LeaderID), 10)
	dst = strconv.AppendInt(append(dst, `,"leaderEpoch":`...), int64(s.LeaderEpoch), 10)
	return strconv.AppendInt(append(dst, `,"votedId":`...), int64(s.VotedID), 10)
}

// Parse reads the content of the file as Kafka does (formats.md 7): only the first line counts, and of it only the
// first JSON value, which must be an object; order and unknown keys do not matter, of a repeated key the last one
// counts. Errors are ErrInvalid.
func Parse(content []byte) (State, error) {
	if i := bytes.IndexAny(content, "\r\n"); i >= 0 {
		content = content[:i]
	}
	var o map[string]json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(&o); err != nil {
		return State{}, fmt.Errorf("%w: first line: %w", ErrInvalid, err)
	}
	if o == nil {
		return State{}, fmt.Errorf("%w: first line is null", ErrInvalid)
	}
	f := fields{o: o}
	s := State{}
	switch version := f.dataVersion(); version {
	case 0:
		f.text("clusterId")
		f.number("appliedOffset", 64)
		f.voters()
	case 1:
		id, err := record.ParseUUID(f.text("votedDirectoryId"))
		f.fail(err, "votedDirectoryId")
		s.VotedDirectoryID = id
	default:
		return State{}, fmt.Errorf("%w: data_version %d is neither 0 nor 1", ErrInvalid, version)
	}
	s.LeaderID = int32(f.number("leaderId", 32))
	s.LeaderEpoch = int32(f.number("leaderEpoch", 32))
	s.VotedID = int32(f.number("votedId", 32))
	if f.err != nil {
		return State{}, f.err
	}
	return s, nil
}

// fields reads keys of an object; the first error sticks.
type fields struct {
	o   map[string]json.RawMessage
	err error
}

func (f *fields) fail(err error, key string) {
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%w: %s: %w", ErrInvalid, key, err)
	}
}

func (f *fields) raw(key string) json.RawMessage {
	v, ok := f.o[key]
	if !ok && f.err == nil {
		f.err = fmt.Errorf("%w: no %s", ErrInvalid, key)
	}
	return v
}

// number reads an integer; text, fractions and exponents are refused, as in Kafka.
func (f *fields) number(key string, bits int) int64 {
	raw := f.raw(key)
	if f.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(string(raw), 10, bits)
	f.fail(err, key)
	return v
}

func (f *fields) text(key string) string {
	raw := f.raw(key)
	if f.err != nil {
		return ""
	}
	var s *string
	err := json.Unmarshal(raw, &s)
	if err == nil && s == nil {
		err = fmt.Errorf("null")
	}
	f.fail(err, key)
	if err != nil {
		return ""
	}
	return *s
}

// dataVersion reads the version of the file. What is not a number counts as 0, as in Kafka.
func (f *fields) dataVersion() int64 {
	raw := f.raw("data_version")
	if f.err == nil && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		return f.number("data_version", 64)
	}
	return 0
}

// voters checks the informational list of version 0: an array of objects with a voterId.
func (f *fields) voters() {
	raw := f.raw("currentVoters")
	if f.err != nil {
		return
	}
	var list []map[string]json.RawMessage
	err := json.Unmarshal(raw, &list)
	if err == nil && list == nil {
		err = fmt.Errorf("null")
	}
	f.fail(err, "currentVoters")
	for _, o := range list {
		v := fields{o: o}
		v.number("voterId", 32)
		f.fail(v.err, "currentVoters")
	}
}
