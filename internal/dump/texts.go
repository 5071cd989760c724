package dump

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/recordjson"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/record"
)

// fieldsLine is the content of a small file: names and values.
type fieldsLine struct {
	Type   string // that of the file
	File   string
	Fields []field
}

// field is a name and a JSON value.
type field struct{ name, value string }

// MarshalJSON keeps the order of the fields.
func (l *fieldsLine) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	for i, f := range append([]field{{"type", jsonText(l.Type)}, {"file", jsonText(l.File)}}, l.Fields...) {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		out.WriteByte(separator)
		out.WriteString(jsonText(f.name) + ":" + f.value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func (l *fieldsLine) appendText(dst []byte) []byte {
	for i, f := range l.Fields {
		separator := ", "
		if i == 0 {
			separator = "  "
		}
		dst = append(append(append(append(dst, separator...), f.name...), ' '), f.value...)
	}
	return dst
}

func jsonText(s string) string { return string(recordjson.AppendString(nil, s)) }

func number(name string, v int64) field { return field{name, strconv.FormatInt(v, 10)} }
func text(name, v string) field         { return field{name, jsonText(v)} }

// small returns the content of a file that is small when it is whole; nil after damage was reported.
func (f *file) small() ([]byte, error) {
	content, ok, err := f.in.content()
	if err == nil && !ok {
		f.damage(-1, "%d bytes are too many for a file of this kind", f.in.size)
		return nil, nil
	}
	if content == nil {
		content = []byte{}
	}
	return content, err
}

// dumpQuorumState reports the epoch, leader and vote of a node.
func dumpQuorumState(f *file) error {
	content, err := f.small()
	if content == nil || err != nil {
		return err
	}
	state, err := quorumstate.Parse(content)
	if err != nil {
		f.damage(0, "%s", plainReason(err))
		return nil
	}
	// What Parse checks and does not return: the version, and the informational voters of version 0.
	var keys map[string]json.RawMessage
	_ = json.NewDecoder(bytes.NewReader(content)).Decode(&keys)
	version, _ := strconv.ParseInt(string(keys["data_version"]), 10, 16)
	l := &fieldsLine{"quorumState", f.shown, []field{
		number("dataVersion", version), number("leaderId", int64(state.LeaderID)),
		number("leaderEpoch", int64(state.LeaderEpoch)), number("votedId", int64(state.VotedID)),
	}}
	if version == 1 {
		l.Fields = append(l.Fields, text("votedDirectoryId", state.VotedDirectoryID.String()))
	} else {
		l.Fields = append(l.Fields, field{"currentVoters", voterIDs(keys["currentVoters"])})
	}
	f.emit(l)
	return nil
}

// voterIDs turns the voters of version 0, which Parse has checked, into an array of ids.
func voterIDs(raw json.RawMessage) string {
	var voters []map[string]json.RawMessage
	_ = json.Unmarshal(raw, &voters)
	ids := make([]string, 0, len(voters))
	for _, v := range voters {
		ids = append(ids, string(v["voterId"]))
	}
	return "[" + strings.Join(ids, ",") + "]"
}

// dumpMetaProperties reports the identity of a log directory.
func dumpMetaProperties(f *file) error {
	content, err := f.small()
	if content == nil || err != nil {
		return err
	}
	p, err := metaprops.Parse(content, metaprops.V2)
	if err != nil {
		f.damage(0, "%s", plainReason(err))
		return nil
	}
	l := &fieldsLine{"metaProperties", f.shown, []field{number("version", int64(p.Version))}}
	if p.HasClusterID {
		l.Fields = append(l.Fields, text("clusterId", p.ClusterID))
	}
	if p.HasNodeID {
		l.Fields = append(l.Fields, number("nodeId", int64(p.NodeID)))
	}
	if p.HasDirectoryID {
		l.Fields = append(l.Fields, text("directoryId", p.DirectoryID.String()))
	}
	f.emit(l)
	return nil
}

// dumpPartitionMetadata reports the topic id of a partition directory (formats.md 9.2).
func dumpPartitionMetadata(f *file) error {
	content, err := f.small()
	if content == nil || err != nil {
		return err
	}
	lines := strings.Split(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
	version, ok := strings.CutPrefix(strings.TrimSpace(lines[0]), "version: ")
	if !ok || version != "0" {
		f.damage(0, "line 1 is %q where version: 0 is expected", lines[0])
		return nil
	}
	if len(lines) < 2 {
		f.damage(f.in.size, "no topic_id in line 2")
		return nil
	}
	id, ok := strings.CutPrefix(strings.TrimSpace(lines[1]), "topic_id: ")
	topic, err := record.ParseUUID(id)
	if !ok || err != nil || topic.IsZero() {
		f.damage(int64(len(lines[0])+1), "line 2 is %q where a topic_id is expected", lines[1])
		return nil
	}
	f.emit(&fieldsLine{"partitionMetadata", f.shown, []field{number("version", 0), text("topicId", topic.String())}})
	if f.dir.partition && topic != record.MetadataTopicID {
		f.damage(int64(len(lines[0])+1), "the topic is not __cluster_metadata: Kafka refuses to start")
	}
	return nil
}

// dumpCleanShutdown reports what a broker left behind when it stopped in order.
func dumpCleanShutdown(f *file) error {
	content, err := f.small()
	if len(content) == 0 || err != nil {
		return err
	}
	var marker struct {
		Version     *int64 `json:"version"`
		BrokerEpoch *int64 `json:"brokerEpoch"`
	}
	if err := json.Unmarshal(content, &marker); err != nil || marker.Version == nil || marker.BrokerEpoch == nil {
		f.warn(0, "no version and brokerEpoch; a broker takes the epoch for unknown")
		return nil
	}
	f.emit(&fieldsLine{"cleanShutdown", f.shown,
		[]field{number("version", *marker.Version), number("brokerEpoch", *marker.BrokerEpoch)}})
	return nil
}

// dumpEpochs reports the epochs of a log and where they begin (formats.md 9.1).
func dumpEpochs(f *file) error {
	last, start := int64(-1), int64(-1)
	return f.checkpointLines(2, func(position int64, words []string) bool {
		epoch, err1 := strconv.ParseInt(words[0], 10, 32)
		offset, err2 := strconv.ParseInt(words[1], 10, 64)
		if err1 != nil || err2 != nil || epoch < 0 || offset < 0 {
			return false
		}
		f.emit(&fieldsLine{"epoch", f.shown, []field{number("epoch", epoch), number("startOffset", offset)}})
		if epoch <= last || offset <= start {
			f.warn(position, "epochs and start offsets do not ascend; Kafka drops the entries before that contradict")
		}
		last, start = epoch, offset
		return true
	})
}

// dumpOffsets reports one of a broker's checkpoints: an offset for each partition.
func dumpOffsets(f *file) error {
	return f.checkpointLines(3, func(_ int64, words []string) bool {
		partition, err1 := strconv.ParseInt(words[1], 10, 32)
		offset, err2 := strconv.ParseInt(words[2], 10, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		f.emit(&fieldsLine{"offset", f.shown,
			[]field{text("topic", words[0]), number("partition", partition), number("offset", offset)}})
		return true
	})
}

// checkpointLines reads a checkpoint in Kafka's text form: a line with the version 0, one with the number of entries,
// and the entries, each of so many words. An empty file has no entries. entry returns false for one that is none.
func (f *file) checkpointLines(words int, entry func(position int64, words []string) bool) error {
	scanner := bufio.NewScanner(f.in.reader())
	scanner.Buffer(nil, maxText)
	count, entries, position := int64(-1), int64(0), int64(0)
	for n := 1; f.err == nil && scanner.Scan(); n++ {
		line := scanner.Text()
		fields := strings.Fields(line)
		switch {
		case n == 1 && line == "0":
		case n == 1:
			f.damage(0, "line 1 is %.80q where the version 0 is expected", line)
			return nil
		case n == 2:
			var err error
			if count, err = strconv.ParseInt(line, 10, 32); err != nil || count < 0 {
				f.damage(position, "line 2 is %.80q where the number of entries is expected", line)
				return nil
			}
		case len(fields) != words || !entry(position, fields):
			f.damage(position, "line %d is %.80q, which is no entry", n, line)
			return nil
		default:
			entries++
		}
		position += int64(len(line)) + 1
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		f.damage(position, "a line of more than %d bytes", int64(maxText))
		return nil
	case err != nil:
		return err
	}
	if count >= 0 && count != entries {
		f.damage(position, "line 2 says %d entries, there are %d", count, entries)
	}
	return nil
}
